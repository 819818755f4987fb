"""Clips whose signals come from elsewhere than the default experts: ground truth, imitated experts, detections."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import spatial_engine as se
from benchmarks.trust.clips import ClipSignals, Kind, RoomClip, Source, signals_in
from benchmarks.trust.layouts import laid_out
from benchmarks.trust.rooms import Room
from experts.clip import Clip
from experts.detections.runs import encoded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.sequences import Sequence as OpenedSequence
from spatial_engine.sequences import open_sequence
from spatial_engine.trust.true_sequence import TrueClip

TRUE_SETS = (
    "hololens_indoor",
    "sevenscenes_rgbd",
    "kitti_odom_00",
    "adt_apartment",
    "strecha_fountain",
    "temple_ring",
    "kitti_object",
)
"""Sets that `annotate --truth` asks about."""
_DENSE = 12
"""Frames with depth and objects."""
_MISSED, _BORDER_PX = 0.1, 1.0
"""Share of objects that a detector misses in a frame, and σ of the borders of its boxes."""
_LEAST_PX = 100


@dataclass(frozen=True, kw_only=True)
class RenderedSignals:
    """A room whose signals are its ground truth, or those of imitated experts."""

    of: RoomClip
    source: Source

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.of.name}_{self.source}"

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "rendered"

    def signals(self, folder: Path) -> ClipSignals:
        """Of the scene itself, without a video."""
        scene = self.of.room.scene
        clip = as_clip(scene)
        if self.source == "imitated":
            return [(clip, imitated_signals(scene, clip))]
        return [(clip, true_signals(scene, clip, _spread(len(scene))))]

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """By clip id."""
        return self.of.truths(clips)

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`."""
        return self.of.conditions()


@dataclass(frozen=True, kw_only=True)
class DetectedClip(RoomClip):
    """A rendered room whose user gives masks of objects, some of them missed, none exact at its border."""

    @property
    def source(self) -> Source:
        """Of its signals."""
        return "detections"

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{super().name}_detections"

    def signals(self, folder: Path) -> ClipSignals:
        """Annotates the video with the masks."""
        footage, options = self.footage(folder)
        file = folder / "room.detections.json"
        file.write_text(json.dumps(_detections(self.room, self.seed)), encoding="utf-8")
        store = se.annotate(footage, folder / "store", upright=options.upright, detections=file)
        return signals_in(store)


@dataclass(frozen=True, kw_only=True)
class TrueSet:
    """A real set whose signals are its ground truth: `annotate --truth`."""

    data: Path
    set: str

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.set}_truth"

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "real"

    @property
    def source(self) -> Source:
        """Of its signals."""
        return "truth"

    def signals(self, folder: Path) -> ClipSignals:
        """Takes them from the set."""
        store = se.annotate(_place(self.data, self.set), folder / "store", truth=True)
        return signals_in(store)

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """By clip id."""
        return {one.clip.id: one for one in _sequences(self.data, self.set)}

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`."""
        return {"moves": True, "conditions": {"set": self.set}, "findings": []}


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="true_sets_")


@cache
def _place(data: Path, name: str) -> Path:
    return laid_out(data, name, Path(_kept().name))[0]


@cache
def _sequences(data: Path, name: str) -> tuple[OpenedSequence, ...]:
    return open_sequence(_place(data, name))


def _spread(frames: int) -> list[int]:
    return np.unique(np.linspace(0, frames - 1, _DENSE).round().astype(int)).tolist()


def _detections(drawn: Room, seed: int) -> dict[str, object]:
    """Masks in COCO's form."""
    scene, rng = drawn.scene, np.random.default_rng(seed)
    names = sorted({item.name for item in scene.objects})
    annotations = [
        {"image_id": frame, "category_id": names.index(name), "segmentation": encoded(mask), "score": 0.9}
        for frame in _spread(len(scene))
        for name, mask in _masks(scene, frame, rng)
    ]
    width, height = scene.intrinsics.width_px, scene.intrinsics.height_px
    return {
        "images": [
            {"id": frame, "file_name": f"frame_{frame:06d}.jpg", "width": width, "height": height}
            for frame in _spread(len(scene))
        ],
        "categories": [{"id": k, "name": name} for k, name in enumerate(names)],
        "annotations": annotations,
    }


def _masks(scene: RenderedScene, frame: int, rng: np.random.Generator) -> list[tuple[str, np.ndarray]]:
    """(name, mask) of the objects in view, shifted by a pixel or so."""
    ids = scene.object_ids(frame)
    found = []
    for item in np.unique(ids[ids >= 0]).tolist():
        shift = rng.normal(0, _BORDER_PX, 2).round().astype(int)
        mask = np.roll(ids == item, shift, axis=(0, 1))
        if mask.sum() >= _LEAST_PX and rng.random() >= _MISSED:
            found.append((scene.objects[item].name, mask))
    return found
