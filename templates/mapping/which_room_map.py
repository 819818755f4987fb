"""L2/Memory/Cognitive Map: which drawn floor plan shows where four objects are that no photo shows together."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.mapping.four_objects import MARKS, OBJECTS, FourObjects, plans, propose_four
from templates.measured import Measured, first_reason
from templates.media import Drawing, Photo, Polygon
from templates.offer import Offer
from templates.perception.nearest_option import first_of, margin, named, nearest, right_and_others
from templates.question import FormatName, Phrasing
from templates.scene.object_boxes import Row
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

Maps = Float64[np.ndarray, "n _ 4 2"]
"""Places of four objects on any number of maps, in sides of the true one: right and up from the middle."""
_APART, _FITS = 0.5, 0.1
"""Least difference between two options, and largest error of the right one: the largest shift of an object, in mean
distances of the objects from their middle."""
_LEAST_MOVE, _LARGEST_MOVE = 0.3, 0.7
"""Of the object that a wrong map shows elsewhere, in sides of the map."""
_SIDE, _CLEARANCE = 0.12, 0.17
"""Side of the square of an object, and least distance between two middles."""
_LEAST_DEPTH = 0.35
"""Least ratio of the sides of the rectangle around the objects: a row of objects is no plan."""
_SURE = 0.99
"""Least P(right) of an answer that is proposed."""
_PAIRS = tuple(combinations(range(OBJECTS), 2))
_OTHER_FORMAT = "asked in the other format"


@dataclass(frozen=True, kw_only=True)
class ObjectsOnMaps(FourObjects):
    """Four objects, and four maps of which one is right."""

    maps: Float64[np.ndarray, "n 4 4 2"]
    asked: Int64[np.ndarray, "n"]
    """Index of the map that is asked about with yes or no; -1 where all four are shown."""


@dataclass(frozen=True, kw_only=True)
class WhichRoomMap(Template):
    """Which of four floor plans has four objects at their places, on which the camera of photo 1 faces up. Measures how
    far each plan is off: the largest shift of an object, in mean distances from their middle."""

    name: str = "which_room_map"
    version: str = "1"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = ObjectsOnMaps
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = SURFACE | {"gravity", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ObjectsOnMaps:
        """The right map and three wrong ones in random order. Half of the facts are asked with yes or no, and half of
        these about the right map."""
        four, objects = propose_four(scene, rng)
        plan = plans(scene, four, objects)
        known = np.flatnonzero(plan.why == "")[: 4 * count]
        each = _candidates(plan.in_units[known], rng).round(2)
        rows, chosen = right_and_others(_apart(each), rng)
        right = (chosen == 0).argmax(axis=1)
        wrong = (right + rng.integers(1, len(MARKS), size=len(rows))) % len(MARKS)
        kind = rng.integers(4, size=len(rows))
        facts = ObjectsOnMaps(
            **{name: getattr(four.take(known[rows]), name) for name in ("first", "second", "third", "fourth")},
            maps=each[rows[:, None], chosen],
            asked=np.select([kind < 2, kind == 2], [np.full(len(rows), -1), right], wrong),
        )
        measured = _measured(scene, facts, [each[known[rows]] for each in objects])
        return facts.take(np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))[:count])

    def measure(self, facts: ObjectsOnMaps, scene: Scene) -> Measured:
        """The map with the smallest error; σ: the places of the objects, the poses of their photos, and gravity."""
        return _measured(scene, facts, facts.found(scene))

    def answer(self, format: FormatName, facts: ObjectsOnMaps, measured: Measured) -> Answers:
        """The number of the map; or yes or no."""
        other = (facts.asked < 0) == (format == "yes_no")
        return Answers.of(measured.as_label(), np.where(other, _OTHER_FORMAT, ""))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos in order of time, with a box for each object, and the maps."""
        refs = dict(zip(MARKS, (fact[key] for key in ("first", "second", "third", "fourth")), strict=True))
        photos, maps = Photo.all_boxed(refs), tuple(_drawn(places) for places in fact["maps"])
        if format == "yes_no":
            return Phrasing(media=(*photos, maps[fact["asked"]]))
        return Phrasing(media=photos, options=maps)


