"""L2/Understanding/Affordance: which of three marked places is level and as high as a seat."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Columns, Json
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.marks import Frame, Pixel, frames_with_surface, grid_px, inside, spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.pictures import MIN_DISTANCE
from templates.scene.point_groups import POINTS, ThreePoints, clear_pixels
from templates.scene.scene import SURFACE, Scene
from templates.scene.slopes import is_level, is_upright, over_floor
from templates.template import Template

_MARKS = ("1", "2", "3")
_LOW_M, _HIGH_M = 0.35, 0.55
"""Heights of seats above the floor."""
_WITHIN_M, _BEYOND_M = 0.049, 0.1
"""How far from these borders the height of the seat lies at least, and that of what is too low or too high."""
_RADIUS_M, _PLANE_M = 0.17, 0.02
"""Of the level circle around a mark; and how plane the surface under a mark on something upright is."""
_SURE = 10.0
"""What stands for a difference that is decided in another way, in σ."""
_EASY_M = 1.3
"""What is higher is plainly no seat, and not marked."""
_FRAMES = 16
_CELLS = 96
"""Seats are looked for on a grid of this many cells per side."""
_SEATS, _TRIES = 24, 40
"""Most places on seats per photo, and groups drawn for each that is asked for."""


@dataclass(frozen=True, kw_only=True)
class _Places(Columns):
    """What n marked pixels show; lengths in metres."""

    height: Float64[np.ndarray, "n"]
    sigma: Float64[np.ndarray, "n"]
    range: Float64[np.ndarray, "n"]
    outlier_probability: Float64[np.ndarray, "n"]
    upright: Bool[np.ndarray, "n"]
    seat: Bool[np.ndarray, "n"]
    """Level and as high as a seat."""

    @property
    def off(self) -> Float64[np.ndarray, "n"]:
        """How far they are below the lowest seat or above the highest; negative between them."""
        return np.asarray(np.maximum(_LOW_M - self.height, self.height - _HIGH_M))

    @property
    def never(self) -> Bool[np.ndarray, "n"]:
        """Whether they are clearly no seats: upright, or of another height."""
        return np.asarray(self.upright | (self.off >= _BEYOND_M))


@dataclass(frozen=True, kw_only=True)
class SeatHeight(Template):
    """Which of three marked places is level and as high as a seat, for clips with metric scale. Measures the height
    above the floor of each, in metres."""

    name: str = "seat_height"
    version: str = "2"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ThreePoints
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "depth", "room"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "room"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreePoints:
        """A place on a seat with two others. The seat is the lowest, the middle and the highest one about equally
        often, in the room and in the picture."""
        frames = np.array(spread_frames(frames_with_surface(scene), _FRAMES), dtype=np.int64)
        frames = frames[[scene.has_depth(frame) for frame in frames.tolist()]]
        if not len(frames) or scene.room is None or np.isnan(scene.metre_relative_sigma):
            return ThreePoints.none()
        seat_frame, seats = _seats(scene, rng, frames)
        if not len(seats):
            return ThreePoints.none()
        frame, xy = clear_pixels(scene, rng, count)
        places = _places(scene, frame, xy)
        other = places.never & (places.height <= _EASY_M)
        frame, xy = frame[other], xy[other]
        first, end = (np.searchsorted(frame, seat_frame, side) for side in ("left", "right"))
        rows = np.flatnonzero(end - first >= POINTS - 1)
        if not len(rows):
            return ThreePoints.none()
        drawn = rows[rng.integers(len(rows), size=_TRIES * count)]
        share = rng.random((len(drawn), POINTS - 1))
        others = xy[first[drawn][:, None] + (share * (end - first)[drawn][:, None]).astype(np.int64)]
        points = rng.permuted(np.concatenate([seats[drawn][:, None], others], axis=1), axis=1)
        apart = np.linalg.norm(points - np.roll(points, 1, axis=1), axis=2).min(axis=1)
        facts = ThreePoints(frame=seat_frame[drawn], points_px=points).take(apart >= MIN_DISTANCE * scene.diagonal_px)
        measured = self.measure(facts, scene)
        assert measured.label is not None and measured.margin is not None
        sure = np.flatnonzero((measured.why == "") & (measured.margin >= 2.33))
        which = np.array([_MARKS.index(mark) for mark in measured.label[sure].tolist()], dtype=np.int64)
        ranks = [_rank(each[sure], which) for each in (measured.value, facts.points_px[..., 1])]
        return facts.take(sure[taking_turns(np.char.mod("%d", POINTS * ranks[0] + ranks[1]))][:count])

    def measure(self, facts: ThreePoints, scene: Scene) -> Measured:
        """The one place that is level and as high as a seat; each of the others is upright or of another height."""
        n, shape = len(facts), (len(facts), POINTS)
        found = _places(scene, facts.frame.repeat(POINTS), facts.points_px.reshape(-1, 2))
        seat, never, upright = (each.reshape(shape) for each in (found.seat, found.never, found.upright))
        which = seat.argmax(axis=1)
        height, sigma, away = (each.reshape(shape) for each in (found.height, found.sigma, found.range))
        cases = {
            "scale is not metric": np.full(n, np.isnan(scene.metre_relative_sigma)),
            "the floor is not known": np.full(n, scene.room is None),
            "the place of a marked point is not known": ~np.isfinite(height + sigma).all(axis=1),
            "not exactly one marked place is clearly a seat": (seat.sum(axis=1) != 1) | (never.sum(axis=1) != 2),
        }
        off, marks = found.off.reshape(shape), np.array(_MARKS)
        at_height = upright & (off <= 0)
        return Measured(
            why=first_reason(n, cases),
            value=height,
            sigma=sigma,
            label=marks[which],
            margin=margin_of_all(np.where(seat, -off, np.where(upright, _SURE * sigma, off)), sigma),
            outlier_probability=1 - np.prod(1 - found.outlier_probability.reshape(shape), axis=1),
            evidence={
                "height_m": height[np.arange(n), which].round(3),
                "heights_cm": (100 * height).round(),
                "surfaces": np.select([upright, seat, height < _LOW_M], ["upright", "level", "too low"], "too high"),
            },
            traps={
                "lowest in the picture": marks[facts.points_px[..., 1].argmax(axis=1)],
                "lowest in the room": marks[np.nan_to_num(height, nan=np.inf).argmin(axis=1)],
                "nearest": marks[np.nan_to_num(away, nan=np.inf).argmin(axis=1)],
                "as high as a seat, but upright": np.where(at_height.any(axis=1), marks[at_height.argmax(axis=1)], ""),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three marks."""
        return Phrasing(media=(Photo.marked(fact["frame"], dict(zip(_MARKS, fact["points_px"], strict=True))),))

    def placed(self, facts: ThreePoints, scene: Scene) -> Facts:
        """As they are: pixels that are moved may lie on other surfaces."""
        return facts


