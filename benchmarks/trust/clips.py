"""The audited clips: rendered rooms by seed, real sets with ground truth, ordinary videos without. Experts see their
pictures only."""

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

import spatial_engine as se
from benchmarks.trust.hard_rooms import hard_room
from benchmarks.trust.layouts import laid_out
from benchmarks.trust.rooms import RenderedTruth, Room, Style, ZoomedTruth, room
from experts.clip import Clip
from experts.footage.decoding import ImageReader
from experts.signals import CameraPath, Signals
from spatial_engine.atomic_file import atomic_file
from spatial_engine.options import OpenOptions
from spatial_engine.rendering import write_video
from spatial_engine.rendering.truth import motion_kind
from spatial_engine.sequences import Sequence as OpenedSequence
from spatial_engine.sequences import open_sequence
from spatial_engine.sequences.depth_images import DepthFiles
from spatial_engine.sequences.listed_objects import no_objects
from spatial_engine.sources import ImageFolder, clip_from_json, open_clips
from spatial_engine.store.store import Store
from spatial_engine.trust.true_sequence import TrueClip

REAL: dict[str, int] = {
    "hololens_indoor": 2,
    "kitti_odom_a": 2,
    "sevenscenes_rgbd": 2,
    "kitti_odom_00": 2,
    "cabinet_cubeslam": 2,
    "fox_ngp": 2,
    "co3d_apple": 2,
    "temple_ring": 2,
    "adt_apartment": 1,
    "mobilebrick": 1,
    "strecha_fountain": 1,
    "tum_fr1_rpy_a": 1,
    "toy_kitchen_phone": 1,
    "apc_shelf": 1,
    "euroc_v101": 1,
    "kitti_tracking_a": 1,
    "scannet_pairs": 1,
}
"""Sets with ground truth whose pictures form clips, and the number of parts that are clips too if it is above 1."""
STANDING = ("euroc_v101",)
"""Sets whose camera stands still: their poses move by millimetres."""
PLAIN = (
    "videos_plain/apple.mp4",
    "videos_plain/robot_unitree.mp4",
    "videos_plain/lady-running",
    "videos_plain_dev/05_default_juggle.mp4",
    "videos_plain_dev/climbing.mp4",
    "videos_plain_dev/mobile_robot.mp4",
    "videos_plain_dev/walk.mkv",
    "tum_fr3_office/rgb",
    "drone_dji_nadir",
    "gr00t_picknplace/videos/chunk-000/observation.images.ego_view/episode_000000.mp4",
    "bridge_octo/ep00:image0_*.jpg",
    "bridge_octo/ep10:image1_*.jpg",
)
"""Footage without ground truth: a video, or a folder, after a colon with the pattern of its images."""

Kind = Literal["rendered", "real", "agreement", "plain"]
"""Section of docs/trust.md."""
Source = Literal["pictures", "truth", "imitated", "detections"]
"""Where signals come from: the default experts; ground truth; experts imitated with the errors of networks; the default
experts and a file of detections."""
ClipSignals = Sequence[tuple[Clip, Signals]]


