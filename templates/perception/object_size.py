"""L1/Geometry/Size: which of two objects is wider, and how many times as wide."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json
from templates.cue import Cue, boxes, object_in
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.larger_or_ratio import larger_or_ratio
from templates.question import FormatName, Phrasing, Question
from templates.scene.misleading import mixed
from templates.scene.object_boxes import Row, outliers, upright_sides
from templates.scene.object_groups import object_groups
from templates.scene.objects import UNNAMED, found_again
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MARKS = ("1", "2")
_VISIBLE = np.log(1.25) - 1e-9
"""Least |ln| of a ratio of widths that people can see."""


@dataclass(frozen=True, kw_only=True)
class TwoObjects(Facts):
    """Objects of one photo."""

    first: ObjectRefs
    second: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class WiderObject(Template):
    """Widths of two objects that boxes mark: their longer horizontal sides. Measures ln(width 2 / width 1)."""

    name: str = "wider_object"
    version: str = "2"
    ability: str = "L1/Geometry/Size"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = TwoObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    cue_formats: tuple[FormatName, ...] = ("numeric",)
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoObjects:
        """Pairs of whole objects with different names (or doubtful ones); in half of them the narrower object is wider
        in the picture."""
        groups = object_groups(scene, rng, count, 2, known="box")
        called = groups.seen.called[groups.rows]
        groups = groups.take((called[:, 0] != called[:, 1]) | (called[:, 0] == UNNAMED))
        first, second = groups.refs()
        facts = TwoObjects(first=first, second=second)
        measured = self._measured(facts, scene, groups.objects)
        misleading = measured.value[:, 0] * _widths_px(facts) < 0
        return facts.take(mixed(misleading, [self.answer("choice", facts, measured)], count, rng))

    def measure(self, facts: TwoObjects, scene: Scene) -> Measured:
        """Log ratio of the widths; σ from those of the sides."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in (facts.first, facts.second)])

    def _measured(self, facts: TwoObjects, scene: Scene, objects: list[Row]) -> Measured:
        a, b = (upright_sides(scene, facts.first.frame, found) for found in objects)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log(b.width / a.width)
            sigma = np.hypot(a.width_sigma / a.width, b.width_sigma / b.width)
        in_picture = _widths_px(facts)
        cases = {
            "an object is not found again": np.any([found < 0 for found in objects], axis=0),
            "the width of an object is not known": ~np.isfinite(value) | ~np.isfinite(sigma),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value[:, None],
            sigma=sigma[:, None],
            outlier_probability=outliers(scene, *objects),
            evidence={
                "width_ratio": np.exp(value).round(4),
                "relative_sigma": sigma.round(4),
                "widths": np.column_stack([a.width, b.width]).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "wider in the picture": np.where(in_picture > 0, "2", "1"),
                "measured in the picture": np.exp(in_picture).round(2),
                "divided the other way": np.exp(-value).round(2),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The wider object, if the difference can be seen; or the ratio with a tolerance of 15 %."""
        equal = np.abs(measured.value[:, 0]) < _VISIBLE
        why = first_reason(len(facts), {"two objects are about equally wide": equal})
        return Answers.of(larger_or_ratio(format, measured, self.max_tolerances.size_ratio), why)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes, by their names."""
        a, b = fact["first"], fact["second"]
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values={"a": a["name"], "b": b["name"]})

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The ratio."""
        if len(found := boxes(question)) != 2:
            return None
        (a, b), times = found, f"{question.answer:g} times as wide as"
        text = f"{object_in(b, numbers)} is {times} {object_in(a, numbers)}."
        return Cue(text=text, values=(float(question.answer),), pixels=(a[0], b[0]))


def _widths_px(facts: TwoObjects) -> Float64[np.ndarray, "n"]:
    """Log ratio of the widths in the picture."""
    a, b = (each.box_px[:, 1, 0] - each.box_px[:, 0, 0] for each in (facts.first, facts.second))
    return np.log(b / a)
