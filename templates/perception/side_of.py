"""L1/Relation/Relative Direction: where one object lies as compared with another: sideways, in height, in distance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import misleading_first
from templates.scene.object_boxes import Number, Row, corners_cam, outliers, range_to_boxes
from templates.scene.object_pairs import random_pairs
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

AXES = (("to the left", "to the right"), ("higher", "lower"), ("nearer", "farther"))
"""What may be said of the first object: in the photo, along gravity, and from the camera."""
_APART = 0.05
"""Least gap between the boxes in the photo, sideways, as a share of the diagonal."""
_BORDER_PX = 2.0
"""σ of the left and right ends of an object in the photo (at 640 px width)."""
_LARGEST_ROLL_RAD = np.radians(20)
"""Of a camera in whose photos left and right are words of everyday."""
_HEIGHT, _RANGE = 0.05, 0.1
"""Least differences of height and of distance, as shares of the larger and of the smaller distance."""
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
        compared = _compared(scene, first.refs(), second.refs(), first.object, second.object)
        said = np.where(np.arange(3) == rng.integers(3, size=(len(first), 1)), compared.true, compared.false)
        facts = Statements(
            first=first.refs(), second=second.refs(), sideways=said[:, 0], height=said[:, 1], distance=said[:, 2]
        )
        measured = _measured(scene, facts, compared, first.object, second.object)
        clear = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        misled = ((compared.pictured == said) & (compared.true != said)).any(axis=1)[clear]
        return facts.take(clear[misleading_first(misled, rng, _MISLEADING)[:count]])

    def measure(self, facts: Statements, scene: Scene) -> Measured:
        """The true statement; σ of all three differences."""
        a, b = (found_again(scene, refs) for refs in (facts.first, facts.second))
        return _measured(scene, facts, _compared(scene, facts.first, facts.second, a, b), a, b)

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


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """How the first objects of n pairs differ from the second ones: sideways, in height, in distance."""

    value: Float64[np.ndarray, "n 3"]
    """> 0: the second of the words of `AXES`; NaN where unknown."""
    sigma: Float64[np.ndarray, "n 3"]
    clear: Bool[np.ndarray, "n 3"]
    """Whether people see the difference."""
    pictured: np.ndarray
    """What the picture alone suggests: that what is higher there is higher, and what is larger there is nearer."""
    level: Bool[np.ndarray, "n"]
    """Whether the camera is held nearly upright."""

    @property
    def true(self) -> np.ndarray:
        """The true statements."""
        return _words(self.value > 0)

    @property
    def false(self) -> np.ndarray:
        """The opposite ones."""
        return _words(~(self.value > 0))


def _words(second: Bool[np.ndarray, "n 3"]) -> np.ndarray:
    first_words, second_words = np.array(AXES).T
    return np.where(second, second_words, first_words)


def _compared(scene: Scene, first: ObjectRefs, second: ObjectRefs, a: Row, b: Row) -> _Compared:
    """Compares the objects a and b, whose references are `first` and `second`."""
    frame, (up, up_sigma) = first.frame, scene.up_cam(first.frame)
    (a_corners, a_sigma), (b_corners, b_sigma) = (corners_cam(scene, frame, object) for object in (a, b))
    (a_range, a_range_sigma), (b_range, b_range_sigma) = (range_to_boxes(scene, frame, object) for object in (a, b))
    apart, smaller = _apart(first.box_px, second.box_px), np.fmin(a_range, b_range)
    ends = _ends(a_corners, up) - _ends(b_corners, up)
    between = a_corners.mean(axis=1) - b_corners.mean(axis=1)
    further = np.linalg.norm(a_corners.mean(axis=1), axis=1) - np.linalg.norm(b_corners.mean(axis=1), axis=1)
    larger = np.fmax(*(np.linalg.norm(corners.mean(axis=1), axis=1) for corners in (a_corners, b_corners)))
    lower = -ends.mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.sqrt(np.maximum(np.einsum("ni,ni->n", between, between) - lower**2, 0))
        value = np.column_stack([apart / scene.diagonal_px, lower / larger, (a_range - b_range) / smaller])
        sigma = np.column_stack(
            [
                np.full(len(frame), np.sqrt(2) * _BORDER_PX * scene.pixel_scale / scene.diagonal_px),
                np.sqrt(a_sigma**2 + b_sigma**2 + (across * up_sigma) ** 2) / larger,
                np.hypot(a_range_sigma, b_range_sigma) / smaller,
            ]
        )
        agree = np.column_stack(
            [np.ones(len(frame), dtype=bool), ends.prod(axis=1) > 0, further * (a_range - b_range) > 0]
        )
        roll = np.abs(np.arctan2(up[:, 0], -up[:, 1]))
        clear = agree & (np.abs(value) >= [_APART, _HEIGHT, _RANGE])
        level = roll <= _LARGEST_ROLL_RAD
    middle = (first.box_px - second.box_px).mean(axis=1)
    smaller_box = _area(first.box_px) < _area(second.box_px)
    pictured = _words(np.column_stack([middle[:, 0] > 0, middle[:, 1] > 0, smaller_box]))
    return _Compared(value=value, sigma=sigma, clear=clear, pictured=pictured, level=level)


def _measured(scene: Scene, facts: Statements, compared: _Compared, a: Row, b: Row) -> Measured:
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
    by_picture = np.where(compared.pictured == said, wrong, "")
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


def _apart(a_px: Float64[np.ndarray, "n 2 2"], b_px: Float64[np.ndarray, "n 2 2"]) -> Number:
    """Gap between two boxes along x; > 0 if a is on the right, 0 if they overlap."""
    return np.maximum(a_px[:, 0, 0] - b_px[:, 1, 0], 0) - np.maximum(b_px[:, 0, 0] - a_px[:, 1, 0], 0)


def _area(box_px: Float64[np.ndarray, "n 2 2"]) -> Number:
    return np.prod(box_px[:, 1] - box_px[:, 0], axis=1)


def _ends(corners: Float64[np.ndarray, "n 8 3"], up: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 2"]:
    """Heights of the lowest and the highest corner."""
    heights = np.einsum("nki,ni->nk", corners, up)
    return np.column_stack([heights.min(axis=1), heights.max(axis=1)])
