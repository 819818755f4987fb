"""The format of other people's benchmarks whose answers fit no format of ours: their own scorer reads the answer."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from templates.answers.format import Format
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question


class Reply(Format):
    """A text in a form that the question states. `Question.scorer` names the published scorer that reads it.

    Parameters of the score: `form` (in words), and perhaps `chance` and `guesses` (what may be guessed).
    """

    name: ClassVar[str] = "reply"
    reader: ClassVar[str] = "text"

    def form(self, question: Question) -> str:
        """As the question's parameters state it."""
        return str(question.scorer_params.get("form", "as the question states it"))

    def score(self, question: Question, value: Json) -> Score:
        """Raises `UnscorableError`: only the published scorer can."""
        raise UnscorableError("scored by the benchmark's own scorer")

    def chance(self, question: Question) -> float:
        """As the question's parameters state it."""
        return float(question.scorer_params.get("chance", 0.0))

    def guess(self, question: Question, rng: np.random.Generator) -> Json | None:
        """One of the parameter `guesses`."""
        guesses: Sequence[str] = question.scorer_params.get("guesses", ())
        return guesses[int(rng.integers(len(guesses)))] if guesses else None
