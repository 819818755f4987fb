"""L1/Geometry/Distance: which of three objects is closest to the camera."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.object_boxes import outliers, range_to_boxes
from templates.scene.objects import boxed, found_again, meet, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_MARKS = ("1", "2", "3")
_LEAST_GAP = 0.05
"""Least difference between the two smallest distances, as a share of the smallest."""
_TRIES = 4
"""Triples drawn for each that is proposed: boxes may overlap."""


@dataclass(frozen=True, kw_only=True)
class ThreeObjects(Facts):
    """Objects of one photo."""

    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs

    @property
    def each(self) -> tuple[ObjectRefs, ...]:
        """In the order of their marks."""
        return self.first, self.second, self.third


@dataclass(frozen=True, kw_only=True)
class ClosestObject(Template):
    """The closest of three objects that boxes mark. Measures the distance from the camera to the nearest point of each
    object's box, in path units."""

    name: str = "closest_object"
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ThreeObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreeObjects:
        """Random triples of whole objects whose boxes do not overlap."""
        seen = boxed(seen_objects(scene), scene)
        frames, shown = np.unique(seen.frame, return_counts=True)
        frames, chosen = frames[shown >= len(_MARKS)], []
        for frame in rng.choice(frames, _TRIES * count) if len(frames) else ():
            rows = rng.choice(np.flatnonzero(seen.frame == frame), len(_MARKS), replace=False)
            if not any(meet(seen.box_px[a], seen.box_px[b]) for a, b in combinations(rows, 2)):
                chosen.append(rows)
        picked = np.array(chosen[:count], dtype=np.int64).reshape(-1, len(_MARKS))
        first, second, third = (seen.take(rows).refs() for rows in picked.T)
        return ThreeObjects(first=first, second=second, third=third)

    def measure(self, facts: ThreeObjects, scene: Scene) -> Measured:
        """The mark of the closest object; σ of each distance is that of its box."""
        objects = [found_again(scene, refs) for refs in facts.each]
        ranges = [range_to_boxes(scene, facts.first.frame, found) for found in objects]
        value, sigma = (np.column_stack(column) for column in zip(*ranges, strict=True))
        order = np.argsort(value, axis=1)
        (near, next_near), (near_sigma, next_sigma) = (
            np.take_along_axis(column, order, axis=1)[:, :2].T for column in (value, sigma)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            gap = next_near - near
            margin = gap / np.hypot(near_sigma, next_sigma)
        cases = {
            "an object is not found again": np.any([found < 0 for found in objects], axis=0),
            "the distance of an object is not known": np.isnan(value + sigma).any(axis=1),
            "two objects are about equally close": gap < _LEAST_GAP * near,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=sigma,
            label=np.array(_MARKS)[order[:, 0]],
            margin=margin,
            outlier_probability=outliers(scene, *objects),
            evidence={"gap": gap.round(4)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three boxes."""
        marks = tuple(
            Box(text=text, points_px=tuple(map(tuple, fact[name]["box_px"])))
            for text, name in zip(_MARKS, ("first", "second", "third"), strict=True)
        )
        return Phrasing(media=(Photo(frame=fact["first"]["frame"], marks=marks),))
