"""L2/Memory/Cognitive Map: the floor area of a room that a video shows all round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import Room
from templates.answers import Answer, Numbers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Video
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, margin, named, nearest
from templates.question import FormatName, Phrasing
from templates.scene.intervals import random_videos
from templates.scene.marks import frames_with_surface
from templates.scene.room_walls import area_of, inside, lengths, on_floor_plan, shown_floor, shown_walls, wall_points
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_STEP = 1.45
"""Ratio of an area to the next one that is offered."""
_FITS = 0.06
"""Largest error of the right option, as a natural logarithm."""
_LEAST_SHOWN, _LEAST_OF_WALL = 0.9, 0.6
"""Least share of all walls and of the floor, and of each wall, that some frame of the video shows."""
_INSIDE_M = 0.3
"""Least distance of a doorway between two rooms of the outline from its walls."""
_LEAST_M2 = 2.0
_VIDEOS, _MOST = 120, 8
"""Videos that are tried, and largest number that are asked about: the area is the same in all of them."""


@dataclass(frozen=True, kw_only=True)
class RoomInVideo(Facts):
    """The frames of a video, and four areas of which one is right."""

    frames: Int64[np.ndarray, "n v"]
    areas_m2: Float64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class RoomArea(Template):
    """The floor area inside the walls of a room, for clips with metric scale. Measures its natural logarithm (in square
    metres).

    A video shows the room if its frames show nine tenths of the walls and six tenths of each, where the depth of a
    frame is that of the wall, and if nine tenths of the floor lie in their directions.
    """

    name: str = "room_area"
    version: str = "1"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("numeric", "choice")
    facts: ClassVar[type[Facts]] = RoomInVideo
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "room"})
    reads: frozenset[str] = SURFACE | {"room"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> RoomInVideo:
        """Random videos that show the room all round, each with the area at any place among the four."""
        frames = random_videos(frames_with_surface(scene), rng, _VIDEOS)
        area = area_of(scene.room.outline) if scene.room is not None else 0.0
        at = rng.integers(len(MARKS), size=len(frames))
        areas = area * _STEP ** (np.arange(len(MARKS)) - at[:, None])
        facts = RoomInVideo(frames=frames, areas_m2=_rounded(areas))
        return facts.take(np.flatnonzero(self.measure(facts, scene).why == "")[: min(count, _MOST)])

    def measure(self, facts: RoomInVideo, scene: Scene) -> Measured:
        """The area inside the outline; σ: that of each wall along its length, and the scale."""
        room = scene.room
        if room is None or len(room.outline) < 3:
            return Measured.none(len(facts), "the walls of the room are not known")
        area, walls = area_of(room.outline), lengths(room)
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = np.hypot(np.linalg.norm(walls * room.wall_sigma) / area, 2 * scene.metre_relative_sigma)
            error = np.abs(np.log(facts.areas_m2 / area))
        shown, of_wall, outside, largest = _coverage(scene, room, facts.frames)
        every = np.full((len(facts), 1), sigma)
        label, wrong = nearest(error, _FITS, 0.8 * np.log(_STEP))
        cases = {
            "scale is not metric": np.isnan(scene.metre_relative_sigma),
            "a wall was not seen": not np.isfinite(room.wall_sigma).all(),
            "the walls surround several rooms": _divided(room),
            "the room is too small": area < _LEAST_M2,
            "the camera leaves the room": outside,
            "the video does not show the whole room": (shown < _LEAST_SHOWN) | (of_wall < _LEAST_OF_WALL),
            **wrong,
        }
        one = np.maximum(largest * area, 0.1)
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.full((len(facts), 1), np.log(area)),
            sigma=every,
            label=label,
            margin=margin(error, np.repeat(every, len(MARKS), axis=1)),
            evidence={
                "shown": shown.round(2),
                "relative_sigma": every[:, 0].round(4),
                "walls_m": np.tile(np.round(walls, 2), (len(facts), 1)),
            },
            traps={
                "what one frame shows": one.round(1),
                "the free floor alone": np.full(len(facts), (room.cells == 1).sum() * room.cell**2).round(1),
                "as much as one frame shows": named(np.abs(np.log(facts.areas_m2 / one[:, None])), np.log(_STEP) / 2),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """Square metres with a tolerance of 15 %; or the number of the option."""
        if format == "choice":
            return measured.as_label()
        area = np.exp(measured.value)
        return Numbers.within_share(
            "area",
            area,
            area * measured.sigma,
            self.max_tolerances.size_ratio,
            measured.outliers,
            unit="m²",
            decimals=1,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video."""
        options = tuple(f"{area:g} m²" for area in fact["areas_m2"]) if format == "choice" else ()
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), options=options)


def _coverage(scene: Scene, room: Room, frames: Int64[np.ndarray, "n v"]) -> tuple[np.ndarray, ...]:
    """Of each video: the least share that it shows of all walls and of the floor; that of any wall; whether the camera
    leaves the room; and the largest share of the floor that one frame shows."""
    points = scene.once("wall points", lambda: wall_points(room))
    each, row = np.unique(frames, return_inverse=True)
    row = row.reshape(frames.shape)
    seen = np.array([shown_walls(scene, points, f) for f in each.tolist()]).reshape(len(each), len(points.wall))
    floor = np.array([shown_floor(scene, room, f) for f in each.tolist()] or np.empty((0, 1)), dtype=bool)
    camera = scene.world_from_cam(each)[:, :3, 3]
    outside = np.asarray(~inside(room.outline, on_floor_plan(room, camera)) & (each >= 0))
    any_frame: Bool[np.ndarray, "n p"] = np.asarray(seen[row].any(axis=1))
    walls = [any_frame[:, points.wall == k] for k in np.unique(points.wall)]
    of_wall = np.min([wall.mean(axis=1) for wall in walls], axis=0)
    shown = np.minimum(any_frame.mean(axis=1), floor[row].any(axis=1).mean(axis=1))
    largest = floor.mean(axis=1)[row].max(axis=1, initial=0.0)
    return shown, of_wall, np.asarray(outside[row].any(axis=1)), largest


def _divided(room: Room) -> bool:
    """Whether a doorway lies inside the outline: a wall divides it."""
    middles = room.doorways.reshape(-1, 2, 2).mean(axis=1)
    start = room.outline
    along = np.roll(start, -1, axis=0) - start
    share = np.einsum("dmi,mi->dm", middles[:, None] - start, along) / np.maximum(np.sum(along**2, axis=1), 1e-12)
    nearest_on_wall = start + np.clip(share, 0, 1)[..., None] * along
    off = np.linalg.norm(middles[:, None] - nearest_on_wall, axis=2).min(axis=1, initial=np.inf)
    return bool((inside(room.outline, middles) & (off > _INSIDE_M)).any())


def _rounded(areas: Float64[np.ndarray, "n 4"]) -> Float64[np.ndarray, "n 4"]:
    """To half a square metre; below 5 m² to a tenth."""
    return np.where(areas < 5, areas.round(1), (2 * areas).round() / 2)