def _seats(scene: Scene, rng: np.random.Generator, frames: Int64[np.ndarray, "f"]) -> tuple[Frame, Pixel]:
    """Pixels on seats, as many for each of the frames as far as they can be had, ascending by frame."""
    xy = grid_px(scene.clip, _CELLS)
    xy = np.round(xy[inside(scene.clip, xy)], 1)
    found = []
    for frame in frames.tolist():
        every = np.full(len(xy), frame)
        rows = rng.permutation(np.flatnonzero(_is_seat(scene, every, xy, over_floor(scene, every, xy).height)))[:_SEATS]
        found.append((every[rows], xy[rows]))
    return np.concatenate([frame for frame, _ in found]), np.concatenate([xy for _, xy in found])


def _places(scene: Scene, frame: Frame, xy_px: Pixel) -> _Places:
    """What marked pixels show."""
    found, metre = over_floor(scene, frame, xy_px), scene.metre_relative_sigma
    return _Places(
        height=found.height,
        sigma=np.hypot(found.sigma, found.height * metre),
        range=found.range,
        outlier_probability=found.outlier_probability,
        upright=is_upright(scene, frame, xy_px, _PLANE_M),
        seat=_is_seat(scene, frame, xy_px, found.height),
    )


def _is_seat(scene: Scene, frame: Frame, xy_px: Pixel, height: Float64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """Whether a mark covers what is level and, by its height above the floor, a seat."""
    with np.errstate(invalid="ignore"):
        high = np.flatnonzero((height >= _LOW_M + _WITHIN_M) & (height <= _HIGH_M - _WITHIN_M))
    seat = np.zeros(len(frame), dtype=bool)
    seat[high] = is_level(scene, frame[high], xy_px[high], _RADIUS_M)
    return seat


def _rank(values: Float64[np.ndarray, "n 3"], which: Int64[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
    """How many of the three values of each row are smaller than that at `which`."""
    return np.asarray((values < values[np.arange(len(which)), which][:, None]).sum(axis=1))
