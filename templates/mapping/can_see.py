"""L2/Understanding/Perspective Taking: whether an object can be seen from a marked point."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Mark, Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import on_mover
from templates.scene.lines_of_sight import HIDDEN, SEEN, likely_seen_from_points, seen_from_points, ways_to
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import Row, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.point_groups import clear_pixels
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_TRIED = 12
"""Pairs of a point and an object that are looked at for each that is asked for."""
_SPARE = 6
"""Facts of each answer are at most this share of the proposed ones: these are measured, so that few are refused."""
_PORTION = 8
"""So many pairs, or as many as are still wanted, are measured at once until there are enough."""
CLEARLY = 10.0
"""Margin of an answer in σ: lines of sight are free or blocked by far."""
BESIDE = 0.02
"""Least distance of the mark from the box of the object, as a share of the diagonal."""


@dataclass(frozen=True, kw_only=True)
class PointAndObject(Facts):
    """A point and an object of one photo."""

    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    object: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class CanSee(Template):
    """Whether a camera at a point, turned as one likes, could see an object that the photo shows. Measures 1 for yes, 0
    for no."""

    name: str = "can_see"
    version: str = "1"
    ability: str = "L2/Understanding/Perspective Taking"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[Facts]] = PointAndObject
    needs: frozenset[str] = frozenset({"camera_path", "depth", "objects"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointAndObject:
        """As many objects that can be seen as hidden ones; different objects take turns."""
        facts, object, likely = points_and_objects(scene, rng, count)
        each, wanted = [], count // _SPARE
        for answer in sorted((SEEN, HIDDEN), key=likely.tolist().count):  # the rarer one says how many are wanted
            rows = np.flatnonzero(likely == answer)
            rows = rows[taking_turns(object[rows].astype(np.str_))]
            each.append(_sure(scene, facts, object, rows, wanted))
            wanted = len(each[-1])
        return facts.take(rng.permutation(np.concatenate([rows[:wanted] for rows in each])))

    def measure(self, facts: PointAndObject, scene: Scene) -> Measured:
        """Whether all lines of sight are free, or all blocked."""
        return _measured(scene, facts, found_again(scene, facts.object))

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """Yes or no."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a point and a box."""
        ref = fact["object"]
        box = Box(text="1", points_px=tuple(map(tuple, ref["box_px"])))
        marks = Mark(text="P", xy_px=tuple(fact["point_px"])), box
        return Phrasing(media=(Photo(frame=fact["frame"], marks=marks),), values={"name": ref["name"]})

    def placed(self, facts: PointAndObject, scene: Scene) -> Facts:
        """As they are: a pixel that is moved may no longer show its object."""
        return facts


def points_and_objects(
    scene: Scene, rng: np.random.Generator, count: int
) -> tuple[PointAndObject, Int64[np.ndarray, "n"], Texts]:
    """Points and objects of one photo each, the numbers of the objects in the scene, and whether the point likely sees
    the object: at most `_TRIED` times as many as `count`."""
    seen = boxed(seen_objects(scene), scene)
    frame, xy = clear_pixels(scene, rng, count)
    point, row = np.nonzero(frame[:, None] == seen.frame)
    beside = BESIDE * scene.diagonal_px
    away = np.maximum(seen.box_px[row, 0] - xy[point], xy[point] - seen.box_px[row, 1]).max(axis=1) > beside
    chosen = rng.permutation(np.flatnonzero(away))[: _TRIED * count]
    point, row = point[chosen], row[chosen]
    facts = PointAndObject(frame=frame[point], point_px=xy[point], object=seen.take(row).refs())
    object = seen.object[row]
    return facts, object, likely_seen_from_points(scene, facts.frame, facts.point_px, object)


def _sure(
    scene: Scene, facts: PointAndObject, object: Row, rows: Int64[np.ndarray, "k"], wanted: int
) -> Int64[np.ndarray, "m"]:
    """The first rows that can be answered."""
    sure = rows[:0]
    while len(sure) < wanted and len(rows):
        part, rows = np.split(rows, [max(_PORTION, wanted - len(sure))])
        sure = np.append(sure, part[_measured(scene, facts.take(part), object[part]).why == ""])
    return sure[:wanted]


def _measured(scene: Scene, facts: PointAndObject, object: Row) -> Measured:
    """The measurements of facts about these objects."""
    found = seen_from_points(scene, facts.frame, facts.point_px, object)
    doubt = scene.surface(facts.frame, facts.point_px).outlier_probability
    cases = {
        "an object is not found again": object < 0,
        "depth is not measured": np.full(len(facts), scene.measured_depth is None),
        "a marked point moves": on_mover(scene, facts.frame, facts.point_px),
        "not all lines of sight are free, or all blocked": found == "",
    }
    return Measured(
        why=first_reason(len(facts), cases),
        value=(found == SEEN).astype(float)[:, None],
        sigma=np.zeros((len(facts), 1)),
        label=found,
        margin=np.full(len(facts), CLEARLY),
        evidence={
            "distance": ways_to(scene, facts.frame, facts.point_px, object).round(2),
            "length_unit": np.full(len(facts), scene.length_unit),
        },
        outlier_probability=1 - (1 - np.nan_to_num(doubt, nan=1.0)) * (1 - outliers(scene, object)),
        traps={"the camera sees it": np.full(len(facts), SEEN)},
    )
