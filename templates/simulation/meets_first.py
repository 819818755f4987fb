"""L3/Causal Reasoning/Dynamics: which of two moving points reaches a line in the picture first, after the video."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Columns, Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Mark, Photo, Segment, Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_motion import ends_of
from templates.scene.intervals import seconds_between, video_intervals
from templates.scene.misleading import misleading_first, taking_turns
from templates.scene.picture_motion import (
    expected_crossing_s,
    later_frames,
    moving_pixels,
    pixels_over_time,
    stands_still,
)
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_MARKS = ("1", "2")
_LEAST_S = 0.3
"""Least time between the two, ..."""
_LEAST_SIGMAS = 3.0
"""... also in σ."""
_LEAST_WAY = 0.04
"""Least distance of both points from the line at the end of the video, as a share of the diagonal ..."""
_APART = 0.06
"""... and of the points from each other."""
_LATEST_S = 3.0
_OTHERWISE = 0.5
"""Least share of facts in which the point that is farther from the line is there first."""
_VIDEOS, _TRIES = 200, 100
_LINE = (0.08, 0.92)
"""Ends of the line, as shares of the height of the picture."""


@dataclass(frozen=True, kw_only=True)
class Race(Facts):
    """A video, two moving points of its last frame, an upright line, and later frames, which are not shown."""

    frames: Int64[np.ndarray, "n k"]
    first_px: Float64[np.ndarray, "n 2"]
    second_px: Float64[np.ndarray, "n 2"]
    line_px: Float64[np.ndarray, "n 2 2"]
    """Its upper and its lower end."""
    frames_later: Int64[np.ndarray, "n m"]


@dataclass(frozen=True, kw_only=True)
class _Arrival(Columns):
    """When n points reach their lines, in seconds after the end of the video; NaN where unknown."""

    seconds: Float64[np.ndarray, "n"]
    """inf where they have not reached them as long as they are followed."""
    at_least_s: Float64[np.ndarray, "n"]
    """They certainly do not reach them before."""
    sigma_s: Float64[np.ndarray, "n"]
    expected_s: Float64[np.ndarray, "n"]
    """If they went on as in the video."""
    way_px: Float64[np.ndarray, "n"]
    """From the line, at the end of the video."""
    px_per_s: Float64[np.ndarray, "n"]
    outlier_probability: Float64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class MeetsFirst(Template):
    """Which of two points crosses a line first, for cameras that stand still. Measures by how many seconds point 2 is
    later; it is asked only where the motions in the video lead to the same."""

    name: str = "meets_first"
    version: str = "3"
    ability: str = "L3/Causal Reasoning/Dynamics"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Race
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Race:
        """Random pairs of moving points and lines; in half of them the point that is farther from the line is first."""
        drawn = _drawn(scene, rng, _TRIES * count)
        measured = self.measure(drawn, scene)
        good = np.flatnonzero(measured.why == "")
        label = np.asarray(measured.label)[good]
        misled = label != measured.traps["nearer to the line"][good]
        rows = misleading_first(misled, rng, _OTHERWISE)
        return drawn.take(good[rows[taking_turns(label[rows])]][:count])

    def measure(self, facts: Race, scene: Scene) -> Measured:
        """Times between frames by linear interpolation; σ: the pixels, over the speed."""
        ends = ends_of(facts.frames)
        latest = ends_of(facts.frames_later)[:, 1]
        a, b = (_arrival(scene, facts, xy_px) for xy_px in (facts.first_px, facts.second_px))
        with np.errstate(invalid="ignore", divide="ignore"):
            first_wins = a.seconds < b.seconds
            gap = np.where(first_wins, b.at_least_s - a.seconds, a.at_least_s - b.seconds)
            expected = b.expected_s - a.expected_s
            sigma = np.hypot(a.sigma_s, b.sigma_s)
            margin = gap / sigma
            px_per_s = np.column_stack([one.way_px / one.expected_s for one in (a, b)])
        least_px = _LEAST_WAY * scene.diagonal_px
        cases = {
            "the camera does not stand still": ~stands_still(scene, ends[:, 0], latest),
            "a point is not followed": ~(np.isfinite(gap) & np.isfinite(expected) & np.isfinite(sigma)),
            "a point is too near the line": np.fmin(a.way_px, b.way_px) < least_px,
            "a point does not move towards the line": (a.expected_s <= 0) | (b.expected_s <= 0),
            "both points are there at about the same time": gap < np.maximum(_LEAST_S, _LEAST_SIGMAS * sigma),
            "the points do not go on as before": np.where(first_wins, expected, -expected) < _LEAST_S / 2,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.where(first_wins, gap, -gap)[:, None],
            sigma=sigma[:, None],
            label=np.where(first_wins, *_MARKS),
            margin=margin,
            outlier_probability=1 - (1 - a.outlier_probability) * (1 - b.outlier_probability),
            evidence={
                "expected_s": expected.round(2),
                "way_px": np.column_stack([a.way_px, b.way_px]).round(1),
                "px_per_s": px_per_s.round(1),
                "each_s": np.column_stack([a.expected_s, b.expected_s]).round(2),
            },
            traps={
                "nearer to the line": np.where(a.way_px < b.way_px, *_MARKS),
                "faster in the picture": np.where(a.px_per_s > b.px_per_s, *_MARKS),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and its last frame with the points and the line."""
        points = [tuple(fact[name]) for name in ("first_px", "second_px")]
        marks = [Mark(text=text, xy_px=xy_px) for text, xy_px in zip(_MARKS, points, strict=True)]
        line = Segment(points_px=tuple(map(tuple, fact["line_px"])), text="L")
        return Phrasing(
            media=(Video(frames=tuple(fact["frames"])), Photo(frame=fact["frames"][-1], marks=(*marks, line)))
        )


