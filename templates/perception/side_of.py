"""L1/Relation/Relative Direction: where one object lies as compared with another: sideways, in height, in distance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.compared import Compared, compared_objects, in_words
from templates.scene.misleading import misleading_first
from templates.scene.object_boxes import Row, outliers
from templates.scene.object_pairs import random_pairs
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_SURE = 0.99
"""Least P(right) of an answer that is proposed."""
_MISLEADING = 0.4
"""Least share of facts of which the picture suggests a wrong statement."""
_TRIES = 8
"""Pairs that are drawn for each one that is asked for."""


@dataclass(frozen=True, kw_only=True)
class Statements(Facts):
    """Two objects of one photo, and three statements about the first, one of which is true."""

    first: ObjectRefs
    second: ObjectRefs
    sideways: Texts
    height: Texts
    distance: Texts

    @property
    def offered(self) -> np.ndarray:
        """The statements: (n, 3)."""
        return np.column_stack([self.sideways, self.height, self.distance])


@dataclass(frozen=True, kw_only=True)
class SideOf(Template):
    """The true one of three statements about object 1 as compared with object 2. Measures how far right (of the
    diagonal), how much lower and how much farther (of the distance) object 1 lies."""

    name: str = "side_of"
    version: str = "1"
    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = Statements
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Statements:
        """Pairs that differ clearly in all three; one statement at random is true. Of many pairs the picture suggests a
        wrong one."""
        seen = boxed(seen_objects(scene), scene)
        first, second = (seen.take(rows) for rows in random_pairs(seen, rng, _TRIES * count).T)
        compared = compared_objects(scene, first.frame, first.object, second.object, first.box_px, second.box_px)
        said = np.where(np.arange(3) == rng.integers(3, size=(len(first), 1)), compared.true, compared.false)
        facts = Statements(
            first=first.refs(), second=second.refs(), sideways=said[:, 0], height=said[:, 1], distance=said[:, 2]
        )
        measured = _measured(scene, facts, compared, first.object, second.object)
        clear = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        misled = ((in_words(compared.pictured) == said) & (compared.true != said)).any(axis=1)[clear]
        return facts.take(clear[misleading_first(misled, rng, _MISLEADING)[:count]])

    def measure(self, facts: Statements, scene: Scene) -> Measured:
        """The true statement; σ of all three differences."""
        a, b = (found_again(scene, refs) for refs in (facts.first, facts.second))
        boxes = facts.first.box_px, facts.second.box_px
        return _measured(scene, facts, compared_objects(scene, facts.first.frame, a, b, *boxes), a, b)

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The statement."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Statements, answers: Answers, chance: Chance) -> Offer:
        """The three statements."""
        right = facts.offered == answers.labels()[:, None]
        why = np.where(right.any(axis=1), "", "the answer is none of the options")
        return Offer(why=why, options=facts.offered, right=right.argmax(axis=1))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values={"a": a["name"], "b": b["name"]})


def _measured(scene: Scene, facts: Statements, compared: Compared, a: Row, b: Row) -> Measured:
    """The measurements of facts about the objects a and b."""
    said, true = facts.offered, compared.true
    right = said == true
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = (np.abs(compared.value) / compared.sigma).min(axis=1)
    cases = {
        "an object is not found again": (a < 0) | (b < 0),
        "the place of an object is not known": ~np.isfinite(compared.value + compared.sigma).all(axis=1),
        "the camera is held aslant": ~compared.level,
        "the objects overlap sideways": ~compared.clear[:, 0],
        "the objects are about equally high": ~compared.clear[:, 1],
        "the objects are about equally far": ~compared.clear[:, 2],
        "more or less than one statement is true": right.sum(axis=1) != 1,
    }
    wrong = np.where(right, "", said)
    by_picture = np.where(in_words(compared.pictured) == said, wrong, "")
    evidence = {name: compared.value[:, k].round(3) for k, name in enumerate(("right", "lower", "farther"))}
    return Measured(
        why=first_reason(len(facts), cases),
        value=compared.value,
        sigma=compared.sigma,
        label=said[np.arange(len(facts)), right.argmax(axis=1)],
        margin=margin,
        outlier_probability=outliers(scene, a, b),
        evidence=evidence,
        traps={
            "left and right exchanged": wrong[:, 0],
            "higher in the picture": by_picture[:, 1],
            "higher and lower exchanged": wrong[:, 1],
            "larger in the picture": by_picture[:, 2],
            "near and far exchanged": wrong[:, 2],
        },
    )
