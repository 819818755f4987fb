"""L2/Understanding/Motion Understanding: the motion of the camera in a video, as a sentence of two to four parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.mapping.filmed_path import NONE, AboutPath, FilmedPath, video_of
from templates.mapping.story_words import MISTAKES, is_simple, sentence
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.camera_story import axes_of, coded, parts_of
from templates.scene.scene import Scene

_PAIRS = [*combinations(MISTAKES, 2)]


@dataclass(frozen=True, kw_only=True)
class CameraStory(AboutPath):
    """What the camera does in a video, in order of time: the names of its motions. Measures the number of parts."""

    name: str = "camera_story"
    formats: tuple[FormatName, ...] = ("choice",)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FilmedPath:
        """Videos with a story of at least two parts."""
        told = [frames.tolist() for frames, story in self.told(scene, rng) if len(story.parts) > 1][:count]
        return FilmedPath.from_json([{"frames": frames, "axes": axes_of(scene)} for frames in told])

    def measure(self, facts: FilmedPath, scene: Scene) -> Measured:
        """The story as text."""
        stories = self.stories(facts, scene)
        return self.measured(stories, [s.code if len(s.parts) > 1 else f"{NONE}a single motion" for s in stories])

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The story as text."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """The story, and what two mistakes and both together make of it."""
        labels, order = answers.labels().tolist(), chance.order("mistakes", len(_PAIRS)).tolist()
        each = [_options(label, ranks) if label else None for label, ranks in zip(labels, order, strict=True)]
        why = np.array(["" if options else "no three wrong stories look as likely" for options in each], dtype=np.str_)
        filled = [options or dict.fromkeys(("a", "b", "c", "d"), "") for options in each]
        options = np.array([[*one] for one in filled], dtype=np.str_).reshape(len(each), 4)
        mistakes = np.array([[*one.values()] for one in filled], dtype=np.str_).reshape(len(each), 4)
        return Offer.first_right(options, why, mistakes)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A video, and four sentences."""
        assert offer is not None
        options = tuple(sentence(parts_of(code)) for code in offer.values(0))
        return Phrasing(media=video_of(fact), wording=f"{format}.{fact['axes']}", options=options)


def _options(label: str, order: list[int]) -> dict[str, str] | None:
    """Four stories, the right one first, and the mistakes that lead to each; None where no two mistakes make four."""
    right = parts_of(label)
    for one, other in (_PAIRS[k] for k in order):
        first, second = MISTAKES[one], MISTAKES[other]
        stories = {right: "", first(right): one, second(right): other, first(second(right)): f"{one}, {other}"}
        if len(stories) == 4 and all(map(is_simple, stories)):
            return {coded(parts): mistake for parts, mistake in stories.items()}
    return None
