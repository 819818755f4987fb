"""L3/Causal Reasoning/Dynamics: in how many seconds the camera is level with a point, if it goes on as in a video."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Numbers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo, Video
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, margin, mistaken, nearest
from templates.question import FormatName, Phrasing
from templates.scene.camera_motion import ends_of
from templates.scene.elsewhere import on_mover
from templates.scene.intervals import seconds_between, video_intervals
from templates.scene.marks import frames_with_surface, markable
from templates.scene.scene import SURFACE, Scene
from templates.scene.steady_motion import LEAST_AFTER_S, SteadyMotion, steady_motion
from templates.settings import MaxTolerances
from templates.template import Template

_STEP = 1.7
"""Ratio of neighbouring options."""
_FITS = np.log(1.12)
"""Largest |ln| of the ratio between the right option and the time."""
_LEAST_S, _MOST_S = 0.8, 15.0
_STEEPEST_RAD = np.radians(40.0)
"""Largest angle between the way of the camera and the point: an error of the direction would weigh more."""
_LEAST_WAY = 0.08
"""Least way in the video, as a share of the way to the point: less hardly shows how fast the camera is."""
_ANOTHER = 0.45
"""Least relative difference between a time and what a mistake gives."""
_APART = 0.12
"""Least distance between the two marks, as a share of the diagonal."""
_VIDEOS, _TRIES = 300, 12
_BLANK_S = 1e6
"""A time that is none."""
_NO_OPTION = "no option is near the right one"


@dataclass(frozen=True, kw_only=True)
class PointAhead(Facts):
    """A video, the time after it, and two points of its last frame."""

    frames: Int64[np.ndarray, "n k"]
    frame_after: Int64[np.ndarray, "n"]
    """Until then, the camera goes on as in the video. It is not shown."""
    point_px: Float64[np.ndarray, "n 2"]
    other_px: Float64[np.ndarray, "n 2"]
    """Another point, whose time is a wrong answer."""
    seconds: Float64[np.ndarray, "n 4"]
    """Options."""
    video_s: Float64[np.ndarray, "n"]
    """That the video takes."""


@dataclass(frozen=True, kw_only=True)
class TimeToContact(Template):
    """When the camera is level with a point ahead. Measures ln of the seconds after the last frame; needs no scale."""

    name: str = "time_to_contact"
    version: str = "1"
    ability: str = "L3/Causal Reasoning/Dynamics"
    formats: tuple[FormatName, ...] = ("numeric", "choice")
    facts: ClassVar[type[Facts]] = PointAhead
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointAhead:
        """Random videos in which the camera moves steadily, with two random points of the last frame; the time is at
        any place among the four."""
        facts = _drawn(scene, rng, _TRIES * count)
        measured = self.measure(facts, scene)
        time = np.exp(measured.value[:, 0])
        rows = np.flatnonzero(np.isfinite(time) & (measured.why == _NO_OPTION))[:count]
        at = rng.integers(len(MARKS), size=len(rows))
        options = time[rows, None] * _STEP ** (np.arange(len(MARKS)) - at[:, None])
        return replace(facts.take(rows), seconds=_two_digits(options))

    def measure(self, facts: PointAhead, scene: Scene) -> Measured:
        """Way to the plane through the point, across the way of the camera, over its speed; σ: range of the point,
        speed, and direction of the way."""
        last = ends_of(facts.frames)[:, 1]
        motion = steady_motion(scene, facts.frames, facts.frame_after)
        time, sigma, outliers = _arrival(scene, motion, last, facts.point_px)
        other, _, _ = _arrival(scene, motion, last, facts.other_px)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.abs(np.log(facts.seconds / time[:, None]))
            label, wrong = nearest(error, _FITS, 0.8 * np.log(_STEP))
            cases = {
                **motion.cases(),
                "the point is not ahead of the camera": ~np.isfinite(time + sigma),
                "a marked point moves": on_mover(scene, last, facts.point_px) | on_mover(scene, last, facts.other_px),
                "the camera is too near or too far from the point": ~((time >= _LEAST_S) & (time <= _MOST_S)),
                "the camera moves too little": motion.seconds < _LEAST_WAY * time,
                _NO_OPTION: wrong.pop(_NO_OPTION),
                **wrong,
            }
            mistakes = {"time of the other point": other, "counted from the start of the video": time + motion.seconds}
            traps = {
                **{name: np.where(np.abs(t / time - 1) > _ANOTHER, t.round(2), np.nan) for name, t in mistakes.items()},
                **{f"{name} (option)": mistaken(facts.seconds, t, label, _STEP) for name, t in mistakes.items()},
            }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.log(time)[:, None],
            sigma=sigma[:, None],
            label=label,
            margin=margin(error, np.repeat(sigma[:, None], len(MARKS), axis=1)),
            outlier_probability=outliers,
            evidence={
                "seconds": time.round(2),
                "relative_sigma": sigma.round(4),
                "other_s": other.round(2),
                **_way(scene, motion, last, facts.point_px),
            },
            traps=traps,
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """Seconds with a tolerance of 20 %; or the number of the option."""
        if format == "choice":
            return measured.as_label()
        time = np.exp(measured.value)
        return Numbers.within_share(
            "time", time, time * measured.sigma, self.max_tolerances.speed, measured.outliers, unit="s"
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and its last frame with two points."""
        marks = {"P": fact["point_px"], "Q": fact["other_px"]}
        media = (Video(frames=tuple(fact["frames"])), Photo.marked(fact["frames"][-1], marks))
        options = tuple(f"{time:g} s" for time in fact["seconds"]) if format == "choice" else ()
        return Phrasing(media=media, options=options, values={"video_s": f"{fact['video_s']:.3g}"})


