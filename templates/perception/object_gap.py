"""L1/Geometry/Distance: how far apart two objects are, and which of three objects is nearest to another one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer, Numbers
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed
from templates.scene.object_boxes import Row, outliers, range_to_boxes
from templates.scene.object_gaps import gaps
from templates.scene.object_groups import object_groups, stacked_boxes
from templates.scene.objects import found_again
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_NOT_FOUND = "an object is not found again"
_UNKNOWN = "the box of an object is not known"
_LEAST_DIFFERENCE_M = 0.15
_LEAST_RATIO = 1.25
"""By so much the next object is farther: in metres, or without a metric scale as a ratio."""
_UNFILLED = 0.25
"""The nearest parts of two objects may lie inside their boxes by this share of the way to the centres."""
_MARKS = ("1", "2", "3")
_ANCHOR = "P"


@dataclass(frozen=True, kw_only=True)
class Apart(Facts):
    """Two objects of one photo."""

    first: ObjectRefs
    second: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class ObjectGap(Template):
    """Shortest distance between the boxes of two objects, for clips with metric scale. Measures metres."""

    name: str = "object_gap"
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = Apart
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Apart:
        """Random pairs of whole objects whose boxes do not overlap in the picture; those whose distance is sure."""
        groups = object_groups(scene, rng, count, 2, known="sides")
        first, second = groups.refs()
        facts = Apart(first=first, second=second)
        measured = self._measured(facts, scene, groups.objects)
        distance = Answers.of(self.answer("numeric", facts, measured), measured.why)
        return facts.take(mixed(np.zeros(len(facts), dtype=bool), [distance], count, rng))

    def measure(self, facts: Apart, scene: Scene) -> Measured:
        """The distance; σ includes that of the scale."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in (facts.first, facts.second)])

    def _measured(self, facts: Apart, scene: Scene, objects: list[Row]) -> Measured:
        frame = facts.first.frame
        gap, sigma, between_centres = gaps(scene, frame, *objects)
        metre = scene.metre_relative_sigma
        cases = {
            "scale is not metric": np.isnan(metre),
            _NOT_FOUND: np.any([found < 0 for found in objects], axis=0),
            _UNKNOWN: ~np.isfinite(gap) | ~np.isfinite(sigma),
            "the objects touch or nearly touch": gap < self.max_tolerances.gap_m,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=gap[:, None],
            sigma=np.hypot(sigma, gap * metre)[:, None],
            outlier_probability=outliers(scene, *objects),
            evidence={"sigma_m": sigma.round(4), "between_centres_m": between_centres.round(3)},
            traps={
                "centre to centre": between_centres.round(2),
                "from the camera to the first object": range_to_boxes(scene, frame, objects[0])[0].round(2),
                "from the camera to the second object": range_to_boxes(scene, frame, objects[1])[0].round(2),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """Metres with a tolerance of 15 %, at least 5 cm."""
        tolerance = np.maximum(self.max_tolerances.size_ratio * measured.value, self.max_tolerances.gap_m)
        return Numbers(
            names=("distance",),
            value=measured.value,
            sigma=measured.sigma,
            tolerance=np.floor(tolerance * 100 + 1e-6) / 100,
            unit="m",
            decimals=2,
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values={"a": a["name"], "b": b["name"]})


@dataclass(frozen=True, kw_only=True)
class Neighbours(Facts):
    """An object, and three others of the same photo."""

    anchor: ObjectRefs
    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs

    @property
    def others(self) -> tuple[ObjectRefs, ...]:
        """In the order of their marks."""
        return self.first, self.second, self.third


@dataclass(frozen=True, kw_only=True)
class NearestObject(Template):
    """Which of three objects is nearest to another one. Measures the distances between the boxes, in path units."""

    name: str = "nearest_object"
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Neighbours
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Neighbours:
        """Whole objects whose boxes do not overlap; in half of the groups another one is nearest in the picture."""
        groups = object_groups(scene, rng, count, 1 + len(_MARKS), known="sides")
        anchor, first, second, third = groups.refs()
        facts = Neighbours(anchor=anchor, first=first, second=second, third=third)
        measured = self._measured(facts, scene, groups.objects)
        misleading = np.asarray(measured.label != measured.traps["nearest in the picture"])
        nearest = Answers.of(measured.as_label(), measured.why)
        return facts.take(mixed(misleading, [nearest], count, rng))

    def measure(self, facts: Neighbours, scene: Scene) -> Measured:
        """The mark of the nearest object. σ includes that the nearest parts of objects may lie inside their boxes."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in (facts.anchor, *facts.others)])

    def _measured(self, facts: Neighbours, scene: Scene, objects: list[Row]) -> Measured:
        frame, (anchor, *others) = facts.anchor.frame, objects
        found = [gaps(scene, frame, anchor, other) for other in others]
        gap, box_sigma, between_centres = (np.column_stack(column) for column in zip(*found, strict=True))
        sigma = np.hypot(box_sigma, _UNFILLED * (between_centres - gap))
        order = gap.argsort(axis=1)
        ordered, ordered_sigma = (np.take_along_axis(each, order, axis=1) for each in (gap, sigma))
        differences = ordered[:, 1:] - ordered[:, :1]
        is_metric = np.isfinite(scene.metre_relative_sigma)
        with np.errstate(invalid="ignore"):
            close = (
                differences[:, 0] < _LEAST_DIFFERENCE_M if is_metric else ordered[:, 1] < _LEAST_RATIO * ordered[:, 0]
            )
        cases = {
            _NOT_FOUND: np.any([each < 0 for each in objects], axis=0),
            _UNKNOWN: ~np.isfinite(gap + sigma).all(axis=1),
            "two objects are about equally near": close,
        }
        ranges = np.column_stack([range_to_boxes(scene, frame, other)[0] for other in others])
        return Measured(
            why=first_reason(len(facts), cases),
            value=gap,
            sigma=sigma,
            label=np.array(_MARKS)[order[:, 0]],
            margin=margin_of_all(differences, np.hypot(ordered_sigma[:, 1:], ordered_sigma[:, :1])),
            outlier_probability=outliers(scene, *objects),
            evidence={
                "difference": differences[:, 0].round(4),
                "gaps": gap.round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "nearest in the picture": np.array(_MARKS)[_gaps_px(facts).argmin(axis=1)],
                "centre to centre": np.array(_MARKS)[between_centres.argmin(axis=1)],
                "nearest to the camera": np.array(_MARKS)[ranges.argmin(axis=1)],
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with four boxes."""
        each = (fact[name] for name in ("anchor", "first", "second", "third"))
        photo = Photo.boxed(dict(zip((_ANCHOR, *_MARKS), each, strict=True)))
        return Phrasing(media=(photo,), values={"name": fact["anchor"]["name"]})


def _gaps_px(facts: Neighbours) -> Float64[np.ndarray, "n 3"]:
    """Distances in the picture between the box of the anchor and those of the others."""
    anchor, others = facts.anchor.box_px[:, None], stacked_boxes(facts.others)
    apart = np.maximum(np.maximum(others[:, :, 0] - anchor[:, :, 1], anchor[:, :, 0] - others[:, :, 1]), 0)
    return np.asarray(np.linalg.norm(apart, axis=2))
