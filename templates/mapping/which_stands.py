"""L2/Understanding/Relation Understanding: which of three objects stands directly on another one, or lies in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.object_gap import Neighbours
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.contact import APART, INSIDE, ON, contact
from templates.scene.marks import spread_frames
from templates.scene.object_boxes import outliers
from templates.scene.objects import UNNAMED, SeenObjects, found_again, overlap, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_ANCHOR, _MARKS = "P", ("1", "2", "3")
_IN_WORDS = {ON: "stands directly on", INSIDE: "lies in"}
_FRAMES = 12
"""Photos in which objects are looked for."""
_MOST_OVERLAP = 0.6
"""Largest overlap of two drawn boxes: more look like one."""
_SURE = 2.33
"""Least margin of a relation that is proposed, in σ."""


@dataclass(frozen=True, kw_only=True)
class OnesOnAnother(Neighbours):
    """An object, three others of the same photo, and the relation that one of them has to the first."""

    relation: Texts


@dataclass(frozen=True, kw_only=True)
class WhichStands(Template):
    """Which of three objects stands directly on another one, or lies in it, while the others do not touch it. Measures
    the gaps between their boxes and its box, in path units."""

    name: str = "which_stands"
    version: str = "2"
    ability: str = "L2/Understanding/Relation Understanding"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = OnesOnAnother
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "parts", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> OnesOnAnother:
        """Objects that stand on another one, each beside two that do not touch it, but meet its box in the photo where
        there are such."""
        seen = shown_objects(seen_objects(scene), scene)
        found = [_groups(scene, seen, frame, rng) for frame in spread_frames(np.unique(seen.frame), _FRAMES)]
        rows = [group for groups in found for group in groups]
        rows = [rows[k] for k in rng.permutation(len(rows))[:count]]
        if not rows:
            return OnesOnAnother.none()
        anchor, *others = (seen.take(np.array([group[k] for group, _ in rows])).refs() for k in range(4))
        first, second, third = others
        relation = np.array([relation for _, relation in rows])
        return OnesOnAnother(anchor=anchor, first=first, second=second, third=third, relation=relation)

    def measure(self, facts: OnesOnAnother, scene: Scene) -> Measured:
        """The mark of the only object with the relation; all others must be apart from it."""
        frame, anchor = facts.anchor.frame, found_again(scene, facts.anchor)
        objects = [found_again(scene, refs) for refs in facts.others]
        each = [contact(scene, frame, object, anchor) for object in objects]
        relation, margin, gap = (np.column_stack([getattr(one, name) for one in each]) for name in _COLUMNS)
        holds = relation == facts.relation[:, None]
        boxes = [refs.box_px for refs in facts.others]
        shared = np.column_stack([_shared(facts.anchor.box_px, box) for box in boxes])
        cases = {
            "an object is not found again": np.any([found < 0 for found in (anchor, *objects)], axis=0),
            "how the objects touch is not known": (relation == "").any(axis=1),
            "not exactly one object has the relation": holds.sum(axis=1) != 1,
            "another object touches it, too": (~holds & (relation != APART)).any(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.nan_to_num(gap),
            sigma=np.zeros_like(gap),
            label=np.array(_MARKS)[holds.argmax(axis=1)],
            margin=margin.min(axis=1),
            outlier_probability=outliers(scene, anchor, *objects),
            evidence={"gaps": np.nan_to_num(gap).round(3), "length_unit": np.full(len(facts), scene.length_unit)},
            traps={
                "overlaps most in the picture": np.where(
                    shared.max(axis=1) > 0, np.array(_MARKS)[shared.argmax(axis=1)], ""
                ),
                "highest in the picture": np.array(_MARKS)[
                    np.column_stack([box[..., 1].mean(axis=1) for box in boxes]).argmin(axis=1)
                ],
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with four boxes."""
        each = (fact[name] for name in ("anchor", "first", "second", "third"))
        photo = Photo.boxed(dict(zip((_ANCHOR, *_MARKS), each, strict=True)))
        return Phrasing(media=(photo,), values={"name": fact["anchor"]["name"], "stands": _IN_WORDS[fact["relation"]]})


_COLUMNS = ("relation", "margin", "gap")


def _groups(scene: Scene, seen: SeenObjects, frame: int, rng: np.random.Generator) -> list[tuple[tuple[int, ...], str]]:
    """Rows of an anchor and three others of a photo, and the relation of one of them."""
    here = np.flatnonzero(seen.frame == frame)
    a, b = (each.ravel() for each in np.meshgrid(here, here, indexing="ij"))
    differ = a != b
    a, b = a[differ], b[differ]
    found = contact(scene, np.full(len(a), frame), seen.object[a], seen.object[b])
    sure = found.margin >= _SURE
    groups = []
    for k in np.flatnonzero(sure & np.isin(found.relation, [*_IN_WORDS]) & (seen.called[b] != UNNAMED)).tolist():
        right, anchor = int(a[k]), int(b[k])
        apart = a[sure & (b == anchor) & (found.relation == APART)]
        apart = rng.permutation(apart[_distinct(seen, apart, right)])
        apart = apart[np.argsort(-_shared(seen.box_px[[anchor]], seen.box_px[apart]), kind="stable")]
        others = [one for n, one in enumerate(apart.tolist()) if _distinct(seen, apart[:n], one).all()][:2]
        if len(others) == 2:
            groups.append(((anchor, *rng.permutation([right, *others]).tolist()), str(found.relation[k])))
    return groups


def _distinct(seen: SeenObjects, rows: Int64[np.ndarray, "n"], row: int) -> np.ndarray:
    """Whether the boxes of objects can be told from that of another one."""
    return overlap(seen.box_px[rows], seen.box_px[row]) <= _MOST_OVERLAP


def _shared(a_px: Float64[np.ndarray, "... 2 2"], b_px: Float64[np.ndarray, "... 2 2"]) -> Float64[np.ndarray, "..."]:
    """Areas in which boxes meet. Shapes are broadcast."""
    low, high = np.maximum(a_px[..., 0, :], b_px[..., 0, :]), np.minimum(a_px[..., 1, :], b_px[..., 1, :])
    return np.asarray(np.clip(high - low, 0, None).prod(axis=-1))
