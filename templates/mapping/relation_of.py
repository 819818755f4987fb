"""L2/Understanding/Relation Understanding: what carries two objects, and which of them hides a part of the other."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.hiding import EACH, HIDDEN, HIDES, NEITHER, hiding
from templates.scene.marks import spread_frames
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import Row, corners_cam, outliers, range_to_boxes
from templates.scene.objects import SeenObjects, found_again, overlap, seen_objects
from templates.scene.scene import Scene
from templates.scene.stands import (
    ABOVE,
    ASIDE,
    BELOW,
    CARRIED,
    CARRIES,
    SEPARATE,
    STACKED,
    TOGETHER,
    held,
    straight_below,
)
from templates.template import Template

_HELD, _SEEN, _UNDER = "held", "seen", "under"
_LABELS: Mapping[str, tuple[str, ...]] = {
    _HELD: (CARRIED, CARRIES, TOGETHER, SEPARATE),
    _SEEN: (HIDES, HIDDEN, EACH, NEITHER),
    _UNDER: (BELOW, ABOVE, STACKED, ASIDE),
}
_IN_WORDS = {
    CARRIED: "carried by",
    TOGETHER: "carried by the same object as",
    HIDES: "hiding a part of",
    HIDDEN: "partly hidden by",
    BELOW: "straight below",
    ABOVE: "straight above",
}
"""Relations that are asked about with yes or no."""
_REVERSED = {CARRIED: CARRIES, CARRIES: CARRIED, HIDES: HIDDEN, HIDDEN: HIDES, BELOW: ABOVE, ABOVE: BELOW}
_FRAMES = 16
"""Photos in which objects are looked for."""
_MOST_OVERLAP = 0.7
"""Largest overlap of two drawn boxes: more look like one."""
_SURE = 2.33
"""Least margin of a relation that is proposed, in σ."""
_MORE_USUAL = 1
"""So many more facts of a kind may be about objects that are not related than have the most frequent relation."""
_OPTIONS = 4
_OTHER_FORMAT = "asked in the other format"


@dataclass(frozen=True, kw_only=True)
class RelatedTwo(Facts):
    """Two objects of one photo, what is asked about them (what holds them, how they are seen, or which is below), and
    the relation that is asked about with yes or no; "" where it is the answer."""

    first: ObjectRefs
    second: ObjectRefs
    about: Texts
    asked: Texts


@dataclass(frozen=True, kw_only=True)
class RelationOf(Template):
    """Whether one of two objects carries the other or a third one carries both; which of them hides a part of the other
    one for the camera; or whether one lies straight below the other without touching it. Measures nothing but the
    relation."""

    name: str = "relation_of"
    version: str = "3"
    ability: str = "L2/Understanding/Relation Understanding"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = RelatedTwo
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "depth", "parts", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> RelatedTwo:
        """Pairs whose relation is known. The relations take turns, and pairs about which the photo misleads come
        first. About half of the facts are asked with yes or no, each relation as often rightly as wrongly."""
        seen = shown_objects(seen_objects(scene), scene)
        pairs = _pairs(seen, spread_frames(np.unique(seen.frame), _FRAMES), rng)
        first, second = (seen.take(np.tile(rows, len(_LABELS))) for rows in pairs.T)
        about = np.repeat([*_LABELS], len(pairs))
        facts = RelatedTwo(first=first.refs(), second=second.refs(), about=about, asked=np.full(len(about), ""))
        measured = _measured(scene, facts, first.object, second.object)
        assert measured.label is not None and measured.margin is not None
        label, misled = measured.label, measured.traps["as the boxes lie in the photo"] != measured.label
        chosen, asked, turn = list[int](), list[str](), list[int]()
        for kind, words in _LABELS.items():
            known = np.flatnonzero((measured.why == "") & (measured.margin >= _SURE) & (about == kind))
            known = known[np.argsort(~misled[known], kind="stable")]
            usual = label[known] == words[-1]
            others = Counter(label[known][~usual].tolist()).values()
            known = known[~usual | (np.cumsum(usual) <= _MORE_USUAL + max(others, default=0))]
            rows = known[taking_turns(label[known])][:count]
            chosen, asked = [*chosen, *rows.tolist()], [*asked, *_asked(label[rows], rng)]
            turn += range(len(rows))
        order = np.argsort(turn, kind="stable")[:count]
        asked_words = np.array(asked, dtype=np.str_)
        return replace(facts.take(np.array(chosen, dtype=np.int64)[order]), asked=asked_words[order])

    def measure(self, facts: RelatedTwo, scene: Scene) -> Measured:
        """The relation, or whether the one that is asked about holds."""
        return _measured(scene, facts, *(found_again(scene, refs) for refs in (facts.first, facts.second)))

    def answer(self, format: FormatName, facts: RelatedTwo, measured: Measured) -> Answers:
        """The relation; or yes or no."""
        other = (facts.asked == "") == (format == "yes_no")
        return Answers.of(measured.as_label(), np.where(other, _OTHER_FORMAT, ""))

    def offer(self, format: FormatName, facts: RelatedTwo, answers: Answers, chance: Chance) -> Offer | None:
        """The relations of the kind that is asked about."""
        if format != "choice":
            return None
        options = np.array([_LABELS[about] for about in facts.about.tolist()]).reshape(-1, _OPTIONS)
        right = options == answers.labels()[:, None]
        return Offer(why=np.full(len(facts), ""), options=options, right=right.argmax(axis=1))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        values = {"a": a["name"], "b": b["name"]}
        if format == "yes_no":
            values["relation"] = _IN_WORDS[fact["asked"]]
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), wording=f"{format}.{fact['about']}", values=values)


def _measured(scene: Scene, facts: RelatedTwo, a: Row, b: Row) -> Measured:
    """The measurements of facts about the objects a and b."""
    frame, about_held, seen = facts.first.frame, facts.about == _HELD, facts.about == _SEEN
    relation, margin = np.full(len(facts), "", dtype="<U8"), np.full(len(facts), np.nan)
    for which, found in ((about_held, held), (seen, hiding), (facts.about == _UNDER, straight_below)):
        relation[which], margin[which] = found(scene, frame[which], a[which], b[which])
    overlaps = _shared(facts.first.box_px, facts.second.box_px) > 0
    lower = facts.first.box_px[:, 1, 1] > facts.second.box_px[:, 1, 1]
    columns = (facts.first.box_px[..., 0], facts.second.box_px[..., 0])
    stacked = np.minimum(*(each[:, 1] for each in columns)) > np.maximum(*(each[:, 0] for each in columns))
    nearer = range_to_boxes(scene, frame, a)[0] < range_to_boxes(scene, frame, b)[0]
    mistakes = {
        "as the boxes lie in the photo": np.select(
            [about_held, seen],
            [
                np.where(overlaps, np.where(lower, CARRIES, CARRIED), SEPARATE),
                np.where(overlaps, np.where(lower, HIDES, HIDDEN), NEITHER),
            ],
            np.where(stacked, np.where(lower, BELOW, ABOVE), ASIDE),
        ),
        "the nearer one hides": np.where(seen, np.where(nearer, HIDES, HIDDEN), ""),
        "objects exchanged": np.array([_REVERSED.get(word, "") for word in relation.tolist()], dtype=np.str_),
    }
    cases = {
        "an object is not found again": (a < 0) | (b < 0),
        "what carries the objects is not known": about_held & (relation == ""),
        "whether one hides a part of the other is not clear": seen & (relation == ""),
        "whether one lies straight below the other is not clear": relation == "",
    }
    said = _said(relation, facts.asked)
    middles = [corners_cam(scene, frame, each)[0].mean(axis=1) for each in (a, b)]
    return Measured(
        why=first_reason(len(facts), cases),
        value=np.zeros((len(facts), 1)),
        sigma=np.zeros((len(facts), 1)),
        label=said,
        margin=margin,
        outlier_probability=outliers(scene, a, b),
        evidence={
            "relation": relation,
            "rise": np.einsum("ni,ni->n", scene.up_cam(frame)[0], middles[0] - middles[1]).round(3),
            "distances": np.column_stack([range_to_boxes(scene, frame, each)[0] for each in (a, b)]).round(3),
            "length_unit": np.full(len(facts), scene.length_unit),
        },
        traps={name: _said(word, facts.asked) for name, word in mistakes.items()},
    )


def _said(relation: Texts, asked: Texts) -> Texts:
    """The relation; yes or no where one is asked about. If each hides a part of the other one, both do."""
    holds = (relation == asked) | ((relation == EACH) & np.isin(asked, (HIDES, HIDDEN)))
    return np.where((asked == "") | (relation == ""), relation, np.where(holds, "yes", "no"))


def _asked(relation: Texts, rng: np.random.Generator) -> list[str]:
    """For about every other row of a relation, which one is asked about with yes or no; "" for none. Of each relation
    about as many hold as do not."""
    asked, more_yes = [], Counter[str]()
    for row, each in enumerate(relation.tolist()):
        words = [word for word in next(some for some in _LABELS.values() if each in some) if word in _IN_WORDS]
        true = [word for word in words if (word == each or each == EACH) and more_yes[word] <= 0]
        false = [word for word in words if word != each and each != EACH and more_yes[word] > 0]
        kinds = [] if (row + row // _OPTIONS) % 2 else true or false
        asked.append(str(rng.choice(kinds)) if kinds else "")
        more_yes[asked[-1]] += 1 if kinds is true else -1
    return asked


def _pairs(seen: SeenObjects, frames: list[int], rng: np.random.Generator) -> Int64[np.ndarray, "k 2"]:
    """All ordered pairs of rows of objects of the same photo whose boxes can be told apart, in random order."""
    found = [np.empty((0, 2), dtype=np.int64)]
    for frame in frames:
        here = np.flatnonzero(seen.frame == frame)
        a, b = (each.ravel() for each in np.meshgrid(here, here, indexing="ij"))
        found.append(np.column_stack([a, b])[a != b])
    pairs = np.concatenate(found)
    pairs = pairs[overlap(seen.box_px[pairs[:, 0]], seen.box_px[pairs[:, 1]]) <= _MOST_OVERLAP]
    return np.asarray(rng.permutation(pairs))


def _shared(a_px: Float64[np.ndarray, "n 2 2"], b_px: Float64[np.ndarray, "n 2 2"]) -> Float64[np.ndarray, "n"]:
    """Areas in which boxes meet."""
    return np.clip(np.minimum(a_px[:, 1], b_px[:, 1]) - np.maximum(a_px[:, 0], b_px[:, 0]), 0, None).prod(axis=1)
