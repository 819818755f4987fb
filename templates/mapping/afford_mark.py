"""L2/Understanding/Affordance: on which marked part of an object something can be done."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
_FRAMES = 12
"""Photos in which parts are looked for."""
_APART = 0.05
"""Least distance between marks, as a share of the photo's diagonal."""
_CLEARLY = 10.0
"""Margin in σ: masks say which part a pixel belongs to."""


@dataclass(frozen=True, kw_only=True)
class MarkedParts(Facts):
    """Three points on an object, and what can be done on one of them: a word of `Parts.affords`."""

    object: ObjectRefs
    points_px: Float64[np.ndarray, "n 3 2"]
    deed: Texts


@dataclass(frozen=True, kw_only=True)
class AffordMark(Template):
    """On which of three marked parts of an object one can sit, lie, lean, put something or pull. Measures nothing but
    the parts at the marks."""

    name: str = "afford_mark"
    version: str = "1"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = MarkedParts
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"objects", "parts"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "parts"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MarkedParts:
        """A part that serves a purpose and two that do not, of one object; purposes take turns as far as possible."""
        seen, parts = shown_objects(seen_objects(scene), scene), scene.parts
        if parts is None:
            return MarkedParts.none()
        found, shown = [], {*spread_frames(parts.frames, _FRAMES)}
        for row in rng.permutation(len(seen)).tolist():
            frame, object = int(seen.frame[row]), int(seen.object[row])
            if seen.called[row] != UNNAMED and frame in shown:
                found += [(row, *group) for group in _groups(scene, parts, frame, object, rng)]
        if not found:
            return MarkedParts.none()
        rows = [found[k] for k in taking_turns(np.array([deed for *_, deed in found]))[:count]]
        return MarkedParts(
            object=seen.take(np.array([row for row, *_ in rows])).refs(),
            points_px=np.array([points for _, points, _ in rows]),
            deed=np.array([deed for *_, deed in rows]),
        )

    def measure(self, facts: MarkedParts, scene: Scene) -> Measured:
        """The mark on a part for the purpose; the others must be on parts of the same object for other purposes."""
        parts, found, n = scene.parts, found_again(scene, facts.object), len(facts)
        if parts is None:
            return Measured.none(n, "parts of objects are not known")
        frame = facts.object.frame.repeat(len(_MARKS))
        part = parts_at(scene, parts, frame, facts.points_px.reshape(-1, 2)).reshape(n, len(_MARKS))
        known = (part >= 0) & (np.append(parts.object, -1)[part] == found[:, None])
        serves = np.array(
            [[k >= 0 and deed in parts.affords[k] for k in row] for row, deed in zip(part, facts.deed, strict=True)]
        ).reshape(n, len(_MARKS))
        middle = facts.object.box_px.mean(axis=1)[:, None]
        cases = {
            "an object is not found again": found < 0,
            "which part a mark is on is not known": ~known.all(axis=1),
            "not exactly one marked part serves the purpose": serves.sum(axis=1) != 1,
        }
        return Measured(
            why=first_reason(n, cases),
            value=np.zeros((n, 1)),
            sigma=np.zeros((n, 1)),
            label=np.array(_MARKS)[serves.argmax(axis=1)],
            margin=np.full(n, _CLEARLY),
            outlier_probability=outliers(scene, found),
            evidence={"deed": facts.deed, "parts_serve": purposes(parts, part)},
            traps={
                "the middle of the object": np.array(_MARKS)[
                    np.linalg.norm(facts.points_px - middle, axis=2).argmin(axis=1)
                ]
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with three marks."""
        marks = dict(zip(_MARKS, fact["points_px"], strict=True))
        values = {"name": fact["object"]["name"], "deed": DEEDS[fact["deed"]]}
        return Phrasing(media=(Photo.marked(fact["object"]["frame"], marks),), values=values)


def _groups(
    scene: Scene, parts: Parts, frame: int, object: int, rng: np.random.Generator
) -> Iterator[tuple[list[list[float]], str]]:
    """Pixels of three parts of an object in random order, and what one of them alone is for."""
    mine = np.flatnonzero(parts.object == object)
    pixels = {int(part): xy for part in mine if (xy := pixel_of_part(scene, parts, frame, int(part), rng)) is not None}
    for part, xy in pixels.items():
        for deed in parts.affords[part]:
            others = [other for other in pixels if deed not in parts.affords[other]]
            chosen = [xy]
            for other in rng.permutation(np.array(others, dtype=np.int64)).tolist():
                away = np.linalg.norm(np.array(chosen) - pixels[other], axis=1).min()
                if len(chosen) < len(_MARKS) and away >= _APART * scene.diagonal_px:
                    chosen.append(pixels[other])
            if deed in DEEDS and len(chosen) == len(_MARKS):
                yield rng.permutation(np.array(chosen)).tolist(), deed
