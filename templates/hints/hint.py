"""A hint: measured facts of one kind beside a question, in words and as pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool

from templates.columns import Json
from templates.cue import Cue
from templates.facts import Facts
from templates.generate import answers_to, measure_on_all
from templates.measured import Measured
from templates.media import Medium
from templates.question import FormatName
from templates.scene.scene import Scene
from templates.template import Template

MOST = 8
"""Largest number of cues of one kind."""

Scenes = tuple[Scene, ...]
"""Of one clip, as `templates.scene.scenes.scenes_of` gives them."""
Numbers = Mapping[int, int]
"""Number of each photo in the question, by frame."""
Allowed = Callable[[Cue], bool]
"""Whether a cue may stand beside the question (`templates.hints.rule`)."""


@dataclass(frozen=True, kw_only=True)
class Captioned:
    """A picture, and what it shows in words that begin with "photo"."""

    text: str
    picture: Medium


@dataclass(frozen=True, kw_only=True)
class Hint:
    """What is given beside a question: a few facts in words, and pictures that may show more of them."""

    cues: Sequence[Cue] = ()
    pictures: Sequence[Captioned] = ()
    licence: Mapping[str, Json] = field(default_factory=dict)
    """That of a question about these facts."""


def decided(
    template: Template, format: FormatName, facts: Facts, scenes: Scenes, min_confidence: float
) -> tuple[Measured, Bool[np.ndarray, "n"]]:
    """The facts as a template measures them, and which of them it would ask about: no others are worth a hint."""
    measured = measure_on_all(template, facts, scenes)
    return measured, answers_to(template, format, facts, measured).gated(min_confidence).why == ""
