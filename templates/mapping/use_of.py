"""L2/Understanding/Affordance: which of four objects serves a purpose, such as to cut bread."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from experts.objects.object_names import folded
from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.mapping.four_objects import MARKS, FourObjects
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import outliers
from templates.scene.objects import UNNAMED, SeenObjects, boxed, overlap, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_FRAMES = 12
"""Photos in which objects are looked for."""
_MOST_OVERLAP = 0.4
"""Largest overlap of two drawn boxes: more look like one."""
_CLEARLY = 10.0
"""Margin in σ: names that questions use are sure."""


@dataclass(frozen=True, kw_only=True)
class ObjectsForUse(FourObjects):
    """Four objects of one photo, and what one wants to do with one of them: a `use` of object_uses.toml."""

    use: Texts


@dataclass(frozen=True)
class _Use:
    """Kinds of objects that serve a purpose, and kinds that surely do not."""

    serves: frozenset[str]
    useless: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class UseOf(Template):
    """Which of four objects in boxes serves a purpose, by a table that two raters agree on. Measures nothing but the
    names of the objects."""

    name: str = "use_of"
    version: str = "2"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ObjectsForUse
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ObjectsForUse:
        """Photos with an object for a purpose and three that are for others, as far as there are such."""
        seen = shown_objects(boxed(seen_objects(scene), scene), scene)
        seen = seen.take(seen.called != UNNAMED)
        found = [
            group for frame in spread_frames(np.unique(seen.frame), _FRAMES) for group in _groups(seen, frame, rng)
        ]
        found = [found[k] for k in rng.permutation(len(found))]
        found = [found[k] for k in taking_turns(np.array([use for use, _ in found]))[:count]]
        if not found:
            return ObjectsForUse.none()
        rows = rng.permuted(np.array([rows for _, rows in found]), axis=1)
        first, second, third, fourth = (seen.take(column).refs() for column in rows.T)
        use = np.array([use for use, _ in found])
        return ObjectsForUse(first=first, second=second, third=third, fourth=fourth, use=use)

    def measure(self, facts: ObjectsForUse, scene: Scene) -> Measured:
        """The mark of the one object that serves; all others must be known to be useless for it."""
        found, uses = facts.found(scene), _uses()
        n, shape = len(facts), (len(facts), len(MARKS))
        serves, useless = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for row, (use, names) in enumerate(zip(facts.use.tolist(), facts.names.tolist(), strict=True)):
            kinds = [folded(name) for name in names]
            serves[row] = [kind in uses[use].serves for kind in kinds]
            useless[row] = [kind in uses[use].useless for kind in kinds]
        areas = np.stack([np.prod(refs.box_px[:, 1] - refs.box_px[:, 0], axis=1) for refs in facts.refs], axis=1)
        cases = {
            "an object is not found again": np.any([object < 0 for object in found], axis=0),
            "not exactly one object serves": serves.sum(axis=1) != 1,
            "whether an object serves is open to debate": ~(serves | useless).all(axis=1),
        }
        return Measured(
            why=first_reason(n, cases),
            value=np.zeros((n, 1)),
            sigma=np.zeros((n, 1)),
            label=np.array(MARKS)[serves.argmax(axis=1)],
            margin=np.full(n, _CLEARLY),
            outlier_probability=outliers(scene, *found),
            evidence={"use": facts.use},
            traps={"the largest in the photo": np.array(MARKS)[areas.argmax(axis=1)]},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with four boxes; no names, for they tell the use."""
        each = (fact[name] for name in ("first", "second", "third", "fourth"))
        return Phrasing(media=(Photo.boxed(dict(zip(MARKS, each, strict=True))),), values={"use": fact["use"]})


def _groups(seen: SeenObjects, frame: int, rng: np.random.Generator) -> Iterator[tuple[str, list[int]]]:
    """Each use that an object of a photo serves, with rows of that object and three useless ones that serve other
    uses, if possible."""
    here = rng.permutation(np.flatnonzero(seen.frame == frame))
    names = [str(name) for name in seen.called[here]]
    for use, kinds in _uses().items():
        for k in (k for k, name in enumerate(names) if name in kinds.serves):
            others = [n for n, name in enumerate(names) if name in kinds.useless]
            rows = [int(here[k])]
            for n in sorted(others, key=lambda n: names[n] not in _useful()):
                if len(rows) < len(MARKS) and (overlap(seen.box_px[rows], seen.box_px[here[n]]) <= _MOST_OVERLAP).all():
                    rows.append(int(here[n]))
            if len(rows) == len(MARKS):
                yield use, rows


@cache
def _uses() -> dict[str, _Use]:
    with Path(__file__).with_name("object_uses.toml").open("rb") as file:
        table = tomllib.load(file)
    every = frozenset(table["objects"])
    return {
        row["use"]: _Use(frozenset(row["serves"]), every.difference(row["serves"], row["may_serve"]))
        for row in table["uses"]
    }


@cache
def _useful() -> frozenset[str]:
    """Kinds that serve some purpose."""
    return frozenset().union(*(use.serves for use in _uses().values()))
