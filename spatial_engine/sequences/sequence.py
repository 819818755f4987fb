"""A clip with ground truth."""

from collections.abc import Sequence as Items
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from experts.clip import Clip
from spatial_engine.sequences.depth_elsewhere import DepthElsewhere
from spatial_engine.sequences.finding import Finding
from spatial_engine.sequences.findings import examine
from spatial_engine.sequences.manifest import Manifest
from spatial_engine.sequences.matched_pixels import pairs
from spatial_engine.sequences.matched_surface import MatchedSurface
from spatial_engine.sequences.object_findings import of_objects
from spatial_engine.sequences.truth import Truth
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

_GAPS, _PAIRS = (1, 2, 4, 8), 6
"""Distances of the frames of pairs that show how accurate the poses are, and pairs of each distance."""
_DEPTHS = 32
"""Frames whose depth is kept in memory for pixels of other frames."""


@dataclass(frozen=True, kw_only=True)
class Sequence:
    """One clip of a dataset."""

    clip: Clip
    """Its media: of the same id as when the folder of images is opened without a manifest."""
    truth: Truth
    """The ground truth."""
    manifest: Manifest
    """How its files are read."""

    def scene(self, dense: Items[int] = ()) -> Scene:
        """The truth as a scene that facts are measured on, with depth of the frames `dense` (those that facts show)."""
        (scene,) = scenes_of(self.clip, self.sound_truth.signals(self.clip, dense))
        return replace(scene, matched=self._matched)

    @cached_property
    def _matched(self) -> MatchedSurface | None:
        """Distances of pixels by matching, if nothing in the scene moves."""
        truth, path = self.sound_truth, self.sound_truth.camera_path(self.clip)
        still = truth.objects is not None and truth.objects.others_stand_still and not truth.objects.labels
        if path is None or path.motion != "general" or not still:
            return None
        frames = path.frames[path.registered]
        apart = [
            (int(frames[k]), int(frames[k + gap]))
            for gap in _GAPS
            for k in range(0, len(frames) - gap, 1 + len(frames) // _PAIRS)
        ]
        depth = lru_cache(_DEPTHS)(lambda frame: truth.depth_of(self.clip, [frame]))
        return MatchedSurface.of(self.clip, path, pairs(self.clip, apart), DepthElsewhere(path=path, depth_of=depth))

    def signals(self) -> dict[str, str]:
        """One line of text per signal with ground truth."""
        found: dict[str, str] = {}
        truth, frames = self.truth, [int(frame) for frame in self.clip.frames]
        if (path := truth.camera_path(self.clip)) is not None:
            count, scale = int(path.registered.sum()), path.scale
            unit = f"metres by {scale.source}" if scale.kind == "metric" else "no metres"
            found["camera path"] = f"{count} of {len(frames)} frames, {path.motion}, {unit}"
        if truth.depth is not None:
            count = sum(truth.depth.has(frame) for frame in frames)
            registered = "" if truth.depth.stated.counts else ", not registered to the pictures: not used"
            found["depth"] = f"{count} of {len(frames)} frames{registered}"
        if truth.objects is not None and truth.objects.labels:
            objects = truth.objects
            fronts = sum(front.fronts >= 0 for front in objects.fronts)
            said = ["with masks" if objects.masks else "boxes only", f"fronts of {fronts}"]
            said.append(f"complete: {', '.join(objects.complete) or 'no name'}")
            said += [f"{len(objects.parts.names)} parts"] if objects.parts is not None else []
            found["objects"] = f"{len(objects.labels)}, {', '.join(said)}"
        others: dict[str, object] = {
            "task": truth.task,
            "gravity": self.manifest.gravity,
            "room": truth.room,
            "flow": truth.flow,
            "effector": truth.effector,
        }
        return found | {name: "known" for name, known in others.items() if known is not None}

    @cached_property
    def object_findings(self) -> tuple[Finding, ...]:
        """Errors of the objects, found by comparing boxes with masks."""
        return tuple(of_objects(self.clip, self.truth))

    @cached_property
    def sound_truth(self) -> Truth:
        """The ground truth without what the images contradict."""
        wrong = {k for finding in self.object_findings for k in finding.objects}
        objects = self.truth.objects
        truth = replace(self.truth, objects=None if objects is None else objects.without(wrong))
        for finding in self.findings:
            if finding.severe and not finding.objects:
                truth = truth.without(finding.of, finding.frames)
        return truth

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Errors of the ground truth, found by comparing it with the images. Takes some seconds, once."""
        return (*examine(self.clip, self.truth, self.manifest), *self.object_findings)

    @property
    def unsound(self) -> frozenset[int]:
        """Frames in which a part of the truth counts neither for nor against a label: all, where a severe finding names
        none. What is left is `sound_truth`."""
        severe = [finding for finding in self.findings if finding.severe and not finding.objects]
        if any(not finding.frames for finding in severe):
            return frozenset(int(frame) for frame in self.clip.frames)
        return frozenset(frame for finding in severe for frame in finding.frames)
