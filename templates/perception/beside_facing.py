"""L1/Orientation/Object Orientation: on which side an object is for someone who faces as another one does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.bearings import bearings, from_side
from templates.scene.misleading import misleading_first
from templates.scene.object_boxes import Number, Row, fronts_of
from templates.scene.object_pairs import random_pairs
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

SIDES = ("in front", "on the right", "behind", "on the left")
"""Clockwise from above, 90° each."""
_IN_WORDS = dict(zip(SIDES, ("in front of me", "on my right", "behind me", "on my left"), strict=True))
_LARGEST_DEVIATION_RAD = np.radians(30)
"""From the middle of a side: people call what lies between two sides by either name."""
_LARGEST_REACH_RAD = np.radians(75)
"""Largest angle from the middle of a side to any corner of an object on that side."""
_SEEN_FROM_CAMERA = "seen from the camera"
_BETWEEN = "the object lies between two sides"
_DIFFERENT = 0.6
"""Least share of facts whose answer differs from that for someone at the camera."""
_SURE = 0.99
"""Least P(right) of a side that is proposed."""
_TRIES = 8
"""Pairs that are drawn for each one that is asked for."""
_OTHER_FORMAT = "asked in the other format"


@dataclass(frozen=True, kw_only=True)
class FromThere(Facts):
    """Two objects of one photo, and the side that is asked about with yes or no; "" where the side is the answer."""

    first: ObjectRefs
    second: ObjectRefs
    asked: Texts


@dataclass(frozen=True, kw_only=True)
class BesideFacing(Template):
    """On which side object 2 is for someone who stands at object 1 and faces as it does. Measures its horizontal
    bearing: 0 straight ahead, clockwise from above, in rad."""

    name: str = "beside_facing"
    version: str = "1"
    ability: str = "L1/Orientation/Object Orientation"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = FromThere
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": SIDES}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FromThere:
        """Pairs whose side is clear. In most of them someone at the camera gives another answer. Half of them are asked
        with yes or no, and half of these with the right side."""
        seen = boxed(seen_objects(scene), scene)
        single = fronts_of(scene, seen.frame, seen.object).fronts == 1
        first, second = (seen.take(rows) for rows in random_pairs(seen, rng, _TRIES * count, single).T)
        facts = FromThere(first=first.refs(), second=second.refs(), asked=np.full(len(first), ""))
        measured = _measured(scene, facts, first.object, second.object)
        assert measured.label is not None
        clear = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        by_camera = measured.traps[_SEEN_FROM_CAMERA][clear]
        rows = clear[misleading_first(measured.label[clear] != by_camera, rng, _DIFFERENT)[:count]]
        return replace(
            facts.take(rows), asked=_asked(measured.label[rows], measured.traps[_SEEN_FROM_CAMERA][rows], rng)
        )

    def measure(self, facts: FromThere, scene: Scene) -> Measured:
        """The side, or whether it is the one that is asked about. σ: the front ⊕ both places ⊕ gravity."""
        return _measured(scene, facts, *(found_again(scene, refs) for refs in (facts.first, facts.second)))

    def answer(self, format: FormatName, facts: FromThere, measured: Measured) -> Answers:
        """The side; or yes or no."""
        other = (facts.asked == "") == (format == "yes_no")
        return Answers.of(measured.as_label(), np.where(other, _OTHER_FORMAT, ""))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        values = {"a": a["name"], "b": b["name"]}
        if format == "yes_no":
            values["side"] = _IN_WORDS[fact["asked"]]
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values=values)


def _measured(scene: Scene, facts: FromThere, a: Row, b: Row) -> Measured:
    """The measurements of facts about the objects a and b."""
    seen = bearings(scene, facts.first.frame, a, b)
    quarter = _quarter(seen.middle)
    deviation, reach = np.abs(from_side(seen.middle, quarter)), np.abs(from_side(seen.corners, quarter)).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = (np.pi / 4 - deviation) / seen.sigma
        between = (deviation > _LARGEST_DEVIATION_RAD) | (reach > _LARGEST_REACH_RAD)
    from_camera = _quarter(seen.from_camera)
    mistakes = {
        _SEEN_FROM_CAMERA: from_camera,
        "left and right exchanged": -quarter,
        "back taken for front": quarter + 2,
        "left side taken for front": quarter + 1,
        "right side taken for front": quarter - 1,
    }
    return Measured(
        why=np.where(seen.why == "", first_reason(len(facts), {_BETWEEN: between}), seen.why),
        value=seen.middle[:, None],
        sigma=seen.sigma[:, None],
        label=_said(quarter, facts.asked),
        margin=margin,
        outlier_probability=seen.outlier_probability,
        evidence={
            "bearing_deg": np.degrees(seen.middle).round(1),
            "seen_from_camera": np.array(SIDES)[from_camera % 4],
        },
        traps={name: _said(side, facts.asked) for name, side in mistakes.items()},
    )


def _quarter(bearing: Number) -> Row:
    """The nearest side."""
    return np.nan_to_num(np.round(bearing / (np.pi / 2))).astype(np.int64)


def _said(side: Int64[np.ndarray, "n"], asked: Texts) -> Texts:
    """The side; yes or no where one is asked about."""
    names = np.array(SIDES)[side % len(SIDES)]
    return np.where(asked == "", names, np.where(asked == names, "yes", "no"))


def _asked(right: Texts, by_camera: Texts, rng: np.random.Generator) -> Texts:
    """Nothing for about half of the facts. Else the right side or a wrong one: that for the camera, if it is wrong."""
    step = 1 + rng.integers(len(SIDES) - 1, size=len(right))
    at = np.argmax(right[:, None] == np.array(SIDES), axis=1)
    wrong = np.where(by_camera != right, by_camera, np.array(SIDES)[(at + step) % len(SIDES)])
    kind = rng.integers(4, size=len(right))
    return np.select([kind < 2, kind == 2], [np.full(len(right), ""), right], wrong)
