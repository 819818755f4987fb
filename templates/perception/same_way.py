"""L1/Orientation/Object Orientation: whether two objects face the same way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.headings import axes_of
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import Row, fronts_of, outliers
from templates.scene.object_pairs import random_pairs
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

WAYS = ("same", "at right angles", "opposite")
"""By the angle between the fronts, 90° each."""
_LARGEST_DEVIATION_RAD = np.radians(15)
"""From 0, 90 or 180°."""
_SURE = 0.99
"""Least P(right) of an answer that is proposed."""
_TRIES = 8
"""Pairs that are drawn for each one that is asked for."""
_LARGEST_TIP_RAD = np.radians(20)
"""Largest angle between the tops of two objects: one that lies on its back faces no way along the floor."""


@dataclass(frozen=True, kw_only=True)
class FacingPair(Facts):
    """Two objects of one photo."""

    first: ObjectRefs
    second: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class SameWay(Template):
    """How the ways in which two objects face are related. Measures the angle between their fronts in space, in rad."""

    name: str = "same_way"
    version: str = "2"
    ability: str = "L1/Orientation/Object Orientation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = FacingPair
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": WAYS}
    needs: frozenset[str] = frozenset({"objects", "object_orientation"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "object_orientation"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FacingPair:
        """Pairs of whole objects with a front; the three answers take turns as far as they can be had."""
        seen = boxed(seen_objects(scene), scene)
        single = seen.take(fronts_of(scene, seen.frame, seen.object).fronts == 1)
        first, second = (single.take(rows) for rows in random_pairs(single, rng, _TRIES * count).T)
        facts = FacingPair(first=first.refs(), second=second.refs())
        measured = _measured(scene, facts, first.object, second.object)
        assert measured.label is not None
        sure = (measured.why == "") & (measured.as_label().p_right() >= _SURE)
        clear = np.flatnonzero(sure)
        return facts.take(clear[taking_turns(measured.label[clear])][:count])

    def measure(self, facts: FacingPair, scene: Scene) -> Measured:
        """The relation; σ: that of both fronts."""
        return _measured(scene, facts, *(found_again(scene, refs) for refs in (facts.first, facts.second)))

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The relation."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values={"a": a["name"], "b": b["name"]})


def _measured(scene: Scene, facts: FacingPair, a: Row, b: Row) -> Measured:
    """The measurements of facts about the objects a and b."""
    one, other = (axes_of(scene, facts.first.frame, object) for object in (a, b))
    angle = _angle(one.front_cam, other.front_cam)
    sigma = np.hypot(one.sigma_rad.max(axis=1), other.sigma_rad.max(axis=1))
    nearest = np.nan_to_num(np.round(angle / (np.pi / 2))).astype(np.int64)
    deviation = np.abs(angle - nearest * np.pi / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = (np.pi / 4 - deviation) / sigma
    cases = {
        "an object is not found again": (a < 0) | (b < 0),
        "which way the object faces is not known": ~np.isfinite(angle) | ~np.isfinite(sigma),
        "the object has no single front": (one.fronts != 1) | (other.fronts != 1),
        "one object is tipped over beside the other": ~(_angle(one.top_cam, other.top_cam) <= _LARGEST_TIP_RAD),
        "the angle between the objects is between two answers": deviation > _LARGEST_DEVIATION_RAD,
    }
    top = np.cross(one.top_cam, one.front_cam)
    mistaken = {"back taken for front": -one.front_cam, "left side taken for front": top}
    mistaken |= {"right side taken for front": -top}
    traps = {name: _named(_angle(front, other.front_cam)) for name, front in mistaken.items()}
    flat = [np.where([True, True, False], each.front_cam, 0.0) for each in (one, other)]
    return Measured(
        why=first_reason(len(facts), cases),
        value=angle[:, None],
        sigma=sigma[:, None],
        label=_named(angle),
        margin=margin,
        outlier_probability=1
        - (1 - outliers(scene, a, b)) * (1 - one.outlier_probability) * (1 - other.outlier_probability),
        evidence={"angle_deg": np.degrees(angle).round(1)},
        traps={"as arrows in the picture": _named(_angle(*flat)), **traps},
    )


def _angle(a: Float64[np.ndarray, "n 3"], b: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n"]:
    """Between two directions of any length; NaN where one is unknown or 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.einsum("ni,ni->n", a, b) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
        return np.asarray(np.arccos(np.clip(cosine, -1, 1)))


def _named(angle: Float64[np.ndarray, "n"]) -> Texts:
    nearest = np.nan_to_num(np.round(angle / (np.pi / 2))).astype(np.int64)
    return np.where(np.isfinite(angle), np.array(WAYS)[nearest], "")
