"""L1/Geometry/Size: which objects can be carried through the gap between two others."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed, taking_turns
from templates.scene.object_boxes import Row, corners_cam, outliers, upright_sides
from templates.scene.object_gaps import gaps
from templates.scene.object_groups import object_groups
from templates.scene.object_pairs import random_pairs
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_MARKS = ("P", "Q", "1", "2")
"""Of the objects beside the gap, and of those that are carried through it."""
_WORDS = ("1", "2", "both", "neither")
_VISIBLE = np.log(1.25) - 1e-9
"""Least |ln| of the ratio of an object's width to that of the gap that people can see."""
_EASY = np.log(4)
"""Largest one that is worth asking about."""
_SAME_LEVEL = 0.15
"""Largest difference between the levels on which two objects stand, as a share of the height of the lower one."""
_FLAT = 0.1
"""Least ratio of the shorter horizontal side of an object to its height: pictures, windows and doors hang."""
_CHOICE = 4
"""So many facts are drawn for each that is asked for, so that answers can take turns."""
_MORE_FIT = 4
"""So many more objects may fit than not."""
_TRIES = 16
"""Pairs of objects drawn for each gap that is asked for: few stand beside each other."""


@dataclass(frozen=True, kw_only=True)
class GapAndObject(Facts):
    """Two objects of a photo with a gap between them, and another one."""

    beside: ObjectRefs
    opposite: ObjectRefs
    first: ObjectRefs

    @property
    def each(self) -> tuple[ObjectRefs, ...]:
        """In the order of their marks."""
        return self.beside, self.opposite, self.first


@dataclass(frozen=True, kw_only=True)
class GapAndTwoObjects(GapAndObject):
    """The same, and a fourth object."""

    second: ObjectRefs

    @property
    def each(self) -> tuple[ObjectRefs, ...]:
        """In the order of their marks."""
        return self.beside, self.opposite, self.first, self.second


@dataclass(frozen=True, kw_only=True)
class _ThroughGap(Template):
    """Whether objects that stay upright pass between two others, all as the upright boxes around them. Measures ln of
    the ratio of the shorter horizontal side of each to the gap.

    A convex body passes between two others if and only if its width is smaller than the gap (Strang 1982).
    """

    ability: str = "L1/Geometry/Size"
    facts: ClassVar[type[GapAndObject]]
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> GapAndObject:
        """Objects neither much wider nor much narrower than the gap. The answers take turns; in half of the facts the
        picture misleads."""
        names = [field.name for field in fields(self.facts)]
        groups = object_groups(scene, rng, _CHOICE * count, len(names), begin=_gaps_of(scene, rng, _TRIES * count))
        groups = groups.take(np.unique(groups.rows, axis=0, return_index=True)[1])
        facts = self.facts(**dict(zip(names, groups.refs(), strict=True)))
        measured = self._measured(facts, scene, groups.objects)
        near = np.flatnonzero((measured.why == "") & (np.abs(measured.value) <= _EASY).all(axis=1))
        facts, measured = facts.take(near), measured.take(near)
        misleading = (_by_picture(facts) < 0) != (measured.value < 0)
        answers = self.answer(self.formats[0], facts, measured)
        rows = mixed(misleading.any(axis=1), [answers], _CHOICE * count, rng)
        rows = rows[taking_turns(answers.labels()[rows])][:count]
        fit = measured.value[rows, 0] < 0
        return facts.take(rows[~fit | (np.cumsum(fit) <= _MORE_FIT + (~fit).sum())])

    def measure(self, facts: GapAndObject, scene: Scene) -> Measured:
        """Log ratios; σ from those of the sides and of the gap."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in facts.each])

    def _measured(self, facts: GapAndObject, scene: Scene, objects: list[Row]) -> Measured:
        frame, (beside, opposite, *carried) = facts.beside.frame, objects
        gap, gap_sigma, apart = gaps(scene, frame, beside, opposite)
        sides = [upright_sides(scene, frame, each) for each in carried]
        depth, sigma, width, height = (
            np.column_stack([getattr(each, name) for each in sides])
            for name in ("depth", "depth_sigma", "width", "height")
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log(depth / gap[:, None])
            sigma = np.hypot(sigma / depth, (gap_sigma / gap)[:, None])
            by_mistake = {
                "the longer side": np.log(width / gap[:, None]),
                "the height": np.log(height / gap[:, None]),
                "lengths in the picture": _by_picture(facts),
                "the distance of the centres": np.log(depth / apart[:, None]),
            }
        cases = {
            "an object is not found again": np.any([each < 0 for each in objects], axis=0),
            "the gap between the objects is not known": ~np.isfinite(gap + gap_sigma),
            "the width of an object is not known": ~np.isfinite(value + sigma).all(axis=1),
            "an object hangs on a wall": ~_all_stand(scene, frame, *objects),
            "the objects do not stand beside each other": ~_on_one_level(scene, frame, beside, opposite) | (gap <= 0),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=sigma,
            outlier_probability=outliers(scene, *objects),
            evidence={
                "width_by_gap": np.exp(value[:, 0]).round(4),
                "relative_sigma": sigma.max(axis=1).round(4),
                "gap": gap.round(3),
                "shorter_sides": depth.round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={name: _said(by < 0) for name, by in by_mistake.items()} | _misjudged(value < 0),
        )

    def answer(self, format: FormatName, facts: GapAndObject, measured: Measured) -> Answers:
        """Whether the object passes; or which of the two do."""
        label = Label(
            text=_said(measured.value < 0),
            margin=margin_of_all(np.abs(measured.value), measured.sigma),
            outlier_probability=measured.outliers,
        )
        close = (np.abs(measured.value) < _VISIBLE).any(axis=1)
        return Answers.of(label, first_reason(len(facts), {"an object is about as wide as the gap": close}))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three or four boxes; no names, which tell the usual sizes."""
        return Phrasing(media=(Photo.boxed(dict(zip(_MARKS, fact.values(), strict=False))),))


