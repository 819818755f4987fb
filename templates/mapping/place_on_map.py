"""L2: photos and the arrows on a map that show where they were taken, and which way the camera faced."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Columns, Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import XY, Drawing, Mark, Photo
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, margin, named, nearest, right_and_others
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import elsewhere
from templates.scene.intervals import places
from templates.scene.level_axes import level_axes
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

Ids = Int64[np.ndarray, "n"]
"""Frames of n photos."""
_PLACES = 20
_APART_DEG = 40.0
"""Least difference of two options in direction or in heading: arrows that differ so look different."""
_FITS_DEG = 10.0
"""Largest error of the right option."""
_STEEPEST_RAD = np.radians(35)
"""Largest elevation of one camera above the other: a map shows no heights."""
_LEAST_TRAVEL = 0.15
"""Least distance between the cameras, as a share of that of what photo 1 shows."""
_SAME_PLACE = "the photos were taken at about the same place"
_OTHERS = 3
"""Random arrows among which wrong ones are chosen too."""
_ARROW, _LABEL = 0.5, 0.12
"""Length of an arrow, and distance of its number from its head, over the distance of the arrows from photo 1."""


@dataclass(frozen=True, kw_only=True)
class _Arrows(Columns):
    """Places and headings of cameras on a map around photo 1, which faces up the map; degrees, clockwise."""

    direction_deg: Float64[np.ndarray, "n"]
    """In which the place lies; NaN where unknown."""
    heading_deg: Float64[np.ndarray, "n"]
    """Which way the camera faces there."""
    sigma_deg: Float64[np.ndarray, "n"]
    """The larger one of both."""
    elevation_rad: Float64[np.ndarray, "n"]

    @property
    def both_deg(self) -> Float64[np.ndarray, "n 2"]:
        """Direction and heading."""
        return np.column_stack([self.direction_deg, self.heading_deg])


def _arrows(scene: Scene, frame_from: Ids, frame: Ids) -> _Arrows:
    """Where photos were taken, on the map of others."""
    zero, here = np.zeros(len(frame)), np.full((len(frame), 3), 1e-9)
    place = elsewhere(scene, frame, frame_from, here, zero, zero, level=True)
    axes, other = level_axes(scene, frame_from), level_axes(scene, frame)
    first, second = scene.world_from_cam(frame_from), scene.world_from_cam(frame)
    forward = np.einsum("nji,nj->ni", first[:, :3, :3], second[:, :3, 2])
    right, ahead = (np.einsum("ni,ni->n", forward, axis) for axis in (axes.right, axes.ahead))
    known = axes.upright & other.upright
    turned = scene.relative_rotation_sigma_rad(np.column_stack([frame_from, frame]))
    with np.errstate(invalid="ignore", divide="ignore"):
        heading_sigma = np.hypot(turned, axes.sigma_rad) / np.hypot(right, ahead)
    return _Arrows(
        direction_deg=np.where(known, np.degrees(place.azimuth_rad), np.nan),
        heading_deg=np.where(known, np.degrees(np.arctan2(right, ahead)), np.nan),
        sigma_deg=np.degrees(np.maximum(place.sigma_rad, heading_sigma)),
        elevation_rad=place.elevation_rad,
    )


def _off_deg(arrows: Float64[np.ndarray, "... 2"], others: Float64[np.ndarray, "... 2"]) -> Float64[np.ndarray, "..."]:
    """How far arrows differ: the larger difference of direction and heading. Shapes are broadcast."""
    return np.abs((arrows - others + 180) % 360 - 180).max(axis=-1)


def _apart(arrows: Float64[np.ndarray, "n m 2"]) -> Bool[np.ndarray, "n m m"]:
    """Whether two arrows differ visibly; with itself, whether an arrow is known."""
    off = _off_deg(arrows[:, :, None], arrows[:, None])
    return np.where(np.eye(arrows.shape[1], dtype=bool), np.isfinite(off), off >= _APART_DEG)


def _mistaken(arrow: Float64[np.ndarray, "n 2"]) -> dict[str, Float64[np.ndarray, "n 2"]]:
    """Arrows of typical mistakes."""
    direction, heading = arrow.T
    each = {
        "mirrored": (-direction, -heading),
        "facing the other way": (direction, heading + 180),
        "turned to the wrong side": (direction, -heading),
        "facing as photo 1": (direction, np.zeros_like(heading)),
        "photos exchanged": (direction + 180 - heading, -heading),
    }
    return {name: np.column_stack(pair) for name, pair in each.items()}


def _known(scene: Scene, arrows: _Arrows, travel: Float64[np.ndarray, "n"]) -> Mapping[str, np.ndarray]:
    """Why a photo has no place on the map."""
    return {
        POSITION_UNKNOWN: ~np.isfinite(travel),
        "up is not known, or a photo is not upright": ~np.isfinite(arrows.both_deg + arrows.sigma_deg[:, None]).all(1),
        "the camera stands too high above the other": ~(np.abs(arrows.elevation_rad) <= _STEEPEST_RAD),
        _SAME_PLACE: travel < _LEAST_TRAVEL,
    }


def _travel(scene: Scene, frame_from: Ids, frame: Ids) -> Float64[np.ndarray, "n"]:
    """Distances between cameras, as shares of the distance of what the first photo shows; NaN where unknown."""
    each, row = np.unique(np.concatenate([frame_from, frame]), return_inverse=True)
    return np.asarray(shared_views(scene, each).travel[row[: len(frame)], row[len(frame) :]])


def _pairs(scene: Scene) -> tuple[Ids, Ids]:
    """Photos spread over the path, and others that share part of their view but not their place."""
    frames = places(scene, _PLACES)
    views = shared_views(scene, frames)
    with np.errstate(invalid="ignore"):
        a, b = np.nonzero(views.mutual & (views.travel >= _LEAST_TRAVEL) & ~np.eye(len(frames), dtype=bool))
    return frames[a], frames[b]


@dataclass(frozen=True, kw_only=True)
class ArrowsOfPhoto(Facts):
    """Two photos, and four arrows of which one shows where the second one was taken."""

    frame_from: Int64[np.ndarray, "n"]
    frame: Int64[np.ndarray, "n"]
    arrows_deg: Float64[np.ndarray, "n 4 2"]
    """Direction and heading of each, clockwise from the heading of the first photo."""


@dataclass(frozen=True, kw_only=True)
class WhereOnMap(Template):
    """Which arrow on a map shows where photo 2 was taken and which way its camera faced. Measures how far each arrow is
    off, in degrees of direction or heading, whichever is more."""

    name: str = "where_on_map"
    version: str = "1"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ArrowsOfPhoto
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_SAME_PLACE})
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ArrowsOfPhoto:
        """The right arrow and three others, mostly of typical mistakes, in random order."""
        a, b = _pairs(scene)
        rows = rng.permutation(len(a))[: 2 * count]
        a, b = a[rows], b[rows]
        right = _arrows(scene, a, b).both_deg
        random = rng.uniform(-180, 180, (len(rows), _OTHERS, 2))
        each = np.concatenate([right[:, None], np.stack([*_mistaken(right).values()], axis=1), random], axis=1).round()
        rows, chosen = right_and_others(_apart(each), rng)
        facts = ArrowsOfPhoto(frame_from=a[rows], frame=b[rows], arrows_deg=each[rows[:, None], chosen])
        return facts.take(np.flatnonzero(self.measure(facts, scene).why == "")[:count])

    def measure(self, facts: ArrowsOfPhoto, scene: Scene) -> Measured:
        """The arrow with the smallest error; σ: positions and rotations of both photos, gravity."""
        true = _arrows(scene, facts.frame_from, facts.frame)
        error = _off_deg(facts.arrows_deg, true.both_deg[:, None])
        sigma = np.repeat(true.sigma_deg[:, None], len(MARKS), axis=1)
        label, cases = nearest(error, _FITS_DEG, 0.9 * _APART_DEG)
        travel = _travel(scene, facts.frame_from, facts.frame)
        return Measured(
            why=first_reason(len(facts), {**cases, **_known(scene, true, travel)}),
            value=error,
            sigma=sigma,
            label=label,
            margin=margin(error, sigma),
            evidence={"direction_deg": true.direction_deg.round(1), "heading_deg": true.heading_deg.round(1)},
            traps={
                name: named(_off_deg(facts.arrows_deg, wrong[:, None]), _FITS_DEG)
                for name, wrong in _mistaken(true.both_deg).items()
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the arrow."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos and a map with five arrows."""
        media = (Photo(frame=fact["frame_from"]), Photo(frame=fact["frame"]))
        return Phrasing(media=(*media, _map(dict(zip(MARKS, fact["arrows_deg"], strict=True)))))


