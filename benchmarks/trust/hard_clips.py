"""Rooms that are hard to label as clips with their truth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from benchmarks.trust.hard_rooms import hard_room
from benchmarks.trust.rooms import RenderedTruth, Room
from experts.clip import Clip
from experts.signals import CameraPath
from spatial_engine.atomic_file import atomic_file
from spatial_engine.options import OpenOptions
from spatial_engine.rendering import Effects, RenderedScene, true_signals, write_video
from spatial_engine.trust.true_sequence import TrueClip
from templates.scene.scene import Scene, scenes_of

_ANY_FOCAL = 0.5
"""σ of ln focal that stands for "not one number": a zoom."""


@dataclass(frozen=True, kw_only=True)
class HardClip:
    """A room of one of `hard_rooms.KINDS`."""

    kind: str
    seed: int

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.kind.replace(',', '').replace(' ', '_')}_{self.seed:04d}"

    def footage(self, folder: Path) -> tuple[Path, OpenOptions]:
        """The video, made if it is not there, and how to open it."""
        video, drawn = folder / "room.mp4", _room(self.kind, self.seed)
        if not video.exists():
            with atomic_file(video) as temporary:
                write_video(drawn.scene, temporary, crf=drawn.crf)
        return video, OpenOptions(upright=True, licence="Apache-2.0")

    def truths(self, clips: Sequence[Clip]) -> dict[str, TrueClip]:
        """By clip id."""
        scene = _room(self.kind, self.seed).scene
        truth = RenderedTruth if scene.effects.zoom == 1 else ZoomedTruth
        return {clip.id: truth(of=scene, clip=clip) for clip in clips}


@dataclass(frozen=True, kw_only=True)
class ZoomedTruth:
    """Where the camera was and how it was held while its lens zoomed: no pixel is compared, for `CameraPath` has one
    lens for all frames."""

    of: RenderedScene
    clip: Clip

    @property
    def unsound(self) -> frozenset[int]:
        """Never."""
        return frozenset()

    def scene(self, dense: Sequence[int] = ()) -> Scene:
        """Path and gravity, exactly."""
        steady = replace(self.of, effects=Effects())
        known = true_signals(steady, self.clip, [int(self.clip.frames[0])])
        path = known["camera_path"]
        assert isinstance(path, CameraPath)
        signals = {"camera_path": replace(path, focal_relative_sigma=_ANY_FOCAL), "gravity": known["gravity"]}
        (found,) = scenes_of(self.clip, signals)
        return found


@cache
def _room(kind: str, seed: int) -> Room:
    return hard_room(kind, seed)
