"""L1/Geometry/Distance: which of three objects is closest to the camera."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed
from templates.scene.object_boxes import Row, outliers, range_to_boxes
from templates.scene.object_groups import ThreeObjects, areas_px, object_groups, stacked_boxes
from templates.scene.objects import found_again
from templates.scene.scene import Scene
from templates.template import Template

_MARKS = ("1", "2", "3")
_LEAST_GAP = 0.05
"""Least difference between the two smallest distances, as a share of the smallest."""


@dataclass(frozen=True, kw_only=True)
class ClosestObject(Template):
    """The closest of three objects that boxes mark. Measures the distance from the camera to the nearest point of each
    object's box, in path units."""

    name: str = "closest_object"
    version: str = "3"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ThreeObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreeObjects:
        """Triples of whole objects whose boxes do not overlap; in half of them the lowest one in the picture is not the
        closest."""
        groups = object_groups(scene, rng, count, len(_MARKS))
        facts = ThreeObjects.of(groups)
        measured = self._measured(facts, scene, groups.objects)
        misleading = np.asarray(measured.label != measured.traps["the lowest one in the picture"])
        closest = Answers.of(measured.as_label(), measured.why)
        return facts.take(mixed(misleading, [closest], count, rng))

    def measure(self, facts: ThreeObjects, scene: Scene) -> Measured:
        """The mark of the closest object; σ of each distance is that of its box."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in facts.each])

    def _measured(self, facts: ThreeObjects, scene: Scene, objects: list[Row]) -> Measured:
        ranges = [range_to_boxes(scene, facts.first.frame, found) for found in objects]
        box_px = stacked_boxes(facts.each)
        value, sigma = (np.column_stack(column) for column in zip(*ranges, strict=True))
        order = np.argsort(value, axis=1)
        in_order, sigma_in_order = (np.take_along_axis(column, order, axis=1) for column in (value, sigma))
        farther = in_order[:, 1:] - in_order[:, :1]
        near, gap = in_order[:, 0], farther[:, 0]
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
            margin=margin_of_all(farther, np.hypot(sigma_in_order[:, 1:], sigma_in_order[:, :1])),
            outlier_probability=outliers(scene, *objects),
            evidence={
                "gap": gap.round(4),
                "distances": value.round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "the lowest one in the picture": np.array(_MARKS)[box_px[:, :, 1, 1].argmax(axis=1)],
                "the largest one in the picture": np.array(_MARKS)[areas_px(box_px).argmax(axis=1)],
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three boxes."""
        boxes = dict(zip(_MARKS, (fact["first"], fact["second"], fact["third"]), strict=True))
        return Phrasing(media=(Photo.boxed(boxes),))
