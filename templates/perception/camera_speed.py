"""L1/Motion/Ego: how fast the camera moves, and in which of two videos it moves faster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer, Numbers
from templates.columns import Columns, Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_motion import ends_of
from templates.scene.intervals import seconds_between, video_intervals
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.scene import SURFACE, Scene, angle_between_rad
from templates.scene.shared_view import scene_distance
from templates.settings import MaxTolerances
from templates.template import Template

_MIN_TRAVEL = 0.05
"""Least translation that is seen, as a share of the distance of what the first frame shows."""
_MAX_DETOUR = 1.1
"""Largest way through the places of the shown frames, over the straight line from the first to the last."""
_VISIBLE = np.log(1.4)
"""Least |ln| of a ratio of speeds that people see."""
_MARKS = ("1", "2")
_ANOTHER = 0.4
"""Least relative difference between a speed and what a mistake gives: twice the tolerance."""
_TRIES = 3
_READS = SURFACE | {"image_tracks"}


@dataclass(frozen=True, kw_only=True)
class _Rides(Columns):
    """How the camera moves in n videos; NaN where unknown."""

    length: Float64[np.ndarray, "n"]
    """Of the straight line from the first place to the last, in path units."""
    relative_sigma: Float64[np.ndarray, "n"]
    """Places and the systematic error of a line between two of them, over its length."""
    detour: Float64[np.ndarray, "n"]
    """Length of the way through all shown places over that of the line."""
    travel: Float64[np.ndarray, "n"]
    """Length of the line over the distance of what the first frame shows."""
    turn_rad: Float64[np.ndarray, "n"]
    """Between the first and the last frame."""
    seconds: Float64[np.ndarray, "n"]

    def cases(self) -> dict[str, Bool[np.ndarray, "n"]]:
        """Reasons not to ask about the speed, and where they hold."""
        with np.errstate(invalid="ignore"):
            return {
                "the footage has no time stamps": ~(self.seconds > 0),
                POSITION_UNKNOWN: np.isnan(self.length + self.detour),
                "the distance of the scene is not known": np.isnan(self.travel),
                "the camera moves too little": self.travel < _MIN_TRAVEL,
                "the camera does not move straight": self.detour > _MAX_DETOUR,
            }


def _rides(scene: Scene, frames: Int64[np.ndarray, "n k"]) -> _Rides:
    ends = ends_of(frames)
    offset = offsets(scene, ends)
    places = scene.world_from_cam(np.where(frames < 0, ends[:, 1:], frames))[..., :3, 3]
    known = np.isfinite(places).all(axis=2)
    before = np.maximum.accumulate(np.where(known, np.arange(places.shape[1]), 0), axis=1)
    places = np.take_along_axis(places, before[..., None], axis=1)  # unknown places are skipped
    way = np.linalg.norm(np.diff(places, axis=1), axis=2).sum(axis=1)
    first, last = (scene.world_from_cam(column)[:, :3, :3] for column in ends.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _Rides(
            length=offset.length,
            relative_sigma=np.hypot(offset.position_sigma / offset.length, scene.direction_sigma_rad),
            detour=way / offset.length,
            travel=offset.length / scene_distance(scene, ends[:, 0]),
            turn_rad=angle_between_rad(first, last),
            seconds=seconds_between(scene, ends),
        )


@dataclass(frozen=True, kw_only=True)
class TimedInterval(Facts):
    """A video."""

    frames: Int64[np.ndarray, "n k"]
    seconds: Float64[np.ndarray, "n"]
    """That it takes."""


@dataclass(frozen=True, kw_only=True)
class CameraSpeed(Template):
    """The speed of the camera in a video in which it moves straight, for clips with metric scale and time stamps.
    Measures metres per second."""

    name: str = "camera_speed"
    version: str = "1"
    ability: str = "L1/Motion/Ego"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = TimedInterval
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TimedInterval:
        """Random intervals; first those in which the camera moves straight."""
        frames = video_intervals(scene, rng, _TRIES * count)
        drawn = TimedInterval(frames=frames, seconds=seconds_between(scene, ends_of(frames)))
        return drawn.take(_good_first(self.measure(drawn, scene))[:count])

    def measure(self, facts: TimedInterval, scene: Scene) -> Measured:
        """Straight line over time; σ: both places, the systematic error of their distance, and the scale."""
        rides = _rides(scene, facts.frames)
        metre = np.hypot(scene.metre_relative_sigma, scene.travel_relative_sigma)
        relative = np.hypot(rides.relative_sigma, metre)
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = rides.length / rides.seconds
            sigma = speed * relative
        return Measured(
            why=first_reason(
                len(facts), {"scale is not metric": np.isnan(scene.metre_relative_sigma), **rides.cases()}
            ),
            value=speed[:, None],
            sigma=sigma[:, None],
            evidence={"metres": rides.length.round(3), "detour": rides.detour.round(3)},
            traps={
                "distance instead of speed": np.where(
                    np.abs(rides.length - speed) > _ANOTHER * speed, rides.length.round(2), np.nan
                )
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """Metres per second with a tolerance of 20 %."""
        value, sigma = measured.value, measured.sigma
        return Numbers.within_share("speed", value, sigma, self.max_tolerances.speed, measured.outliers, unit="m/s")

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and how long it is."""
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), values={"seconds": f"{fact['seconds']:.3g}"})


