"""The audited clips: rendered rooms by seed, and real sets with ground truth. Experts see their pictures only."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.trust.hard_rooms import hard_room
from benchmarks.trust.rooms import RenderedTruth, Room, ZoomedTruth, room
from experts.clip import Clip
from experts.footage.decoding import ImageReader
from experts.signals import CameraPath
from spatial_engine.atomic_file import atomic_file
from spatial_engine.options import OpenOptions
from spatial_engine.rendering import write_video
from spatial_engine.rendering.truth import motion_kind
from spatial_engine.sequences import Sequence as OpenedSequence
from spatial_engine.sequences import open_sequence
from spatial_engine.trust.true_sequence import TrueClip

MANIFESTS = Path(__file__).parent / "manifests"
REAL = (
    "hololens_indoor",
    "kitti_odom_a",
    "sevenscenes_rgbd",
    "adt_apartment",
    "mobilebrick",
    "strecha_fountain",
    "fox_ngp",
)
"""Sets with poses or depth whose pictures form clips."""

Kind = Literal["rendered", "real", "agreement"]


@dataclass(frozen=True, kw_only=True)
class RoomClip:
    """A rendered room."""

    seed: int

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"room_{self.seed:04d}"

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "rendered"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """The video, rendered if missing, and the options to open it with."""
        return _video(folder, _room(self.seed))

    def truths(self, clips: Sequence[Clip]) -> dict[str, TrueClip]:
        """By clip id."""
        return {clip.id: RenderedTruth(of=_room(self.seed).scene, clip=clip) for clip in clips}

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`: moves, conditions, findings."""
        drawn = _room(self.seed)
        moves = motion_kind(drawn.scene.world_from_cam) == "general"
        return {"moves": moves, "conditions": drawn.conditions, "findings": []}


@dataclass(frozen=True, kw_only=True)
class HardClip:
    """A room of one of `hard_rooms.KINDS`."""

    kind: str
    seed: int

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.kind.replace(',', '').replace(' ', '_')}_{self.seed:04d}"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """The video, rendered if missing, and the options to open it with."""
        return _video(folder, _hard_room(self.kind, self.seed))

    def truths(self, clips: Sequence[Clip]) -> dict[str, TrueClip]:
        """By clip id."""
        scene = _hard_room(self.kind, self.seed).scene
        truth = RenderedTruth if scene.effects.zoom == 1 else ZoomedTruth
        return {clip.id: truth(of=scene, clip=clip) for clip in clips}


@dataclass(frozen=True, kw_only=True)
class RealClip:
    """A set of the data folder."""

    data: Path
    set: str

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.set

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "agreement" if self._sequence.manifest.truth == "agreement" else "real"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """A folder with copies of the pictures alone, and the options to open it with."""
        one, target = self._sequence, folder / "rgb"
        assert isinstance(one.clip.reader, ImageReader)
        target.mkdir(parents=True, exist_ok=True)
        for picture in one.clip.reader.paths:
            shutil.copyfile(picture, target / picture.name)
        return target, OpenOptions(upright=one.manifest.upright, licence=one.manifest.licence, fps=_rate(one.clip))

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """By clip id. Raises `ValueError` if the pictures are not the sequence's."""
        if [clip.id for clip in clips] != [self._sequence.clip.id]:
            raise ValueError(f"{self.set}: the clip of the pictures alone differs from the clip with ground truth")
        return {self._sequence.clip.id: self._sequence}

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`: moves, conditions, findings."""
        one = self._sequence
        path = one.truth.signals(one.clip).get("camera_path")
        moves = isinstance(path, CameraPath) and path.motion == "general"
        findings = [{"what": each.what, "number": each.number, "severe": each.severe} for each in one.findings]
        return {"moves": moves, "conditions": {"set": self.set}, "findings": findings, "unsound": len(one.unsound)}

    @property
    def _sequence(self) -> OpenedSequence:
        return _opened(self.data, self.set)


AnyClip = RoomClip | RealClip


@cache
def _room(seed: int) -> Room:
    return room(seed)


@cache
def _hard_room(kind: str, seed: int) -> Room:
    return hard_room(kind, seed)


def _video(folder: Path, drawn: Room) -> tuple[Path, OpenOptions]:
    """The room's video, rendered if missing, and the options to open it with."""
    video = folder / "room.mp4"
    if not video.exists():
        with atomic_file(video) as temporary:
            write_video(drawn.scene, temporary, crf=drawn.crf)
    return video, OpenOptions(upright=True, licence="Apache-2.0")


@cache
def _opened(data: Path, name: str) -> OpenedSequence:
    manifest = MANIFESTS / f"{name}.yaml"
    (one,) = open_sequence(data / name, manifest=manifest if manifest.is_file() else None)
    return one


def _rate(clip: Clip) -> float | None:
    """Pictures per second, which belong to the media and not to the ground truth."""
    if clip.times_s is None or len(clip.times_s) < 2:
        return None
    return float(round(1 / np.median(np.diff(clip.times_s)), 6))
