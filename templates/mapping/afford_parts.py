"""L2/Understanding/Affordance: which marked part of an object is for one action, and which for another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from experts.signals import Parts
from templates.answers import Answer
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
from templates.scene.objects import UNNAMED, found_again, seen_objects
from templates.scene.parts import DEEDS, parts_at, pixel_of_part, purposes
from templates.scene.scene import Scene
from templates.template import Template

_MARKS = ("1", "2", "3")
_PAIRS = tuple(" ".join(pair) for pair in permutations(_MARKS, 2))
_FRAMES = 24
"""Photos in which parts are looked for."""
_APART = 0.05
"""Least distance between marks, as a share of the photo's diagonal."""
_CLEARLY = 10.0
"""Margin in σ: masks say which part a pixel belongs to."""


@dataclass(frozen=True, kw_only=True)
class PartsForTwo(Facts):
    """Three points on an object, and two things that can be done on different ones: words of `Parts.affords`."""

    object: ObjectRefs
    points_px: Float64[np.ndarray, "n 3 2"]
    deed: Texts
    other_deed: Texts


@dataclass(frozen=True, kw_only=True)
class AffordParts(Template):
    """On which of three marked parts of an object one can do one thing, and on which another. Measures nothing but the
    parts at the marks."""

    name: str = "afford_parts"
    version: str = "1"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = PartsForTwo
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _PAIRS}
    needs: frozenset[str] = frozenset({"objects", "parts"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "parts"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PartsForTwo:
        """A part for each of two things, and one for neither, of one object; pairs of things take turns."""
        seen, parts = shown_objects(seen_objects(scene), scene), scene.parts
        found, shown = [], set() if parts is None else {*spread_frames(parts.frames, _FRAMES)}
        for row in rng.permutation(len(seen)).tolist():
            frame, object = int(seen.frame[row]), int(seen.object[row])
            if parts is not None and seen.called[row] != UNNAMED and frame in shown:
                found += [(row, *group) for group in _groups(scene, parts, frame, object, rng)]
        if not found:
            return PartsForTwo.none()
        rows = [found[k] for k in taking_turns(np.array([f"{a}, {b}" for *_, a, b in found]))[:count]]
        return PartsForTwo(
            object=seen.take(np.array([row for row, *_ in rows])).refs(),
            points_px=np.array([points for _, points, _, _ in rows]),
            deed=np.array([deed for *_, deed, _ in rows]),
            other_deed=np.array([deed for *_, deed in rows]),
        )

    def measure(self, facts: PartsForTwo, scene: Scene) -> Measured:
        """The marks on the two parts; each is the only marked one for its purpose."""
        parts, found, n = scene.parts, found_again(scene, facts.object), len(facts)
        if parts is None:
            return Measured.none(n, "parts of objects are not known")
        frame = facts.object.frame.repeat(len(_MARKS))
        part = parts_at(scene, parts, frame, facts.points_px.reshape(-1, 2)).reshape(n, len(_MARKS))
        known = (part >= 0) & (np.append(parts.object, -1)[part] == found[:, None])
        serves, serves_other = (
            np.array(
                [[k >= 0 and deed in parts.affords[k] for k in row] for row, deed in zip(part, deeds, strict=True)],
                dtype=bool,
            ).reshape(n, len(_MARKS))
            for deeds in (facts.deed, facts.other_deed)
        )
        mark, other = (np.array(_MARKS)[each.argmax(axis=1)] for each in (serves, serves_other))
        upper = facts.points_px[:, :, 1].argsort(axis=1)
        cases = {
            "an object is not found again": found < 0,
            "which part a mark is on is not known": ~known.all(axis=1),
            "not exactly one marked part serves a purpose": (serves.sum(axis=1) != 1) | (serves_other.sum(axis=1) != 1),
            "one part serves both purposes": mark == other,
        }
        return Measured(
            why=first_reason(n, cases),
            value=np.zeros((n, 1)),
            sigma=np.zeros((n, 1)),
            label=_pair(mark, other),
            margin=np.full(n, _CLEARLY),
            outlier_probability=outliers(scene, found),
            evidence={"parts_serve": purposes(parts, part)},
            traps={
                "parts exchanged": _pair(other, mark),
                "from top to bottom": _pair(*np.array(_MARKS)[upper[:, :2]].T),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The two marks."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three marks."""
        marks = dict(zip(_MARKS, fact["points_px"], strict=True))
        values = {
            "name": fact["object"]["name"],
            "deed": DEEDS[fact["deed"]],
            "other": DEEDS[fact["other_deed"]],
        }
        return Phrasing(media=(Photo.marked(fact["object"]["frame"], marks),), values=values)


def _pair(one: Texts, other: Texts) -> Texts:
    return np.char.add(np.char.add(one, " "), other)


def _groups(
    scene: Scene, parts: Parts, frame: int, object: int, rng: np.random.Generator
) -> Iterator[tuple[list[list[float]], str, str]]:
    """Pixels of three parts of an object in random order, and what two of them are for, in random order."""
    mine = np.flatnonzero(parts.object == object).tolist()
    pixels = {part: xy for part in mine if (xy := pixel_of_part(scene, parts, frame, part, rng)) is not None}
    deeds = [deed for deed in dict.fromkeys(deed for part in pixels for deed in parts.affords[part]) if deed in DEEDS]
    for k in rng.permutation(len(deeds)).tolist():
        for other in deeds[:k]:
            wanted = ({deeds[k]}, {other}, set[str]())
            chosen = list[int]()
            for deed in wanted:
                fit = [p for p in pixels if p not in chosen and {deeds[k], other} & {*parts.affords[p]} == deed]
                chosen += rng.permutation(np.array(fit, dtype=np.int64)).tolist()[:1]
            points = np.array([pixels[part] for part in chosen]).reshape(-1, 2)
            apart = [np.linalg.norm(points[i] - points[j]) for i in range(len(points)) for j in range(i)]
            if len(points) == len(_MARKS) and min(apart) >= _APART * scene.diagonal_px:
                first, second = rng.permutation([deeds[k], other]).tolist()
                yield rng.permutation(points).tolist(), first, second