@dataclass(frozen=True, kw_only=True)
class TwoIntervals(Facts):
    """Two videos of the same clip that do not overlap."""

    frames_1: Int64[np.ndarray, "n k"]
    frames_2: Int64[np.ndarray, "n m"]


@dataclass(frozen=True, kw_only=True)
class FasterCamera(Template):
    """In which of two videos the camera moves faster. Measures ln(speed in 2 / speed in 1), which needs no scale."""

    name: str = "faster_camera"
    version: str = "1"
    ability: str = "L1/Motion/Ego"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = TwoIntervals
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoIntervals:
        """Random pairs of intervals in which the camera moves straight."""
        frames = video_intervals(scene, rng, _TRIES * count)
        frames = frames[first_reason(len(frames), _rides(scene, frames).cases()) == ""]
        if not len(frames):
            return TwoIntervals.none()
        a, b = rng.integers(len(frames), size=(2, 8 * _TRIES * count))
        ends = ends_of(frames)
        apart = np.flatnonzero((ends[a, 1] < ends[b, 0]) | (ends[b, 1] < ends[a, 0]))
        drawn = TwoIntervals(frames_1=frames[a[apart]], frames_2=frames[b[apart]]).distinct()
        return drawn.take(_good_first(self.measure(drawn, scene))[:count])

    def measure(self, facts: TwoIntervals, scene: Scene) -> Measured:
        """Log ratio of the speeds; σ of both."""
        a, b = (_rides(scene, frames) for frames in (facts.frames_1, facts.frames_2))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(b.length / b.seconds) - np.log(a.length / a.seconds)
            sigma = np.hypot(a.relative_sigma, b.relative_sigma)
            margin = np.abs(value) / sigma
            flow = [(ride.travel + ride.turn_rad) / ride.seconds for ride in (a, b)]
        cases = {reason: holds | b.cases()[reason] for reason, holds in a.cases().items()}
        cases |= {"both speeds are about equal": np.abs(value) < _VISIBLE}
        return Measured(
            why=first_reason(len(facts), cases),
            value=value[:, None],
            sigma=sigma[:, None],
            label=np.where(value > 0, "2", "1"),
            margin=margin,
            evidence={
                "ratio": np.exp(value).round(3),
                "moved": np.column_stack([a.length, b.length]).round(3),
                "seconds": np.column_stack([a.seconds, b.seconds]).round(2),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "faster in the picture": np.where(flow[1] > flow[0], "2", "1"),
                "longer way": np.where(b.length > a.length, "2", "1"),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the video."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two videos."""
        return Phrasing(media=tuple(Video(frames=tuple(fact[name])) for name in ("frames_1", "frames_2")))


def _good_first(measured: Measured) -> Int64[np.ndarray, "n"]:
    """Rows that are decided, then the others."""
    return np.argsort(measured.why != "", kind="stable")
