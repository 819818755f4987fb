"""The guesses of a baseline without pictures, scored by question."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from spatial_engine.leaks.question_table import QuestionTable


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """The scored guesses of one baseline on n questions."""

    hits: Float64[np.ndarray, "n"]
    """1 right, 0 wrong, in between if several answers are equally likely; NaN without a guess."""
    chance: Float64[np.ndarray, "n"]
    """Expected accuracy of a fair guess."""
    by_tolerance: Bool[np.ndarray, "n"]
    """Whether an answer is right within a tolerance and has no chance level."""


def no_guesses(table: QuestionTable) -> Guesses:
    """No guesses yet, only chance levels."""
    return Guesses(hits=np.full(len(table), np.nan), chance=table.chance.copy(), by_tolerance=table.chance == 0)
