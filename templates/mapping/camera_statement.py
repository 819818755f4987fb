"""L2/Understanding/Motion Understanding: whether one claim about the motion of the camera in a video is true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import ClassVar

import numpy as np

from action_mapping.primitives import STAY
from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.mapping.filmed_path import NONE, AboutPath, FilmedPath, video_of
from templates.mapping.story_words import DOES, MISTAKES, Mistake
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_story import Part, Story, axes_of, opposite
from templates.scene.scene import Scene

_BEFORE, _WHILE = " before ", " while "


@dataclass(frozen=True, kw_only=True)
class ClaimAboutPath(FilmedPath):
    """A video and a claim about its camera: "Pan Left", "Pan Left before Dolly In", "Pan Left while Dolly In"."""

    claim: Texts


@dataclass(frozen=True, kw_only=True)
class CameraStatement(AboutPath):
    """Whether a claim about the motion of the camera holds. Measures the number of parts of the motion."""

    name: str = "camera_statement"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[Facts]] = ClaimAboutPath

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ClaimAboutPath:
        """Of each video a claim that holds, and one that differs from it in one word or in the order."""
        rows: list[dict[str, Json]] = []
        for frames, story in self.told(scene, rng):
            pairs = _minimal_pairs(story.parts)
            if pairs and len(rows) < count:
                pair = pairs[rng.integers(len(pairs))]
                claims = [pair[k] for k in rng.permutation(2)]
                rows += [{"frames": frames.tolist(), "axes": axes_of(scene), "claim": claim} for claim in claims]
        return ClaimAboutPath.from_json(rows)

    def measure(self, facts: ClaimAboutPath, scene: Scene) -> Measured:
        """Label "yes" or "no"; the margin is that of the whole motion."""
        stories, claims = self.stories(facts, scene), facts.claim.tolist()
        labels = [_label(claim, story) for claim, story in zip(claims, stories, strict=True)]
        measured = self.measured(stories, labels)
        return replace(
            measured, traps={name: _trap(change, claims, stories, labels) for name, change in MISTAKES.items()}
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and the claim in words."""
        values = {"claim": in_words(fact["claim"])}
        return Phrasing(media=video_of(fact), wording=f"{format}.{fact['axes']}", values=values)


def holds(claim: str, parts: Sequence[Part]) -> bool | None:
    """Whether a claim is true of a motion; None where it may be meant in two ways."""
    for word in (_BEFORE, _WHILE):
        if word in claim:
            one, other = ([k for k, part in enumerate(parts) if name in part] for name in claim.split(word))
            if word == _WHILE:
                return bool({*one} & {*other})
            if len(one) > 1 or len(other) > 1 or (one and one == other):
                return None
            return bool(one and other) and one < other
    return any(claim in part for part in parts)


def in_words(claim: str) -> str:
    """ "the camera pans left before it dollies forward"."""
    for word in (_BEFORE, _WHILE):
        if word in claim:
            one, other = claim.split(word)
            return f"the camera {DOES[one]}{word}it {DOES[other]}"
    return f"the camera {DOES[claim]}"


def _label(claim: str, story: Story) -> str:
    return _word(holds(claim, story.parts)) or f"{NONE}the claim may be meant in two ways"


def _trap(change: Mistake, claims: Sequence[str], stories: Sequence[Story], labels: Sequence[str]) -> Texts:
    """What a mistake answers, where that is wrong."""
    words = [_word(holds(claim, change(story.parts))) for claim, story in zip(claims, stories, strict=True)]
    return np.array([word if word != label else "" for word, label in zip(words, labels, strict=True)], dtype=np.str_)


def _word(true: bool | None) -> str:
    return "" if true is None else "yes" if true else "no"


def _minimal_pairs(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """Claims that hold, each with one like it that does not. Of several parts they are about order or simultaneity, of
    which both claims name the same motions, or motions of the same kind."""
    names = [name for part in parts for name in part]
    once = [name for name in dict.fromkeys(names) if names.count(name) == 1]
    pairs = []
    for one, other in combinations(once, 2):
        pairs += [(f"{one}{_BEFORE}{other}", f"{other}{_BEFORE}{one}")]
    for one, other in permutations([name for name in once if name != STAY.name], 2):
        pairs += [(f"{one}{_WHILE}{other}", f"{one}{_WHILE}{third}") for third in once if third != STAY.name]
        pairs += [(f"{one}{_BEFORE}{other}", f"{opposite(one)}{_BEFORE}{other}")]
        pairs += [(f"{one}{_WHILE}{other}", f"{opposite(one)}{_WHILE}{other}")]
    if len(parts) == 1:
        pairs += [(name, opposite(name)) for name in once if name != STAY.name]
    return [(true, wrong) for true, wrong in pairs if holds(true, parts) is True and holds(wrong, parts) is False]
