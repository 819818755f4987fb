"""What a baseline without pictures gets right, question by question; and what it may know of the right answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from templates.question import Question

CLOSED = ("choice", "yes_no", "order")
"""Formats with a closed list of answers. Numbers, points and plans are right within a tolerance: chance is near 0."""


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """One baseline's guesses about n questions."""

    hits: Float64[np.ndarray, "n"]
    """1 right, 0 wrong, between them where several answers are equally likely; NaN where nothing is guessed."""
    chance: Float64[np.ndarray, "n"]
    """Expected accuracy of a fair guess."""
    by_tolerance: Bool[np.ndarray, "n"]
    """Whether an answer is right within a tolerance and has no chance level."""


def no_guesses(questions: Sequence[Question]) -> Guesses:
    """Nothing guessed yet: chance levels alone."""
    return Guesses(
        hits=np.full(len(questions), np.nan),
        chance=np.array([chance(question) for question in questions], dtype=np.float64),
        by_tolerance=np.array([question.format not in CLOSED for question in questions], dtype=bool),
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
    """Index of the right option of a choice; None where the letter names no option."""
    letter = question.answer
    index = ord(letter) - ord("A") if isinstance(letter, str) and len(letter) == 1 else -1
    return index if 0 <= index < len(question.options) else None


def has_words(question: Question) -> bool:
    """Whether the options of a choice are texts, not pictures."""
    return bool(question.options) and not any(medium.get("option") for medium in question.media)


def numbers_of(question: Question) -> tuple[list[float], list[float]] | None:
    """Numbers of the answer and their tolerances, equally many; None where the answer has none."""
    answer, tolerance = question.answer, question.tolerance
    try:
        if question.format == "numeric":
            pair = [float(answer)], [float(tolerance)]
        elif question.format == "json":
            pair = [float(answer[k]) for k in sorted(answer)], [float(tolerance[k]) for k in sorted(answer)]
        elif question.format == "point":
            pair = [float(v) for v in answer], [float(tolerance)] * len(answer)
        else:
            return None
    except (TypeError, ValueError, KeyError):
        return None
    return pair if pair[0] and np.isfinite(pair).all() else None


def period_of(question: Question) -> float | None:
    """360 for angles in degrees; None for numbers that do not wrap around."""
    period = question.scorer_params.get("period")
    return float(period) if isinstance(period, int | float) and period > 0 else None