def _arrival(
    scene: Scene, motion: SteadyMotion, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """Seconds until the camera is level with points of the last frame (NaN: they are not ahead), their relative σ, and
    outlier probabilities."""
    seen, speed = scene.surface(frame, xy_px), np.linalg.norm(motion.velocity_cam, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = np.einsum("ni,ni->n", seen.xyz_cam, motion.velocity_cam) / speed
        aside = np.arccos(np.clip(ahead / seen.range, -1, 1))
        time = np.where(aside <= _STEEPEST_RAD, ahead / speed, np.nan)
        turned = np.tan(aside) * motion.sigma_rad
        speed_sigma = np.hypot(motion.relative_sigma, scene.travel_relative_sigma)
        sigma = np.sqrt(seen.range_relative_sigma**2 + speed_sigma**2 + turned**2)
    return time, sigma, seen.outlier_probability


def _way(
    scene: Scene, motion: SteadyMotion, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"]
) -> dict[str, np.ndarray]:
    """How far the camera has to go until it is level with points, and how fast it is; as evidence."""
    speed = np.linalg.norm(motion.velocity_cam, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead = np.einsum("ni,ni->n", scene.surface(frame, xy_px).xyz_cam, motion.velocity_cam) / speed
    return {"way": ahead.round(3), "speed": speed.round(3), "length_unit": np.full(len(frame), scene.length_unit)}


def _drawn(scene: Scene, rng: np.random.Generator, count: int) -> PointAhead:
    """Random pairs of points of the last frames of random videos, without options."""
    videos = video_intervals(scene, rng, _VIDEOS)
    last = ends_of(videos)[:, 1]
    after = np.array([_later(scene, frame) for frame in last.tolist()], dtype=np.int64)
    shown = np.isin(last, frames_with_surface(scene)) & (after >= 0)
    videos, last, after = videos[shown], last[shown], after[shown]
    motion = steady_motion(scene, videos, after)
    steady = first_reason(len(videos), motion.cases()) == ""
    videos, last, after = videos[steady], last[steady], after[steady]
    frame, xy = markable(scene, np.unique(last).tolist())
    held = np.searchsorted(frame, last, side="right") - (start := np.searchsorted(frame, last))
    if not held.any():
        return PointAhead.none()
    row = rng.choice(np.flatnonzero(held), count)
    a, b = (start[row] + (rng.random(count) * held[row]).astype(np.int64) for _ in range(2))
    apart = np.linalg.norm(xy[a] - xy[b], axis=1) >= _APART * scene.diagonal_px
    row, a, b = row[apart], a[apart], b[apart]
    return PointAhead(
        frames=videos[row],
        frame_after=after[row],
        point_px=xy[a],
        other_px=xy[b],
        seconds=np.full((len(row), len(MARKS)), _BLANK_S),
        video_s=seconds_between(scene, ends_of(videos)[row]),
    )


def _later(scene: Scene, frame: int) -> int:
    """The first registered frame at least `LEAST_AFTER_S` later; -1 if there is none."""
    path, times_s = scene.path, scene.clip.times_s
    if path is None or times_s is None:
        return -1
    known = path.frames[path.registered & (path.frames > frame)]
    seconds = seconds_between(scene, np.column_stack([np.full_like(known, frame), known]))
    late = known[seconds >= LEAST_AFTER_S]
    return int(late[0]) if len(late) else -1


def _two_digits(seconds: Float64[np.ndarray, "n 4"]) -> Float64[np.ndarray, "n 4"]:
    """Rounded to two significant digits."""
    digits = 10.0 ** (np.floor(np.log10(seconds)) - 1)
    return np.asarray(np.round(np.round(seconds / digits) * digits, 6))