def _arrival(scene: Scene, facts: Race, xy_px: Float64[np.ndarray, "n 2"]) -> _Arrival:
    shown, (first, last), x_px = facts.frames.shape[1], ends_of(facts.frames).T, facts.line_px[:, 0, 0]
    places = pixels_over_time(scene, last, xy_px, np.column_stack([facts.frames, last, facts.frames_later]))
    times = [seconds_between(scene, np.column_stack([last, frame])) for frame in (last, *facts.frames_later.T)]
    seconds, beyond = np.stack(times, axis=1), places.xy_px[:, shown:, 0] - x_px[:, None]
    video_s = seconds_between(scene, np.column_stack([first, last]))
    expected = expected_crossing_s(scene, facts.frames, places.xy_px[:, :shown], x_px) - video_s
    followed = np.logical_and.accumulate(np.isfinite(beyond) & np.isfinite(seconds), axis=1)
    crossed = followed & (np.sign(beyond) != np.sign(beyond[:, :1]))
    row, at = np.arange(len(facts)), np.maximum(crossed.argmax(axis=1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        step = (beyond[row, at] - beyond[row, at - 1]) / (seconds[row, at] - seconds[row, at - 1])
        crossing = seconds[row, at - 1] - beyond[row, at - 1] / step
        until = np.fmax.reduce(np.where(followed, seconds, np.nan), axis=1)
        start = places.xy_px[:, 0] if shown else xy_px
        speed = np.linalg.norm(xy_px - start, axis=1) / video_s
        moving = np.abs(beyond[row, np.maximum(followed.sum(axis=1) - 1, 0)] - beyond[:, 0]) / until
        sigma = np.fmax.reduce(places.sigma_px[:, shown:], axis=1) / np.where(crossed.any(axis=1), np.abs(step), moving)
    arrives = crossed.any(axis=1)
    return _Arrival(
        seconds=np.where(arrives, crossing, np.where(followed[:, 0], np.inf, np.nan)),
        at_least_s=np.where(arrives, crossing, until),
        sigma_s=sigma,
        expected_s=expected,
        way_px=np.abs(beyond[:, 0]),
        px_per_s=speed,
        outlier_probability=places.outlier_probability,
    )


def _drawn(scene: Scene, rng: np.random.Generator, count: int) -> Race:
    """Random pairs of moving points of the last frames of random videos, and random lines."""
    videos = video_intervals(scene, rng, _VIDEOS)
    videos = videos[stands_still(scene, *ends_of(videos).T)]
    frames, row = np.unique(ends_of(videos)[:, 1], return_inverse=True)
    shown = [moving_pixels(scene, frame) for frame in frames.tolist()]
    later = [later_frames(scene, frame, 0.0, _LATEST_S) for frame in frames.tolist()]
    good = np.array([len(shown[k]) > 1 and len(later[k]) > 0 for k in row], dtype=bool)
    if not good.any():
        return Race.none()
    chosen = rng.choice(np.flatnonzero(good), count)
    points = np.array([shown[k][rng.integers(len(shown[k]), size=2)] for k in row[chosen]])
    longest = max(map(len, later))
    held = np.array([[*later[k], *[-1] * (longest - len(later[k]))] for k in row[chosen]], dtype=np.int64)
    last = ends_of(videos)[chosen, 1]
    reached = pixels_over_time(scene, last, points[:, 0], ends_of(held)[:, 1:]).xy_px[:, 0, 0]
    x = np.round(points[:, 0, 0] + rng.uniform(0.6, 1.0, count) * (reached - points[:, 0, 0]), 1)
    ends = [round(share * scene.clip.height_px, 1) for share in _LINE]
    line = np.stack([np.column_stack([x, np.full(count, end)]) for end in ends], axis=1)
    points = np.where(rng.random((count, 1, 1)) < 0.5, points, points[:, ::-1])
    apart = np.linalg.norm(points[:, 0] - points[:, 1], axis=1) >= _APART * scene.diagonal_px
    drawn = Race(frames=videos[chosen], first_px=points[:, 0], second_px=points[:, 1], line_px=line, frames_later=held)
    return drawn.take(np.flatnonzero(apart & np.isfinite(x)))
