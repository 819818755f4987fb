"""L2/Understanding/Relation Understanding: which of four statements about the objects of a photo is true."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import outliers
from templates.scene.objects import SeenObjects, found_again, overlap, seen_objects
from templates.scene.scene import Scene
from templates.scene.statements import PARTS, STATEMENTS, truth
from templates.template import Template

_MARKS = ("1", "2", "3", "4")
_OBJECTS = "abcd"
_FRAMES, _GROUPS = 16, 12
"""Photos in which objects are looked for, and random groups of four of each photo."""
_MOST_OVERLAP = 0.6
"""Largest overlap of two drawn boxes: more look like one."""
_SURE = 2.33
"""Least margin of a statement that is proposed, in σ."""
_OTHER_FORMAT = "asked in the other format"


@dataclass(frozen=True, kw_only=True)
class Statements(Facts):
    """Four objects of a photo, and one or four statements about them: a kind and the letters of its objects ("nearer a
    b"); "" for none."""

    a: ObjectRefs
    b: ObjectRefs
    c: ObjectRefs
    d: ObjectRefs
    first: Texts
    second: Texts
    third: Texts
    fourth: Texts

    @property
    def objects(self) -> tuple[ObjectRefs, ...]:
        """In the order of their letters."""
        return self.a, self.b, self.c, self.d

    @property
    def said(self) -> np.ndarray:
        """The statements: (n, 4)."""
        return np.stack([self.first, self.second, self.third, self.fourth], axis=1)


@dataclass(frozen=True, kw_only=True)
class TrueStatement(Template):
    """Which of four statements about numbered objects is true, or whether one is: what is nearer, higher, below or
    between others, what carries or hides what, what hangs on a wall or stands against one. Measures by how many σ each
    is true."""

    name: str = "true_statement"
    version: str = "3"
    ability: str = "L2/Understanding/Relation Understanding"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = Statements
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "depth", "parts", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Statements:
        """Objects whose boxes can be told apart; their names would tell which is higher. Each kind of statement has a
        true and a false one in the group, so that it tells nothing; none exchanges the objects of another."""
        seen = shown_objects(seen_objects(scene), scene)
        found: list[tuple[list[int], list[str], str]] = []
        for frame in spread_frames(np.unique(seen.frame), _FRAMES):
            here = np.flatnonzero(seen.frame == frame)
            if len(here) >= len(_OBJECTS):
                groups = [rng.permutation(here)[: len(_OBJECTS)] for _ in range(_GROUPS)]
                for group in (each for each in groups if _distinct(seen.box_px[each])):
                    found += _drawn(scene, seen, group, rng)
        rows = taking_turns(np.array([kind for *_, kind in found], dtype=np.str_))[:count]
        if not len(rows):
            return Statements.none()
        group = np.array([found[k][0] for k in rows])
        said = np.array([found[k][1] for k in rows], dtype=np.str_)
        refs = {letter: seen.take(group[:, k]).refs() for k, letter in enumerate(_OBJECTS)}
        return Statements(**refs, first=said[:, 0], second=said[:, 1], third=said[:, 2], fourth=said[:, 3])

    def measure(self, facts: Statements, scene: Scene) -> Measured:
        """The number of the only true statement, or whether one is true."""
        frame, said = facts.a.frame, facts.said
        objects = np.column_stack([found_again(scene, refs) for refs in facts.objects])
        margin = _margins(scene, frame, objects, said)
        one = said[:, 1] == ""
        true = margin > 0
        boxes = np.stack([refs.box_px for refs in facts.objects], axis=1)
        picture = _in_picture(boxes, said)
        cases = {
            "an object is not found again": (objects < 0).any(axis=1),
            "whether a statement is true is not known": (np.isnan(margin) & (said != "")).any(axis=1),
            "not exactly one statement is true": ~one & (true.sum(axis=1) != 1),
        }
        number, by_picture = (
            np.where(
                one,
                np.where(each[:, 0], "yes", "no"),
                np.where(each.sum(axis=1) == 1, np.array(_MARKS)[each.argmax(axis=1)], ""),
            )
            for each in (true, picture)
        )
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.clip(np.nan_to_num(margin), -99, 99),
            sigma=np.ones_like(margin),
            label=number,
            margin=np.where(said == "", np.inf, np.abs(margin)).min(axis=1),
            outlier_probability=outliers(scene, *objects.T),
            evidence={"for_each": np.clip(np.nan_to_num(margin), -99, 99).round(1)},
            traps={"as the boxes lie in the photo": by_picture},
        )

    def answer(self, format: FormatName, facts: Statements, measured: Measured) -> Answers:
        """The number; or yes or no."""
        other = (facts.second == "") != (format == "yes_no")
        return Answers.of(measured.as_label(), np.where(other, _OTHER_FORMAT, ""))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with four numbered boxes."""
        media = (Photo.boxed({number: fact[letter] for number, letter in zip(_MARKS, _OBJECTS, strict=True)}),)
        if format == "yes_no":
            return Phrasing(media=media, values={"statement": _in_words(fact["first"])})
        said = (fact[name] for name in ("first", "second", "third", "fourth"))
        return Phrasing(media=media, options=tuple(map(_in_words, said)))


def _in_words(said: str) -> str:
    kind, *letters = said.split()
    numbers = (_MARKS[_OBJECTS.index(letter)] for letter in letters)
    return STATEMENTS[kind].format(**dict(zip(_OBJECTS, numbers, strict=False)))


def _distinct(boxes_px: Float64[np.ndarray, "4 2 2"]) -> bool:
    """Whether the boxes of a group can be told apart."""
    return bool((overlap(boxes_px[:, None], boxes_px) - np.eye(len(boxes_px)) <= _MOST_OVERLAP).all())


_EVERY: list[tuple[str, tuple[int, ...]]] = [
    (kind, places)
    for kind in STATEMENTS
    for places in permutations(range(len(_OBJECTS)), PARTS[kind])
    if kind != "together" or places[0] < places[1]
    if kind != "between" or places[1] < places[2]
]
"""All statements about four objects, by their places."""


def _drawn(
    scene: Scene, seen: SeenObjects, group: Int64[np.ndarray, "4"], rng: np.random.Generator
) -> list[tuple[list[int], list[str], str]]:
    """Four statements about a group, one of them true, and one for yes or no; with the kind of the true one, or of the
    only one."""
    texts = [" ".join([kind, *(_OBJECTS[k] for k in places)]) for kind, places in _EVERY]
    frame, objects = seen.frame[group[:1]], seen.object[group]
    every = np.tile(objects, (len(texts), 1))
    margin = _margins(scene, frame.repeat(len(texts)), every, np.array([[text] for text in texts]))[:, 0]
    true, false = (
        {
            kind: [t for t, (k, _), ok in zip(texts, _EVERY, holds, strict=True) if ok and k == kind]
            for kind in STATEMENTS
        }
        for holds in (margin >= _SURE, margin <= -_SURE)
    )
    both = [kind for kind in STATEMENTS if true[kind] and false[kind]]
    if not both:
        return []
    kind = str(rng.choice(both))
    asked = str(rng.choice((true if rng.random() < 0.5 else false)[kind]))
    found = [(group.tolist(), [asked, "", "", ""], f"yes_no {kind}")]
    kind = str(rng.choice(both))
    chosen, same = [str(rng.choice(true[kind]))], rng.random() < 0.5
    for _ in _MARKS[1:]:
        kinds = [kind] if same else both
        left = [text for text in false[str(rng.choice(kinds))] if not any(_alike(text, other) for other in chosen)]
        if not left:
            return found
        chosen.append(str(rng.choice(left)))
    return [*found, (group.tolist(), [chosen[k] for k in rng.permutation(len(_MARKS))], f"choice {kind}")]


def _alike(text: str, other: str) -> bool:
    """Whether two statements of one kind are about the same objects."""
    return sorted(text.split()) == sorted(other.split())


def _margins(
    scene: Scene, frame: Int64[np.ndarray, "n"], objects: Int64[np.ndarray, "n 4"], said: np.ndarray
) -> Float64[np.ndarray, "n s"]:
    """`truth` of each statement of each row; NaN where there is none."""
    found = np.full(said.shape, np.nan)
    row, column = np.nonzero(said != "")
    parts = [text.split() for text in said[row, column].tolist()]
    places = np.array(
        [[_OBJECTS.index(letter) for letter in (*part[1:], part[1], part[1])[:3]] for part in parts], dtype=np.int64
    )
    three = np.take_along_axis(objects[row], places.reshape(-1, 3), axis=1)
    kind = np.array([part[0] for part in parts], dtype=np.str_)
    found[row, column] = truth(scene, frame[row], kind, *three.T)
    return found


def _in_picture(boxes_px: Float64[np.ndarray, "n 4 2 2"], said: np.ndarray) -> np.ndarray:
    """Which statements seem true if lower in the photo is nearer, boxes that meet stand on, below or before each
    other, and what is in the upper half of the four hangs."""
    found, middles = np.zeros(said.shape, dtype=bool), boxes_px[..., 1].mean(axis=(1, 2))
    for row, column in zip(*np.nonzero(said != ""), strict=True):
        (kind, *letters), middle = said[row, column].split(), middles[row]
        a, *rest = (boxes_px[row, _OBJECTS.index(letter)] for letter in letters)
        b = (rest or [a])[0]
        meet = bool((np.minimum(a[1], b[1]) > np.maximum(a[0], b[0])).all())
        found[row, column] = {
            "nearer": a[1, 1] > b[1, 1],
            "higher": a[0, 1] < b[0, 1],
            "carries": meet and a[1, 1] > b[1, 1],
            "hides": meet and a[1, 1] > b[1, 1],
            "together": abs(a[1, 1] - b[1, 1]) < np.ptp(a[:, 1]),
            "below": meet and a[0, 1] > b[0, 1],
            "hangs": a[1, 1] < middle,
            "against": a[1, 1] >= middle,
            "between": len(rest) > 1
            and (a.mean(axis=0)[0] - b.mean(axis=0)[0]) * (rest[-1].mean(axis=0)[0] - a.mean(axis=0)[0]) > 0,
        }[kind]
    return found
