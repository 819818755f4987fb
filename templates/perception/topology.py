"""L1/Relation/Relative Direction: whether objects touch, and how: inside, on top, underneath, apart."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.contact import APART, INSIDE, ON, UNDER, contact
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import Row, corners_cam, outliers
from templates.scene.object_pairs import random_pairs
from templates.scene.objects import SeenObjects, found_again, overlap, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

RELATIONS = (INSIDE, ON, UNDER, APART)
TOUCHING = "touching"
_TRUE = {ON: (ON, TOUCHING), UNDER: (UNDER, TOUCHING), INSIDE: (INSIDE,), APART: ()}
"""Relations that may be asked about with yes or no: those that hold, by the measured one, ..."""
_FALSE = {ON: (UNDER, INSIDE), UNDER: (ON, INSIDE), INSIDE: (UNDER,), APART: (INSIDE, ON, UNDER, TOUCHING)}
"""... and those that do not. Whether what is inside also stands on the bottom is left open."""
_IN_WORDS = {INSIDE: "inside", ON: "on top of", UNDER: "underneath", TOUCHING: "touching"}
_MOST_OVERLAP = 0.7
"""Largest overlap of two drawn boxes: more look like one."""
_CONTAINED = 0.8
"""Least share of a box in another one that looks as if it were inside."""
_LEAST_SIDE, _LEAST_CUT_SIDE = 0.04, 0.1
"""Least side of a box that is drawn, as a share of the diagonal: of a whole object, and of one that is cut."""
_LEAST_SHOWN = 0.4
"""Least share of an object that is not hidden."""
_MOST_APART = 8
"""So many more pairs may be apart than touch."""
_LEAST_RISE = 0.01
"""Least sine of the rise from one centre to the other for one object to look higher."""
_SURE = 0.99
"""Least P(right) of a relation that is proposed."""
_TRIES = 24
"""Pairs that are drawn for each one that is asked for: few objects touch."""
_OTHER_FORMAT = "asked in the other format"


@dataclass(frozen=True, kw_only=True)
class RelatedPair(Facts):
    """Two objects of one photo, and the relation that is asked about with yes or no; "" where it is the answer."""

    first: ObjectRefs
    second: ObjectRefs
    asked: Texts


@dataclass(frozen=True, kw_only=True)
class Topology(Template):
    """How object 1 lies relative to object 2: inside it, on top of it, underneath it, or apart from it. Measures the
    gap between their boxes, in path units."""

    name: str = "topology"
    version: str = "3"
    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = RelatedPair
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": RELATIONS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "parts", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> RelatedPair:
        """Pairs whose relation is known. The relations take turns; about as many pairs touch as are apart. Pairs about
        which the photo misleads come first."""
        seen = shown_objects(seen_objects(scene), scene)
        pairs = random_pairs(seen, rng, _TRIES * count, may_overlap=True)
        pairs = pairs[overlap(seen.box_px[pairs[:, 0]], seen.box_px[pairs[:, 1]]) <= _MOST_OVERLAP]
        first, second = (seen.take(rows) for rows in pairs.T)
        facts = RelatedPair(first=first.refs(), second=second.refs(), asked=np.full(len(first), ""))
        measured = _measured(scene, facts, first.object, second.object)
        assert measured.label is not None
        clear = np.flatnonzero((measured.why == "") & (measured.as_label().p_right() >= _SURE))
        misled = measured.traps["as the picture overlaps"][clear] != measured.label[clear]
        clear = clear[np.argsort(~misled, kind="stable")]
        apart = measured.label[clear] == APART
        clear = clear[~apart | (np.cumsum(apart) <= _MOST_APART + (~apart).sum())]
        rows = clear[taking_turns(measured.label[clear])][:count]
        return replace(facts.take(rows), asked=_asked(measured.label[rows], rng))

    def measure(self, facts: RelatedPair, scene: Scene) -> Measured:
        """The relation, or whether the one that is asked about holds."""
        return _measured(scene, facts, *(found_again(scene, refs) for refs in (facts.first, facts.second)))

    def answer(self, format: FormatName, facts: RelatedPair, measured: Measured) -> Answers:
        """The relation; or yes or no."""
        other = (facts.asked == "") == (format == "yes_no")
        return Answers.of(measured.as_label(), np.where(other, _OTHER_FORMAT, ""))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        names = {"a": a["name"], "b": b["name"]}  # which would tell most answers of yes and no
        values = {"relation": _IN_WORDS[fact["asked"]]} if format == "yes_no" else names
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values=values)


def _measured(scene: Scene, facts: RelatedPair, a: Row, b: Row) -> Measured:
    """The measurements of facts about the objects a and b."""
    frame = facts.first.frame
    found = contact(scene, frame, a, b)
    (up, _), (a_corners, _), (b_corners, _) = (
        scene.up_cam(frame),
        corners_cam(scene, frame, a),
        corners_cam(scene, frame, b),
    )
    with np.errstate(invalid="ignore"):
        apart = (a_corners - b_corners).mean(axis=1)
        rise = np.einsum("ni,ni->n", apart, up) / np.linalg.norm(apart, axis=1)
    by_height, exchanged = (
        np.select([rise > _LEAST_RISE, rise < -_LEAST_RISE], words, "") for words in ((ON, UNDER), (UNDER, ON))
    )
    said = _said(found.relation, facts.asked)
    mistakes = {
        "as the picture overlaps": _pictured(facts.first.box_px, facts.second.box_px),
        "objects exchanged": np.select(
            [found.relation == APART, found.relation == UNDER], [exchanged, np.full(len(facts), ON)], UNDER
        ),
        "higher taken for on top": np.where(found.relation == INSIDE, ON, by_height),
        "support taken for containment": np.full(len(facts), INSIDE),
        "contact overlooked": np.full(len(facts), APART),
    }
    cases = {
        "an object is not found again": (a < 0) | (b < 0),
        "how the objects touch is not known": found.relation == "",
        "whether the relation holds is left open": said == "",
    }
    return Measured(
        why=first_reason(len(facts), cases),
        value=np.nan_to_num(found.gap)[:, None],
        sigma=np.zeros((len(facts), 1)),
        label=said,
        margin=found.margin,
        outlier_probability=outliers(scene, a, b),
        evidence={
            "relation": found.relation,
            "gap": np.nan_to_num(found.gap).round(3),
            "rise": (rise * np.linalg.norm(apart, axis=1)).round(3),
            "length_unit": np.full(len(facts), scene.length_unit),
        },
        traps={name: _said(relation, facts.asked) for name, relation in mistakes.items()},
    )


def shown_objects(seen: SeenObjects, scene: Scene) -> SeenObjects:
    """Objects that a box can mark, although others stand on them, around them or before them, and large ones that the
    border of the photo cuts."""
    sides = (seen.box_px[:, 1] - seen.box_px[:, 0]).min(axis=1) / scene.diagonal_px
    large = (sides >= _LEAST_SIDE) & ~(seen.is_cut & (sides < _LEAST_CUT_SIDE))
    return seen.take(large & ~(seen.shown < _LEAST_SHOWN))


def _said(relation: Texts, asked: Texts) -> Texts:
    """The relation; yes or no where one is asked about; "" where that is left open."""
    yes, no = (
        np.any([(relation == each) & np.isin(asked, others) for each, others in known.items()], axis=0)
        for known in (_TRUE, _FALSE)
    )
    return np.select([asked == "", yes, no], [relation, "yes", "no"], "")


def _asked(relation: Texts, rng: np.random.Generator) -> Texts:
    """Nothing for half of the objects that touch, and for most that are apart. Else a relation that holds, or, for
    those that are apart and for some others, one that does not."""
    asked = []
    for each in relation.tolist():
        kind, true = rng.integers(8), _TRUE[each]
        open_question = kind < (4 if true else 6)
        asked.append("" if open_question else str(rng.choice(true if true and kind < 7 else _FALSE[each])))
    return np.array(asked, dtype=np.str_)


def _pictured(a_px: Float64[np.ndarray, "n 2 2"], b_px: Float64[np.ndarray, "n 2 2"]) -> Texts:
    """The relation that the boxes in the photo suggest."""
    both = np.clip(np.minimum(a_px[:, 1], b_px[:, 1]) - np.maximum(a_px[:, 0], b_px[:, 0]), 0, None).prod(axis=1)
    contained = both >= _CONTAINED * (a_px[:, 1] - a_px[:, 0]).prod(axis=1)
    higher = a_px[..., 1].mean(axis=1) < b_px[..., 1].mean(axis=1)
    return np.select([both == 0, contained, higher], [APART, INSIDE, ON], UNDER)
