"""L2/Understanding/Motion Understanding: what one object does with respect to another one in a video."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Video
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.encounters import (
    AWAY,
    AWAY_APART,
    MEET,
    MEETINGS,
    NEARER,
    NEARER_APART,
    PART,
    Encounter,
    encounter,
    meeting,
)
from templates.scene.moving_objects import moving
from templates.scene.named import all_listed
from templates.scene.named_in_videos import found_throughout, seen_throughout, singled_out
from templates.scene.passing import BETWEEN, ONE_SIDE, PASSAGES, PAST_FIRST, PAST_SECOND, passing
from templates.scene.scene import Scene
from templates.scene.sightings import object_names, one_identity, sightings, videos_of_objects
from templates.template import Template

_VIDEOS = 80
"""Videos in which objects are looked for."""
_PATIENTS, _AGENT, _BOTH, _PASSES = "patients", "agent", "both", "passes"
_FIXED = {_BOTH: MEETINGS, _PASSES: PASSAGES}
_SENTENCES = {
    MEET: "The {a} and the {b} come together and meet.",
    NEARER_APART: "The {a} and the {b} come nearer to each other, but do not meet.",
    PART: "The {a} and the {b} are together at first, and then part.",
    AWAY_APART: "The {a} and the {b} are apart from the beginning, and move farther away from each other.",
    BETWEEN: "The {a} passes between the {b} and the {c}.",
    PAST_FIRST: "The {a} passes the {b} on the side away from the {c}.",
    PAST_SECOND: "The {a} passes the {c} on the side away from the {b}.",
    ONE_SIDE: "The {a} stays on one side of the line from the {b} to the {c}.",
}
_OTHERWISE = {_BOTH: "another meeting", _PASSES: "another side"}
_OTHER = {NEARER: AWAY, AWAY: NEARER}
_VERBS = {NEARER: "approaches", AWAY: "moves away from"}


@dataclass(frozen=True, kw_only=True)
class ObjectsInVideo(Facts):
    """Objects of different names in the frames of a video, and what the sentences differ in: "agent", which of two
    objects moves, if both move in the clip; "patients", what the first does with respect to two that never move;
    "both", whether two that move meet or part; "passes", where the first passes two that stand still."""

    frames: Int64[np.ndarray, "n v"]
    a: Texts
    b: Texts
    c: Texts
    """"" for "agent" and "both"."""
    asks: Texts


@dataclass(frozen=True, kw_only=True)
class WhatHappens(Template):
    """Which object approaches or leaves which, and in which order; whether two meet, or one passes between others.
    Measures the smallest change of the distance of two boxes that is told, or the room to the side of what passes, in
    path units."""

    name: str = "what_happens"
    version: str = "4"
    ability: str = "L2/Understanding/Motion Understanding"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = ObjectsInVideo
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ObjectsInVideo:
        """Objects of which one moves; those with different events come first."""
        rows = list(_groups(scene, rng))
        rows = [rows[k] for k in rng.permutation(len(rows))]
        kinds = [kind for _, kind in rows]
        order = sorted(range(len(rows)), key=lambda k: kinds[:k].count(kinds[k]))
        return ObjectsInVideo.from_json([rows[k][0] for k in order[:count]])

    def measure(self, facts: ObjectsInVideo, scene: Scene) -> Measured:
        """The label names the object that moves (1 or 2), and what it does; or what both do, or where one passes."""
        found = [_measured(scene, fact) for fact in facts.to_json()]
        labels = ["" if one.why else one.code for one in found]
        change: Float64[np.ndarray, "n 1"] = np.array([one.change for one in found], dtype=np.float64).reshape(-1, 1)
        return Measured(
            why=np.array([one.why for one in found], dtype=np.str_),
            value=change,
            sigma=np.zeros_like(change),
            label=np.array(labels, dtype=np.str_),
            margin=np.array([one.margin for one in found], dtype=np.float64),
            evidence={"change": change[:, 0].round(3), "length_unit": np.full(len(facts), scene.length_unit)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: ObjectsInVideo, answers: Answers, chance: Chance) -> Offer:
        """Four sentences about the same objects that differ in two ways, so that none is in the middle."""
        labels = answers.labels().tolist()
        each = [_options(label, asks) for label, asks in zip(labels, facts.asks.tolist(), strict=True)]
        right = [options.index(label) if label else 0 for options, label in zip(each, labels, strict=True)]
        mistakes = [
            [_mistake(option, options[k], asks) for option in options]
            for options, k, asks in zip(each, right, facts.asks.tolist(), strict=True)
        ]
        return Offer(
            why=np.full(len(labels), ""),
            options=np.array(each, dtype=np.str_).reshape(len(each), 4),
            right=np.array(right, dtype=np.int64),
            mistakes=np.array(mistakes, dtype=np.str_).reshape(len(each), 4),
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and four sentences."""
        assert offer is not None
        options = tuple(in_words(code, fact["a"], fact["b"], fact["c"]) for code in offer.values(0))
        return Phrasing(media=(Video(frames=tuple(fact["frames"])),), options=options)