class AnyClip(Protocol):
    """Footage to audit; usually one clip, more if it has cuts."""

    @property
    def name(self) -> str:
        """Name of its folder."""
        ...

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        ...

    @property
    def source(self) -> Source:
        """Of its signals."""
        ...

    def signals(self, folder: Path) -> ClipSignals:
        """Its clips with their signals, made if missing."""
        ...

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """By clip id."""
        ...

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`: moves, conditions, findings."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Pictures:
    """A clip whose signals the default experts make from the pictures."""

    @property
    def source(self) -> Source:
        """Of its signals."""
        return "pictures"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """Footage under `folder`, and the options to open it with."""
        raise NotImplementedError

    def signals(self, folder: Path) -> ClipSignals:
        """Annotates the footage."""
        footage, options = self.footage(folder)
        store = se.annotate(footage, folder / "store", options=options)
        return signals_in(store)


@dataclass(frozen=True, kw_only=True)
class RoomClip(_Pictures):
    """A rendered room."""

    seed: int
    style: Style = "room"

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.style}_{self.seed:04d}"

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "rendered"

    @property
    def room(self) -> Room:
        """As drawn."""
        return _room(self.seed, self.style)

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """The video, rendered if missing, and the options to open it with."""
        return _video(folder, self.room)

    def truths(self, clips: Sequence[Clip]) -> dict[str, TrueClip]:
        """By clip id."""
        return {clip.id: RenderedTruth(of=self.room.scene, clip=clip) for clip in clips}

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`."""
        drawn = self.room
        moves = motion_kind(drawn.scene.world_from_cam) == "general" and drawn.path != "held still"
        return {"moves": moves, "conditions": drawn.conditions, "findings": [], "ordinary": self.style == "visited"}


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
class RealClip(_Pictures):
    """A sequence of a set of the data folder, or a part of it."""

    data: Path
    set: str
    number: int = 0
    """Of the sequence in the set."""
    part: tuple[int, int] = (0, 1)
    """Which of how many parts."""

    @property
    def name(self) -> str:
        """Name of its folder."""
        part, parts = self.part
        return self.recording + (f"_{part + 1}of{parts}" if parts > 1 else "")

    @property
    def recording(self) -> str:
        """Name of the whole sequence."""
        return f"{self.set}_{self.number}" if self.number else self.set

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "agreement" if self.sequence.manifest.truth == "agreement" else "real"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """A folder with copies of the pictures alone, and the options to open it with."""
        one, target = self.sequence, folder / "rgb"
        target.mkdir(parents=True, exist_ok=True)
        for picture in pictures_of(one):
            shutil.copyfile(picture, target / picture.name)
        return target, OpenOptions(upright=one.manifest.upright, licence=one.manifest.licence, fps=_rate(one.clip))

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """By clip id. Raises `ValueError` if the pictures are not the sequence's."""
        if [clip.id for clip in clips] != [self.sequence.clip.id]:
            raise ValueError(f"{self.name}: the clip of the pictures alone differs from the clip with ground truth")
        return {self.sequence.clip.id: self.sequence}

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`."""
        one = self.sequence
        path = one.truth.camera_path(one.clip)
        moves = isinstance(path, CameraPath) and path.motion == "general" and self.set not in STANDING
        findings = [{"what": each.what, "number": each.number, "severe": each.severe} for each in one.findings]
        unsound, depth = len(one.unsound), one.truth.depth
        return {
            "moves": moves,
            "conditions": {"set": self.name},
            "recording": self.recording,
            "findings": findings,
            "unsound": unsound,
            "dense": path is not None
            and depth is not None
            and depth.stated.registered
            and unsound < len(one.clip.frames),
        }

    @property
    def sequence(self) -> OpenedSequence:
        """The pictures with their ground truth."""
        return _sequence(self)


@dataclass(frozen=True, kw_only=True)
class PlainClip(_Pictures):
    """Footage without ground truth."""

    data: Path
    path: str
    """As in `PLAIN`."""

    @property
    def name(self) -> str:
        """Name of its folder."""
        place = self.path.split(":")[0]
        return "_".join([Path(place).parts[0], Path(place).stem]) if "/" in place else place

    @property
    def kind(self) -> Kind:
        """Section of docs/trust.md."""
        return "plain"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """The footage itself."""
        place, _, images = self.path.partition(":")
        return self.data / place, OpenOptions(images=images or None)

    def truths(self, clips: Sequence[Clip]) -> Mapping[str, TrueClip]:
        """None."""
        return {}

    def conditions(self) -> dict[str, object]:
        """Entries of `ClipVerdicts.about`."""
        ordinary = self.path.startswith("videos_plain")
        return {"moves": False, "conditions": {"set": self.name}, "findings": [], "ordinary": ordinary}


def signals_in(store: Store) -> ClipSignals:
    """Of every clip."""
    return [(clip_from_json(store.record(id).clip), store.signals(id)) for id in store.clip_ids()]


def real_clips(data: Path, sets: Iterable[str] = REAL) -> list[RealClip]:
    """Every sequence of those of these sets that are there, and its parts."""
    found = []
    for name in sets:
        parts = REAL[name]
        for number in range(len(_opened(data, name)) if (data / name).is_dir() else 0):
            splits = [(0, 1), *((part, parts) for part in range(parts) if parts > 1)]
            found += [RealClip(data=data, set=name, number=number, part=split) for split in splits]
    return found


def plain_clips(data: Path) -> list[PlainClip]:
    """All footage of `PLAIN` that is there."""
    return [PlainClip(data=data, path=path) for path in PLAIN if (data / path.split(":")[0]).exists()]


def pictures_of(sequence: OpenedSequence) -> tuple[Path, ...]:
    """Its files, in order."""
    assert isinstance(sequence.clip.reader, ImageReader)
    return sequence.clip.reader.paths


@cache
def _room(seed: int, style: Style) -> Room:
    return room(seed, style)


@cache
def _hard_room(kind: str, seed: int) -> Room:
    return hard_room(kind, seed)


def _video(folder: Path, drawn: Room) -> tuple[Path, OpenOptions]:
    """The room's video, rendered if missing, and the options to open it with."""
    video = folder / "room.mp4"
    if not video.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(video) as temporary:
            write_video(drawn.scene, temporary, crf=drawn.crf)
    return video, OpenOptions(upright=True, licence="Apache-2.0")


@cache
def _laid_out() -> tempfile.TemporaryDirectory[str]:
    """A folder that lasts as long as the process."""
    return tempfile.TemporaryDirectory(prefix="real_sets_")


@cache
def _opened(data: Path, name: str) -> tuple[OpenedSequence, ...]:
    return tuple(one for folder in laid_out(data, name, Path(_laid_out().name)) for one in open_sequence(folder))


@cache
def _sequence(one: RealClip) -> OpenedSequence:
    """A sequence of images, or consecutive frames of it as a sequence of its own without listed objects."""
    whole, (part, parts) = _opened(one.data, one.set)[one.number], one.part
    if parts == 1:
        return whole
    rows = slice(*(np.array([part, part + 1]) * len(whole.clip.frames) // parts).tolist())
    truth, clip = whole.truth, whole.clip
    poses, up, times, depth = truth.world_from_cam, truth.up_cam, truth.times_s, truth.depth
    still = truth.objects is not None and truth.objects.others_stand_still and not truth.objects.labels
    truth = replace(
        truth,
        world_from_cam=None if poses is None else poses[rows],
        up_cam=None if up is None else up[rows],
        times_s=None if times is None else times[rows],
        depth=replace(depth, paths=depth.paths[rows]) if isinstance(depth, DepthFiles) else None,
        objects=no_objects(rows.stop - rows.start) if still else None,
    )
    footage = ImageFolder(
        paths=pictures_of(whole)[rows], name=whole.manifest.name, width_px=clip.width_px, height_px=clip.height_px
    )
    options = OpenOptions(upright=whole.manifest.upright, licence=whole.manifest.licence, fps=_rate(clip))
    (own,) = open_clips(footage, options)
    timed = own if truth.times_s is None else replace(own, times_s=truth.times_s)
    return OpenedSequence(clip=timed, truth=truth, manifest=whole.manifest)


def _rate(clip: Clip) -> float | None:
    """Pictures per second, which belong to the media and not to the ground truth."""
    if clip.times_s is None or len(clip.times_s) < 2:
        return None
    return float(round(1 / np.median(np.diff(clip.times_s)), 6))
