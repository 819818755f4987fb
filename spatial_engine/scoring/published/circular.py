"""Circular evaluation: a question of k options is asked k times, every option once at every letter.

Soft (CoreCognition, EASI): the share of presentations answered right, pooled, so that questions with many options
weigh more. Hard (MMBench): the share of questions answered right in all k presentations. VLMEvalKit computes the hard
score too; there an answer that rules cannot read goes to a language model first, and fails its whole group without one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from templates.question import LETTERS

Option = TypeVar("Option")


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """One presentation."""

    rotation: int
    options: tuple[object, ...]
    """Position p shows original option (p + rotation) mod k."""
    answer: str
    """Letter of the right one, (a - rotation) mod k."""


@dataclass(frozen=True, kw_only=True)
class Presented:
    """What was answered to the k presentations of one question, as places 0..k-1."""

    options: int
    answer: int
    """Place of the right option before rotation."""
    predictions: tuple[int | None, ...]
    """By rotation; None, or nothing, where no answer was read: wrong."""

    @property
    def hits(self) -> tuple[bool, ...]:
        """By rotation."""
        given = (*self.predictions, *[None] * self.options)[: self.options]
        return tuple(said == (self.answer - i) % self.options for i, said in enumerate(given))


@dataclass(frozen=True, kw_only=True)
class Circular:
    """All as fractions; 0 of no questions."""

    plain: float
    """Rotation 0 only: the score without circular evaluation."""
    soft: float
    soft_by_question: float
    """Mean over questions, each with the same weight."""
    hard: float


def rotations(options: Sequence[object], answer: str) -> list[Rotation]:
    """All presentations of a question, the original first. Raises `ValueError` if `answer` is none of the letters."""
    right, k = LETTERS.index(answer), len(options)
    if right >= k:
        raise ValueError(f"the answer {answer} is none of {k} options")
    return [
        Rotation(rotation=i, options=(*options[i:], *options[:i]), answer=LETTERS[(right - i) % k]) for i in range(k)
    ]


def can_rotate(options: Sequence[str], answer: str) -> bool:
    """Whether VLMEvalKit rotates a question: it has a valid answer, and no option speaks of other options' letters.

    Not rotated: an option that is nothing but capital letters in a row of the alphabet ("A", "AB"), and one that holds
    two letters of options by themselves ("Both A and B").
    """
    letters = set(LETTERS[: len(options)])
    if len(answer) != 1 or answer not in letters:
        return False
    if any(option in LETTERS for option in options):
        return False
    return all(len(letters & set(re.sub("[^a-zA-Z]", " ", option).split())) <= 1 for option in options)


def circular(questions: Sequence[Presented]) -> Circular:
    """Scores over questions of any numbers of options."""
    hits = [question.hits for question in questions if question.options > 0]
    if not hits:
        return Circular(plain=0.0, soft=0.0, soft_by_question=0.0, hard=0.0)
    return Circular(
        plain=sum(own[0] for own in hits) / len(hits),
        soft=sum(map(sum, hits)) / sum(map(len, hits)),
        soft_by_question=sum(sum(own) / len(own) for own in hits) / len(hits),
        hard=sum(map(all, hits)) / len(hits),
    )
