"""L3/Causal Reasoning/Dynamics: where a moving point will be in the picture, some time after a video has ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Point
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.distractors import offered_points
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo, Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_motion import ends_of
from templates.scene.intervals import seconds_between, video_intervals
from templates.scene.picture_motion import continued, later_frames, moving_pixels, pixels_over_time, stands_still
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_LEAST_WAY = 8.0
"""Least way in the time that is not shown, in tolerances, ..."""
_MOST_OFF = 0.5
"""... and largest distance from where a straight and even motion would lead."""
_APART = 3.0
"""Least distance between options, in tolerances."""
_POINTS = 4
_VIDEOS, _TRIES = 200, 12
_SOONEST_S, _LATEST_S = 0.4, 3.0


@dataclass(frozen=True, kw_only=True)
class MovingPoint(Facts):
    """A video, a moving point of its last frame, and a later frame, which is not shown."""

    frames: Int64[np.ndarray, "n k"]
    point_px: Float64[np.ndarray, "n 2"]
    frame_later: Int64[np.ndarray, "n"]
    seconds: Float64[np.ndarray, "n"]
    """From the last frame to the later one."""
    video_s: Float64[np.ndarray, "n"]
    """From the first frame to the last."""
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the frames in pixels."""


@dataclass(frozen=True, kw_only=True)
class WhereNext(Template):
    """Where a moving point is some time after the video, for cameras that stand still. Measures the pixel in the later
    frame; it is asked only where the motion in the video leads there."""

    name: str = "where_next"
    version: str = "2"
    ability: str = "L3/Causal Reasoning/Dynamics"
    formats: tuple[FormatName, ...] = ("choice", "point")
    facts: ClassVar[type[Facts]] = MovingPoint
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "objects"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MovingPoint:
        """Random moving points of the last frames of random videos, and random times after them; first those that go
        on as before."""
        drawn = _drawn(scene, rng, _TRIES * count)
        good = self.measure(drawn, scene).why == ""
        return drawn.take(good).distinct().take(slice(count))

    def measure(self, facts: MovingPoint, scene: Scene) -> Measured:
        """The pixel by the pose of the object, or by a track; σ: that of depth, or of the track."""
        first, last = ends_of(facts.frames).T
        places = pixels_over_time(scene, last, facts.point_px, np.column_stack([facts.frames, facts.frame_later]))
        found = places.xy_px[:, -1]
        tolerance = self.max_tolerances.point_diagonal * np.hypot(*facts.size.T.astype(np.float64))
        with np.errstate(invalid="ignore"):
            way = np.linalg.norm(found - facts.point_px, axis=1)
            expected = continued(scene, facts.frames, places.xy_px[:, :-1], facts.frame_later)
            off = np.fmin.reduce(np.linalg.norm(expected - found[:, None], axis=2), axis=1)
        cases = {
            "the footage has no time stamps": ~(facts.seconds > 0),
            "the camera does not stand still": ~stands_still(scene, first, facts.frame_later),
            "the point is not followed": ~np.isfinite(way + off),
            "the point moves too little": way < _LEAST_WAY * tolerance,
            "the point does not go on as before": off > _MOST_OFF * tolerance,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=found,
            sigma=np.repeat(places.sigma_px[:, -1:], 2, axis=1),
            outlier_probability=places.outlier_probability,
            evidence={
                "way_px": way.round(1),
                "off_px": off.round(2),
                "moved_px": (facts.point_px - places.xy_px[:, 0]).round(),
            },
        )

    def answer(self, format: FormatName, facts: MovingPoint, measured: Measured) -> Answers:
        """The pixel, with a tolerance of 2 % of the diagonal."""
        tolerance = np.floor(self.max_tolerances.point_diagonal * np.hypot(*facts.size.T.astype(np.float64)))
        found = Point(
            xy_px=measured.value,
            sigma_px=measured.sigma[:, 0],
            tolerance_px=tolerance,
            outlier_probability=measured.outliers,
        )
        return Answers.of(found, measured.why)

    def offer(self, format: FormatName, facts: MovingPoint, answers: Answers, chance: Chance) -> Offer | None:
        """Four points of the photo in random order."""
        if format != "choice":
            return None
        right = answers.column(Point, "xy_px", np.full((len(facts), 2), np.nan))
        tolerance = answers.column(Point, "tolerance_px", np.full(len(facts), np.nan))
        way, start = right - facts.point_px, facts.point_px
        aside = np.column_stack([-way[:, 1], way[:, 0]])
        mistakes_px = {
            "too slow": start + 0.5 * way,
            "too fast": start + 1.5 * way,
            "the other way": start - way,
            "turned aside": start + aside,
            "turned to the other side": start - aside,
        }
        spacing = np.tile(_APART * tolerance[:, None], 2)
        return offered_points(right, mistakes_px, spacing, facts.size, chance, _POINTS)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and its last frame with the point, and with four numbered ones for a choice."""
        marks = {} if offer is None else {str(k): xy_px for k, xy_px in enumerate(offer.values(0), start=1)}
        media = (
            Video(frames=tuple(fact["frames"])),
            Photo.marked(fact["frames"][-1], {"P": fact["point_px"], **marks}),
        )
        values = {name: f"{fact[name]:.3g}" for name in ("seconds", "video_s")}
        return Phrasing(
            media=media,
            values=values if offer else values | dict(zip(("width", "height"), fact["size"], strict=True)),
        )


def _drawn(scene: Scene, rng: np.random.Generator, count: int) -> MovingPoint:
    """Random moving points of the last frames of random videos, and random later frames."""
    videos = video_intervals(scene, rng, _VIDEOS)
    videos = videos[stands_still(scene, *ends_of(videos).T)]
    last = ends_of(videos)[:, 1]
    frames, row = np.unique(last, return_inverse=True)
    shown = [moving_pixels(scene, frame) for frame in frames.tolist()]
    later = [later_frames(scene, frame, _SOONEST_S, _LATEST_S) for frame in frames.tolist()]
    good = np.array([len(shown[k]) > 0 and len(later[k]) > 0 for k in row], dtype=bool)
    chosen = rng.choice(np.flatnonzero(good), count) if good.any() else np.empty(0, dtype=np.int64)
    points = [shown[k][int(rng.integers(len(shown[k])))] for k in row[chosen]]
    after = np.array([later[k][int(rng.integers(len(later[k])))] for k in row[chosen]], dtype=np.int64)
    return MovingPoint(
        frames=videos[chosen],
        point_px=np.array(points, dtype=np.float64).reshape(-1, 2),
        frame_later=after,
        seconds=seconds_between(scene, np.column_stack([last[chosen], after])),
        video_s=seconds_between(scene, ends_of(videos)[chosen]),
        size=np.tile([scene.clip.width_px, scene.clip.height_px], (len(chosen), 1)),
    )
