"""L1/Geometry/Size: which of two objects is wider, and how many times as wide."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.object_boxes import outliers, widths
from templates.scene.objects import UNNAMED, boxed, found_again, meet, seen_objects
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MARKS = ("1", "2")
_VISIBLE = np.log(1.25)
"""Least |ln| of a ratio of widths that people can see."""
_TRIES = 4
"""Pairs that are drawn for each one that is asked for."""


@dataclass(frozen=True, kw_only=True)
class TwoObjects(Facts):
    """Objects of one photo."""

    first: ObjectRefs
    second: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class WiderObject(Template):
    """Widths of two objects that boxes mark: their longer horizontal sides. Measures ln(width 2 / width 1)."""

    name: str = "wider_object"
    version: str = "1"
    ability: str = "L1/Geometry/Size"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = TwoObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoObjects:
        """Random pairs of whole objects with different names (or doubtful ones) whose boxes do not overlap."""
        seen = boxed(seen_objects(scene), scene)
        frames, shown = np.unique(seen.frame, return_counts=True)
        frames, chosen = frames[shown >= len(_MARKS)], []
        for frame in rng.choice(frames, _TRIES * count) if len(frames) else ():
            a, b = rng.choice(np.flatnonzero(seen.frame == frame), len(_MARKS), replace=False)
            if (seen.called[a] != seen.called[b] or seen.called[a] == UNNAMED) and not meet(
                seen.box_px[a], seen.box_px[b]
            ):
                chosen.append((a, b))
        first, second = (seen.take(rows).refs() for rows in np.array(chosen[:count], dtype=np.int64).reshape(-1, 2).T)
        return TwoObjects(first=first, second=second)

    def measure(self, facts: TwoObjects, scene: Scene) -> Measured:
        """Log ratio of the widths; σ from those of the sides."""
        objects = [found_again(scene, refs) for refs in (facts.first, facts.second)]
        (a, a_sigma), (b, b_sigma) = (widths(scene, facts.first.frame, found) for found in objects)
        with np.errstate(invalid="ignore", divide="ignore"):
            value, sigma = np.log(b / a), np.hypot(a_sigma / a, b_sigma / b)
        cases = {
            "an object is not found again": np.any([found < 0 for found in objects], axis=0),
            "the width of an object is not known": ~np.isfinite(value) | ~np.isfinite(sigma),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value[:, None],
            sigma=sigma[:, None],
            outlier_probability=outliers(scene, *objects),
            evidence={"width_ratio": np.exp(value).round(4), "relative_sigma": sigma.round(4)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The wider object, if the difference can be seen; or the ratio with a tolerance of 15 %."""
        value, sigma = measured.value[:, 0], measured.sigma[:, 0]
        why = first_reason(len(facts), {"two objects are about equally wide": np.abs(value) < _VISIBLE})
        if format == "choice":
            with np.errstate(divide="ignore", invalid="ignore"):
                margin = np.abs(value) / sigma
            text = np.where(value > 0, "2", "1")
            return Answers.of(Label(text=text, margin=margin, outlier_probability=measured.outliers), why)
        ratio = np.exp(measured.value)
        numbers = Numbers(
            names=("ratio",),
            value=ratio,
            sigma=ratio * measured.sigma,
            tolerance=np.floor(self.max_tolerances.size_ratio * ratio * 100 + 1e-6) / 100,
            unit="",
            decimals=2,
            outlier_probability=measured.outliers,
        )
        return Answers.of(numbers, why)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes, by their names."""
        a, b = fact["first"], fact["second"]
        marks = tuple(
            Box(text=text, points_px=tuple(map(tuple, each["box_px"])))
            for text, each in zip(_MARKS, (a, b), strict=True)
        )
        return Phrasing(media=(Photo(frame=a["frame"], marks=marks),), values={"a": a["name"], "b": b["name"]})
