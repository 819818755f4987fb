"""L1/Geometry/Size: how high or wide an object is, and which of three objects has the largest volume."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.columns import Json, Texts
from templates.cue import Cue, boxes, object_in
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing, Question
from templates.scene.misleading import mixed
from templates.scene.object_boxes import Row, corners_cam, longest_sides, outliers, upright_sides, volumes
from templates.scene.object_groups import ThreeObjects, areas_px, object_groups, stacked_boxes
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_SIDES = ("height", "width")
_BANDS_CM = (30.0, 60.0, 120.0)
_BANDS = ("under 30 cm", "30 to 60 cm", "60 to 120 cm", "over 120 cm")
_OFF_BORDER = np.log(1.1)
"""Least |ln| of the ratio of a size to the border of its band."""
_LEAST_CM = 5.0
_MARKS = ("1", "2", "3")
_VISIBLE = np.log(1.5) - 1e-9
"""Least |ln| of a ratio of volumes that people can see; 1.5 itself counts, whatever the unit of length."""


@dataclass(frozen=True, kw_only=True)
class Sides(Facts):
    """A side of an object that a box marks."""

    object: ObjectRefs
    side: Texts
    """One of `_SIDES`."""


@dataclass(frozen=True, kw_only=True)
class ObjectSize(Template):
    """Height or width of an object, for clips with metric scale. Measures ln of it in centimetres."""

    name: str = "object_size"
    version: str = "1"
    ability: str = "L1/Geometry/Size"
    formats: tuple[FormatName, ...] = ("numeric", "choice")
    facts: ClassVar[type[Facts]] = Sides
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _BANDS}
    cue_formats: tuple[FormatName, ...] = ("numeric",)
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Sides:
        """Random sides of random whole objects."""
        seen = boxed(seen_objects(scene), scene)
        rows = rng.permutation(len(seen))[:count]
        return Sides(object=seen.take(rows).refs(), side=np.array(_SIDES)[rng.integers(len(_SIDES), size=len(rows))])

    def measure(self, facts: Sides, scene: Scene) -> Measured:
        """Log size; σ includes that of the scale."""
        found = found_again(scene, facts.object)
        sides = upright_sides(scene, facts.object.frame, found)
        is_height = facts.side == "height"
        size, other = (np.where(which, sides.height, sides.width) * 100 for which in (is_height, ~is_height))
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log(size)
            sigma = np.where(is_height, sides.height_sigma, sides.width_sigma) * 100 / size
        sigma = np.hypot(sigma, scene.metre_relative_sigma)
        cases = {
            "scale is not metric": np.isnan(scene.metre_relative_sigma),
            "an object is not found again": found < 0,
            "the size of an object is not known": ~np.isfinite(value) | ~np.isfinite(sigma),
            "the object is too small": size < _LEAST_CM,
        }
        away = np.linalg.norm(corners_cam(scene, facts.object.frame, found)[0].mean(axis=1), axis=1)
        factors = {"a quarter of": 1 / 4, "half": 1 / 2, "twice": 2, "four times": 4}
        return Measured(
            why=first_reason(len(facts), cases),
            value=value[:, None],
            sigma=sigma[:, None],
            outlier_probability=outliers(scene, found),
            evidence={
                "relative_sigma": sigma.round(4),
                "range_m": away.round(3),
                "spans_deg": np.degrees(2 * np.arctan(size / (200 * away))).round(1),
            },
            traps={
                "height and width exchanged": _band(other),
                **{f"{name} the size": _band(factor * size) for name, factor in factors.items()},
                "the other side measured": other.round(),
                "metres": size.round() / 100,
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer | Answers:
        """Centimetres with a tolerance of 15 %, at least 3 cm; or the band."""
        size = np.exp(measured.value)
        if format == "choice":
            off = np.abs(measured.value - np.log(_BANDS_CM)).min(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                margin = off / measured.sigma[:, 0]
            label = Label(text=_band(size[:, 0]), margin=margin, outlier_probability=measured.outliers)
            return Answers.of(label, first_reason(len(facts), {"the size is near a border": off < _OFF_BORDER}))
        return Numbers(
            names=("size",),
            value=size,
            sigma=size * measured.sigma,
            tolerance=np.floor(np.maximum(self.max_tolerances.size_ratio * size, self.max_tolerances.size_cm)),
            unit="cm",
            decimals=0,
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box. The object has no name, which would tell its usual size."""
        return Phrasing(media=(Photo.boxed({"": fact["object"]}),), wording=f"{format}.{fact['side']}")

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The size."""
        if len(found := boxes(question)) != 1:
            return None
        side = {"height": "high", "width": "wide"}[question.fact["side"]]
        text = f"{object_in(found[0], numbers)} is {question.answer:g} cm {side}."
        return Cue(text=text, values=(float(question.answer),), pixels=(found[0][0],))


def _band(size_cm: Float64[np.ndarray, "n"]) -> Texts:
    return np.array(_BANDS)[np.searchsorted(_BANDS_CM, size_cm)]


@dataclass(frozen=True, kw_only=True)
class ObjectVolume(Template):
    """Volumes of the boxes of three objects. Measures ln of each, relative to the mean of the three."""

    name: str = "object_volume"
    version: str = "1"
    ability: str = "L1/Geometry/Size"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = ThreeObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreeObjects:
        """Triples of whole objects; in half of them the largest one in the picture has not the largest volume."""
        groups = object_groups(scene, rng, count, len(_MARKS), known="sides")
        facts = ThreeObjects.of(groups)
        measured = self._measured(facts, scene, groups.objects)
        misleading = measured.value.argmax(axis=1) != areas_px(stacked_boxes(facts.each)).argmax(axis=1)
        answers = [self.answer(format, facts, measured) for format in self.formats]
        return facts.take(mixed(misleading, answers, count, rng))

    def measure(self, facts: ThreeObjects, scene: Scene) -> Measured:
        """Log volumes; σ from those of the sides."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in facts.each])

    def _measured(self, facts: ThreeObjects, scene: Scene, objects: list[Row]) -> Measured:
        each = [volumes(scene, facts.first.frame, found) for found in objects]
        volume, sigma = (np.column_stack(column) for column in zip(*each, strict=True))
        longest = np.column_stack([longest_sides(scene, facts.first.frame, found) for found in objects])
        in_picture = areas_px(stacked_boxes(facts.each))
        cases = {
            "an object is not found again": np.any([found < 0 for found in objects], axis=0),
            "the size of an object is not known": ~np.isfinite(volume + sigma).all(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=volume - volume.mean(axis=1, keepdims=True),
            sigma=sigma,
            outlier_probability=outliers(scene, *objects),
            evidence={
                "relative_sigma": sigma.max(axis=1).round(4),
                "volumes": np.exp(volume).round(4),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "the largest one in the picture": np.array(_MARKS)[in_picture.argmax(axis=1)],
                "the longest one": np.array(_MARKS)[np.nan_to_num(longest).argmax(axis=1)],
                "by size in the picture": order_labels((-in_picture).argsort(axis=1) + 1),
                "by length": order_labels((-longest).argsort(axis=1) + 1),
                "reversed": order_labels(volume.argsort(axis=1) + 1),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The order from the largest to the smallest, or the largest one, if the differences can be seen."""
        order = (-measured.value).argsort(axis=1)
        value, sigma = (np.take_along_axis(each, order, axis=1) for each in (measured.value, measured.sigma))
        if format == "order":
            steps, spread = -np.diff(value, axis=1), np.hypot(sigma[:, 1:], sigma[:, :-1])
            text = order_labels(order + 1)
        else:
            steps, spread = value[:, :1] - value[:, 1:], np.hypot(sigma[:, :1], sigma[:, 1:])
            text = np.array(_MARKS)[order[:, 0]]
        cases = {
            "the size of an object is not known": np.isnan(value + sigma).any(axis=1),
            "two objects are about equally large": (steps < _VISIBLE).any(axis=1),
        }
        label = Label(text=text, margin=margin_of_all(steps, spread), outlier_probability=measured.outliers)
        return Answers.of(label, first_reason(len(facts), cases))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three boxes."""
        boxes = dict(zip(_MARKS, (fact["first"], fact["second"], fact["third"]), strict=True))
        written = numbers_in_order(answer.to_json().answer) if format == "order" else None
        return Phrasing(media=(Photo.boxed(boxes),), answer=written)
