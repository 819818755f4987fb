"""The guesses of a baseline without pictures, scored by question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from spatial_engine.scoring.own import by_format, chance
from templates.answers import Answer
from templates.answers.registry import recorded_answer
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """The scored guesses of one baseline on n questions."""

    hits: Float64[np.ndarray, "n"]
    """1 right, 0 wrong, in between if several answers are equally likely; NaN without a guess."""
    chance: Float64[np.ndarray, "n"]
    """Expected accuracy of a fair guess."""
    by_tolerance: Bool[np.ndarray, "n"]
    """Whether an answer is right within a tolerance and has no chance level."""


def no_guesses(questions: Sequence[Question]) -> Guesses:
    """No guesses yet, only chance levels."""
    levels = np.array([chance(question) for question in questions], dtype=np.float64)
    return Guesses(hits=np.full(len(questions), np.nan), chance=levels, by_tolerance=levels == 0)


def written(question: Question) -> Answer | None:
    """The written answer of a question as a typed answer; None if it is invalid."""
    found = by_format(question, lambda form: form.stated(question, recorded_answer(question)))
    return found if isinstance(found, Answer) else None