@dataclass(frozen=True, kw_only=True)
class PhotosOfArrow(Facts):
    """A photo, an arrow on its map, and four other photos of which one was taken there."""

    frame_from: Int64[np.ndarray, "n"]
    arrow_deg: Float64[np.ndarray, "n 2"]
    frames: Int64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class ViewFrom(Template):
    """Which of four photos was taken from an arrow on a map. Measures how far the arrow is off for each, in degrees
    of direction or heading, whichever is more."""

    name: str = "view_from"
    version: str = "1"
    ability: str = "L2/Understanding/Perspective Taking"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = PhotosOfArrow
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_SAME_PLACE})
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PhotosOfArrow:
        """Photos that share part of their view with photo 1 and were taken at different places or headings."""
        a, b = _pairs(scene)
        arrow = _arrows(scene, a, b).both_deg.round()
        found: list[PhotosOfArrow] = []
        for frame in np.unique(a):
            mine = np.flatnonzero((a == frame) & np.isfinite(arrow).all(axis=1))
            if len(mine) < len(MARKS):
                continue
            order = np.stack([rng.permutation(mine) for _ in range(max(4, count // 4))])
            rows, chosen = right_and_others(_apart(arrow[order]), rng)
            right, shown = order[rows, 0], order[rows[:, None], chosen]
            found.append(PhotosOfArrow(frame_from=a[right], arrow_deg=arrow[right], frames=b[shown]))
        facts = PhotosOfArrow.concatenated(found).distinct()
        facts = facts.take(rng.permutation(len(facts)))
        return facts.take(np.flatnonzero(self.measure(facts, scene).why == "")[:count])

    def measure(self, facts: PhotosOfArrow, scene: Scene) -> Measured:
        """The photo with the smallest error; σ: positions and rotations of all photos, gravity."""
        count = len(MARKS)
        frame_from, frame = facts.frame_from.repeat(count), facts.frames.reshape(-1)
        each = _arrows(scene, frame_from, frame)
        true, sigma = each.both_deg.reshape(-1, count, 2), each.sigma_deg.reshape(-1, count)
        error = _off_deg(true, facts.arrow_deg[:, None])
        label, cases = nearest(error, _FITS_DEG, 0.9 * _APART_DEG)
        lacking = {
            reason: holds.reshape(-1, count).any(axis=1)
            for reason, holds in _known(scene, each, _travel(scene, frame_from, frame)).items()
        }
        return Measured(
            why=first_reason(len(facts), {**cases, **lacking}),
            value=error,
            sigma=sigma,
            label=label,
            margin=margin(error, sigma),
            evidence={"directions_deg": true[..., 0].round(), "headings_deg": true[..., 1].round()},
            traps={
                name: _other(named(_off_deg(true, wrong[:, None]), _APART_DEG / 2), label)
                for name, wrong in _mistaken(facts.arrow_deg).items()
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Five photos and a map with two arrows."""
        frames = [fact["frame_from"], *fact["frames"]]
        return Phrasing(media=(*(Photo(frame=frame) for frame in frames), _map({"X": fact["arrow_deg"]})))


def _other(named: Texts, right: Texts) -> Texts:
    return np.where(named == right, "", named)


def _map(arrows_deg: Mapping[str, Json]) -> Drawing:
    """The arrow of photo 1 in the middle, facing up the map, and others around it."""
    drawn = {"P": ((0.0, 0.0), 0.0)} | {
        text: (_towards((0.0, 0.0), direction, 1.0), heading) for text, (direction, heading) in arrows_deg.items()
    }
    return Drawing(
        polylines=tuple((start, _towards(start, heading, _ARROW)) for start, heading in drawn.values()),
        points=tuple(
            Mark(text=text, xy_px=_towards(start, heading, _ARROW + _LABEL)) for text, (start, heading) in drawn.items()
        ),
    )


def _towards(start: XY, clockwise_deg: float, length: float) -> XY:
    angle = np.radians(clockwise_deg)
    return round(start[0] + length * float(np.sin(angle)), 3), round(start[1] + length * float(np.cos(angle)), 3)
