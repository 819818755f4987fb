"""What a guesser that sees no picture gets right, question by question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from templates.question import Question

LABELS = ("choice", "yes_no", "order")
"""Formats with a chance level; numbers, points and plans are right within a tolerance, and chance is next to none."""


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """One baseline's guesses about n questions."""

    hits: Float64[np.ndarray, "n"]
    """1 right, 0 wrong, between them where it cannot choose among several; NaN where it says nothing."""
    chance: Float64[np.ndarray, "n"]
    """What a fair guess expects."""
    fixed: Bool[np.ndarray, "n"]
    """Right within a tolerance, without a chance level."""


def no_guesses(questions: Sequence[Question]) -> Guesses:
    """Nothing said yet: chance levels alone."""
    return Guesses(
        hits=np.full(len(questions), np.nan),
        chance=np.array([chance(question) for question in questions], dtype=np.float64),
        fixed=np.array([question.format not in LABELS for question in questions], dtype=bool),
    )


def chance(question: Question) -> float:
    """1/k of k options, 1/2, 1/n! of n photos to be ordered, else 0."""
    if question.format == "choice":
        return 1 / max(1, len(question.options))
    if question.format == "yes_no":
        return 0.5
    if question.format == "order" and isinstance(question.answer, list | tuple):
        return 1 / float(np.prod(np.arange(1, len(question.answer) + 1), dtype=np.float64))
    return 0.0


def right_option(question: Question) -> int | None:
    """Index of the right option of a choice; None where the letter names none."""
    letter = question.answer
    index = ord(letter) - ord("A") if isinstance(letter, str) and len(letter) == 1 else -1
    return index if 0 <= index < len(question.options) else None


def has_words(question: Question) -> bool:
    """Whether the options of a choice are texts, not pictures."""
    return bool(question.options) and not any(medium.get("option") for medium in question.media)
