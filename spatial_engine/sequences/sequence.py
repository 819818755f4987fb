"""A clip with ground truth."""

from collections.abc import Sequence as Items
from dataclasses import dataclass
from functools import cached_property

from experts.clip import Clip
from experts.signals import CameraPath
from spatial_engine.sequences.findings import Finding, examine
from spatial_engine.sequences.manifest import Manifest
from spatial_engine.sequences.truth import Truth
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of


@dataclass(frozen=True, kw_only=True)
class Sequence:
    """One clip of a data set."""

    clip: Clip
    """Its media: of the same id as when the folder of images is opened without a manifest."""
    truth: Truth
    """The ground truth."""
    manifest: Manifest
    """How its files are read."""

    def scene(self, dense: Items[int] = ()) -> Scene:
        """The truth as a scene that facts are measured on, with depth of the frames `dense` (those that facts show)."""
        (scene,) = scenes_of(self.clip, self.truth.signals(self.clip, dense))
        return scene

    def signals(self) -> dict[str, str]:
        """One line of text per signal with ground truth."""
        found: dict[str, str] = {}
        truth, frames = self.truth, [int(frame) for frame in self.clip.frames]
        path = truth.signals(self.clip).get("camera_path")
        if isinstance(path, CameraPath):
            count, scale = int(path.registered.sum()), path.scale
            unit = f"metres by {scale.source}" if scale.kind == "metric" else "no metres"
            found["camera path"] = f"{count} of {len(frames)} frames, {path.motion}, {unit}"
            found["gravity"] = "known" if self.manifest.gravity is not None else "not known"
        if truth.depth is not None:
            count = sum(truth.depth.has(frame) for frame in frames)
            registered = "" if truth.depth.stated.registered else ", not registered to the pictures: not used"
            found["depth"] = f"{count} of {len(frames)} frames{registered}"
        if truth.objects is not None:
            masks = "with masks" if truth.objects.masks else "boxes only"
            found["objects"] = f"{len(truth.objects.labels)}, {masks}"
        return found

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Errors of the ground truth, found by comparing it with the images. Takes some seconds, once."""
        return examine(self.clip, self.truth, self.manifest)

    @property
    def unsound(self) -> frozenset[int]:
        """Frames whose truth counts neither for nor against a label: all, where a severe finding names none."""
        severe = [finding for finding in self.findings if finding.severe]
        if any(not finding.frames for finding in severe):
            return frozenset(int(frame) for frame in self.clip.frames)
        return frozenset(frame for finding in severe for frame in finding.frames)
