"""What every format is: a way of asking for an answer, and what a reply to it is worth."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int

from templates.answers.answer import Answer
from templates.answers.registry import recorded_answer
from templates.answers.score import Score
from templates.measured import Json
from templates.question import Question


@dataclass(frozen=True)
class Denied:
    """What a written "no" says: that an answer is wrong."""

    answer: Answer

    def right(self, truth: Answer) -> Int[np.ndarray, "*n"]:
        """The contrary of the answer's verdict."""
        return np.asarray(-self.answer.right(truth))


class Format(ABC):
    """A way of asking. By default the written answer is that of the question's answer type, and is scored by it."""

    name: ClassVar[str]
    """Registry name; stands as `format` in a question."""
    reader: ClassVar[str]
    """What finds the answer in a reply: a name in `spatial_engine.scoring.own.readers.READERS`."""
    closed: ClassVar[bool] = False
    """Whether there is a closed list of answers: then chance is one by their number."""

    @abstractmethod
    def form(self, question: Question) -> str:
        """What a reply must state, in words ("one number, in degrees")."""

    def score(self, question: Question, value: Json) -> Score:
        """What a prediction is worth, in the form of `Question.answer`; None if there is none. Raises
        `UnscorableError`, or whatever `Answer.from_json` raises, for a question that allows no score."""
        return recorded_answer(question).score(value)

    def chance(self, question: Question) -> float:
        """What someone who guesses evenly expects of `score`."""
        return 0.0

    def stated(self, question: Question, recorded: Answer) -> Answer | Denied:
        """What the written answer says: an audit holds it against the truth, beside the `recorded` measurement.
        Raises `ValueError`, `LookupError`, `TypeError` or `AttributeError` for an answer that is none."""
        prediction = recorded.predicted(question.answer)
        if prediction is None:
            raise ValueError(f"no answer of the format {self.name}: {question.answer!r}")
        return prediction

    def no_op(self, question: Question) -> Json | None:
        """The answer that doing nothing comes to; None where there is none."""
        return None

    def guess(self, question: Question, rng: np.random.Generator) -> Json | None:
        """An answer drawn without looking; None where none can be."""
        return None

    def near_misses(self, question: Question) -> Iterator[Json]:
        """Answers that may well be wrong, the most telling first."""
        return iter(())