def _measured(scene: Scene, facts: ObjectsOnMaps, objects: list[Row]) -> Measured:
    plan = plans(scene, facts, objects)
    true = plan.in_units[:, None]
    error = _off(facts.maps, true)
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = (plan.sigma / plan.extent[:, None] / _radius(true)[:, 0]).max(axis=1)
        sides = np.ptp(plan.xy, axis=1)
        row = ~(sides.min(axis=1) >= _LEAST_DEPTH * sides.max(axis=1))
    number, cases = nearest(error, _FITS, 0.9 * _APART)
    cases = {"the objects stand in a row": row, **cases}
    why = np.where(plan.why == "", first_reason(len(facts), cases), plan.why)
    every = np.repeat(sigma[:, None], len(MARKS), axis=1)
    swapped = np.stack([_off(facts.maps, _exchanged(true, *pair)) for pair in _PAIRS]).min(axis=0)
    stays = np.linalg.norm(facts.maps - true, axis=3) < _LEAST_MOVE / 2
    mistakes = {
        "mirrored": named(_off(facts.maps, true * [-1, 1]), _FITS),
        "turned by 90°": named(np.minimum(*(_off(facts.maps, _turned(true, k)) for k in (1, 3))), _FITS),
        "turned around": named(_off(facts.maps, -true), _FITS),
        "two objects exchanged": named(swapped, _FITS),
        "one object moved": first_of(stays.sum(axis=2) == OBJECTS - 1),
    }
    return Measured(
        why=why,
        value=error,
        sigma=every,
        label=_said(number, facts.asked),
        margin=margin(error, every),
        outlier_probability=plan.outlier_probability,
        evidence={"right_ahead": plan.xy.round(2)},
        traps={name: np.where(facts.asked < 0, trap, "") for name, trap in mistakes.items()},
    )


def _said(number: Texts, asked: Int64[np.ndarray, "n"]) -> Texts:
    """The number of the map; yes or no where one is asked about."""
    shown = np.array(MARKS)[asked]
    return np.where(asked < 0, number, np.where(shown == number, "yes", "no"))


def _candidates(right: Float64[np.ndarray, "n 4 2"], rng: np.random.Generator) -> Maps:
    """The right map, maps of typical mistakes, and maps of two mistakes, so that the right one is not that which all
    others are like."""
    pairs = rng.permuted(np.tile(np.arange(OBJECTS), (len(right), 1)), axis=1)
    one, other = _swapped(right, pairs[:, :2]), _swapped(right, pairs[:, 2:])
    moved, away = (_moved(right, rng) for _ in range(2))
    each = [right, right * [-1, 1], *(_turned(right, k) for k in (1, 2, 3)), one, other, moved, away]
    each += [one * [-1, 1], _turned(other, 1), _turned(moved, 3), moved * [-1, 1], _swapped(away, pairs[:, :2])]
    return np.stack(each, axis=1)


def _turned(maps: Float64[np.ndarray, "*n 2"], quarters: int) -> Float64[np.ndarray, "*n 2"]:
    """Anticlockwise."""
    return np.asarray(maps @ np.linalg.matrix_power(np.array([[0, 1], [-1, 0]]), quarters))


def _exchanged(maps: Float64[np.ndarray, "*n 4 2"], a: int, b: int) -> Float64[np.ndarray, "*n 4 2"]:
    order = np.arange(OBJECTS)
    order[[a, b]] = b, a
    return maps[..., order, :]


def _swapped(maps: Float64[np.ndarray, "n 4 2"], pair: Int64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "n 4 2"]:
    """With two objects of each map exchanged."""
    rows, changed = np.arange(len(maps))[:, None], maps.copy()
    changed[rows, pair] = maps[rows, pair[:, ::-1]]
    return changed


def _moved(maps: Float64[np.ndarray, "n 4 2"], rng: np.random.Generator) -> Float64[np.ndarray, "n 4 2"]:
    """With one object of each map elsewhere."""
    rows, changed = np.arange(len(maps)), maps.copy()
    way = rng.uniform(0, 2 * np.pi, len(maps))
    shift = rng.uniform(_LEAST_MOVE, _LARGEST_MOVE, len(maps))[:, None] * np.column_stack([np.cos(way), np.sin(way)])
    changed[rows, rng.integers(OBJECTS, size=len(maps))] += shift
    return changed


def _radius(maps: Maps) -> Float64[np.ndarray, "n _ 1"]:
    """Mean distance of the objects of each map from their middle."""
    offset = maps - maps.mean(axis=2, keepdims=True)
    return np.asarray(np.linalg.norm(offset, axis=3).mean(axis=2, keepdims=True))


def _off(maps: Maps, others: Maps) -> Float64[np.ndarray, "n _"]:
    """The largest shift of an object between maps that are brought to one middle and one size: nothing else of a map
    is seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = ((each - each.mean(axis=2, keepdims=True)) / _radius(each)[..., None] for each in (maps, others))
    return np.asarray(np.linalg.norm(one - other, axis=3).max(axis=2))


def _apart(maps: Maps) -> Bool[np.ndarray, "n m m"]:
    """Whether two maps differ visibly; with itself, whether the objects of a map are apart."""
    count = maps.shape[1]
    different = np.stack([_off(maps, maps[:, [k]]) >= _APART for k in range(count)], axis=2)
    a, b = np.array(_PAIRS).T
    clear = (np.linalg.norm(maps[:, :, a] - maps[:, :, b], axis=3) >= _CLEARANCE).all(axis=2)
    return np.where(np.eye(count, dtype=bool), clear[:, :, None], different)


def _drawn(places: Json) -> Drawing:
    """A square with a number for each object."""
    corners = _SIDE / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return Drawing(
        polygons=tuple(
            Polygon(corners=tuple((round(x + dx, 3), round(y + dy, 3)) for dx, dy in corners.tolist()), text=mark)
            for mark, (x, y) in zip(MARKS, places, strict=True)
        )
    )