def in_words(code: str, a: str, b: str, c: str) -> str:
    """ "First the robot approaches the cart, then it moves away from it."; of three objects "The robot approaches the
    table and moves away from the sofa."."""
    if code in _SENTENCES:
        return _SENTENCES[code].format(a=a, b=b, c=c)
    mover, first, *then = code.split()
    agent, patient = (a, b) if mover == "1" else (b, a)
    if not then:
        return f"The {agent} {_VERBS[first]} the {patient}."
    if not c:
        return f"First the {agent} {_VERBS[first]} the {patient}, then it {_VERBS[then[0]]} it."
    if then[0] == first:
        return f"The {agent} {_VERBS[first]} the {b} and the {c}."
    return f"The {agent} {_VERBS[first]} the {b} and {_VERBS[then[0]]} the {c}."


def _options(label: str, asks: str) -> list[str]:
    """Codes of four sentences; the same ones for all answers that they offer."""
    if asks in _FIXED:
        return [*_FIXED[asks]]
    if asks == _PATIENTS:
        return [f"1 {one} {other}" for one in _OTHER for other in _OTHER]
    phases = label.split()[1:] or [NEARER]
    pair = sorted([" ".join(phases), " ".join(_OTHER[phase] for phase in phases)])
    return [f"{mover} {each}" for mover in "12" for each in pair]


def _mistake(option: str, right: str, asks: str) -> str:
    if asks in _FIXED:
        return "" if option == right else _OTHERWISE[asks]
    (who, *what), (mover, *phases) = option.split(), right.split()
    changed = "" if what == phases else "order exchanged" if asks == _AGENT and len(what) == 2 else "the other way"
    return ", ".join(["agent and patient exchanged"] * (who != mover) + [changed] * bool(changed))


def _groups(scene: Scene, rng: np.random.Generator) -> Iterator[tuple[dict[str, Json], str]]:
    """Facts about decided events in random videos, each with its kind."""
    names, movers = object_names(scene), {*moving(scene).object.tolist()}
    if not one_identity(scene) or not movers:
        return
    listed = all_listed(scene, names)
    for frames in videos_of_objects(scene, rng, _VIDEOS):
        shown = sightings(scene).of(frames)
        alone, clear, frames = singled_out(names, shown), seen_throughout(shown), frames[frames >= 0]
        objects = [k for k in sorted(alone.values()) if clear[k] and listed[k]]
        told: dict[int, list[tuple[int, Encounter]]] = {}
        yield from _both_or_between(scene, rng, frames, objects, movers)
        for pair in combinations(objects, 2):
            found = encounter(scene, frames, *pair) if movers & {*pair} else Encounter(why="nothing moves")
            if found.why:
                continue
            agent, patient = pair[found.mover], pair[1 - found.mover]
            if patient in movers:
                a, b = (names[pair[k]].item() for k in rng.permutation(2))
                yield _fact(frames, a, b, "", _AGENT), f"{_AGENT} {' '.join(found.phases)} {a == names[agent]}"
            elif len(found.phases) == 1:
                told.setdefault(agent, []).append((patient, found))
        for agent, patients in told.items():
            for one, other in combinations([patients[k] for k in rng.permutation(len(patients))], 2):
                a, b, c = (names[k].item() for k in (agent, one[0], other[0]))
                yield _fact(frames, a, b, c, _PATIENTS), f"{_PATIENTS} {one[1].phases} {other[1].phases}"


def _both_or_between(
    scene: Scene, rng: np.random.Generator, frames: Int64[np.ndarray, "v"], objects: list[int], movers: set[int]
) -> Iterator[tuple[dict[str, Json], str]]:
    """Facts about two that move, and about one that passes two others."""
    names = object_names(scene)
    for pair in combinations([k for k in objects if k in movers], 2):
        if not (met := meeting(scene, frames, *pair)).why:
            a, b = (names[pair[k]].item() for k in rng.permutation(2))
            yield _fact(frames, a, b, "", _BOTH), f"{_BOTH} {met.code}"
    for mover in (k for k in objects if k in movers):
        for others in combinations([k for k in rng.permutation(objects).tolist() if k != mover], 2):
            if not (passed := passing(scene, frames, mover, *others)).why:
                a, b, c = (names[k].item() for k in (mover, *others))
                yield _fact(frames, a, b, c, _PASSES), f"{_PASSES} {passed.code}"


def _fact(frames: Int64[np.ndarray, "v"], a: str, b: str, c: str, asks: str) -> dict[str, Json]:
    return {"frames": frames.tolist(), "a": a, "b": b, "c": c, "asks": asks}


def _measured(scene: Scene, fact: Mapping[str, Json]) -> Encounter:
    """What happens between the objects of a fact. For two patients: what the agent does with respect to either."""
    frames, called = np.array(fact["frames"], dtype=np.int64), [name for name in (fact[k] for k in "abc") if name]
    rows, why = found_throughout(scene, frames, called)
    if why:
        return Encounter(why=why)
    if fact["asks"] == _BOTH:
        return meeting(scene, frames, *rows)
    if fact["asks"] == _PASSES:
        return passing(scene, frames, *rows)
    found = [encounter(scene, frames, rows[0], row) for row in rows[1:]]
    if undecided := [one for one in found if one.why]:
        return undecided[0]
    if fact["asks"] == _AGENT:
        return found[0]
    if any(one.mover == 1 or len(one.phases) > 1 for one in found):
        return Encounter(why="another object moves, or the first one approaches and leaves")
    return Encounter(
        why="",
        mover=0,
        phases=tuple(one.phases[0] for one in found),
        change=min(one.change for one in found),
        margin=min(one.margin for one in found),
    )