@dataclass(frozen=True, kw_only=True)
class Fits(_ThroughGap):
    """Whether an object that stays upright passes between two others, all as the upright boxes around them. Measures ln
    of the ratio of its shorter horizontal side to the gap."""

    name: str = "fits"
    version: str = "1"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[GapAndObject]] = GapAndObject


@dataclass(frozen=True, kw_only=True)
class WhichFits(_ThroughGap):
    """Which of two objects that stay upright pass between two others, all as the upright boxes around them. Measures ln
    of the ratio of the shorter horizontal side of each to the gap."""

    name: str = "which_fits"
    version: str = "1"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[GapAndObject]] = GapAndTwoObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _WORDS}


def _said(fit: Bool[np.ndarray, "n c"]) -> Texts:
    """Of one object each, yes or no; of two each, one of `_WORDS`."""
    if fit.shape[1] == 1:
        return np.where(fit[:, 0], "yes", "no")
    return np.array(_WORDS)[np.select([fit.all(axis=1), fit[:, 0], fit[:, 1]], [2, 0, 1], 3)]


def _misjudged(fit: Bool[np.ndarray, "n c"]) -> dict[str, Texts]:
    """What is said if one of two objects, or both, are taken for narrower or wider."""
    if fit.shape[1] == 1:
        return {}
    wrong = {"the first one misjudged": [True, False], "the second one misjudged": [False, True]}
    return {name: _said(fit != flip) for name, flip in (wrong | {"both misjudged": [True, True]}).items()}


def _gaps_of(scene: Scene, rng: np.random.Generator, tries: int) -> Int64[np.ndarray, "k 2"]:
    """Random pairs of whole objects with a gap between them, as rows of these."""
    seen = boxed(seen_objects(scene), scene)
    pairs = np.sort(random_pairs(seen, rng, tries), axis=1)
    frame, objects = seen.frame[pairs[:, 0]], seen.object[pairs].T
    return pairs[_on_one_level(scene, frame, *objects) & _all_stand(scene, frame, *objects)]


def _on_one_level(scene: Scene, frame: Row, *objects: Row) -> Bool[np.ndarray, "n"]:
    """Whether two objects stand on one level, so that the shortest way between their boxes is level."""
    up, _ = scene.up_cam(frame)
    height = np.column_stack([upright_sides(scene, frame, each).height for each in objects])
    middle = [np.einsum("ni,ni->n", corners_cam(scene, frame, each)[0].mean(axis=1), up) for each in objects]
    with np.errstate(invalid="ignore"):
        step = np.abs(np.diff(np.column_stack(middle) - height / 2, axis=1)[:, 0])
        return np.asarray(step <= _SAME_LEVEL * height.min(axis=1))


def _all_stand(scene: Scene, frame: Row, *objects: Row) -> Bool[np.ndarray, "n"]:
    """Whether no object is as flat as what hangs on walls."""
    sides = [upright_sides(scene, frame, each) for each in objects]
    with np.errstate(invalid="ignore"):
        return np.all([each.depth >= _FLAT * each.height for each in sides], axis=0)


def _by_picture(facts: GapAndObject) -> Float64[np.ndarray, "n c"]:
    """Log ratios of the widths of the carried objects to the distance of the boxes beside the gap, in the picture."""
    p, q, *carried = (refs.box_px for refs in facts.each)
    gap = np.linalg.norm(np.maximum(np.maximum(p[:, 0] - q[:, 1], q[:, 0] - p[:, 1]), 0), axis=1)
    width = np.column_stack([each[:, 1, 0] - each[:, 0, 0] for each in carried])
    return np.log(width / np.maximum(gap, 1.0)[:, None])
