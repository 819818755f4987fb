"""The base class of formats: how an answer is asked for, and how a reply is scored."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Int

from templates.answers.answer import Answer
from templates.answers.registry import ANSWERS, recorded_answer
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True)
class Denied:
    """The meaning of a written "no": an answer is wrong."""

    answer: Answer

    def right(self, truth: Answer) -> Int[np.ndarray, "*n"]:
        """The negated verdict of the answer."""
        return np.asarray(-self.answer.right(truth))


class OfficialMetric(NamedTuple):
    """How SpatialTree-Bench scores a question."""

    name: str
    answer: str
    """The right answer as text."""
    hint: Mapping[str, Json] = {}
    asked: str = ""
    """What the row asks beside the question."""
    options: Sequence[str] = ()
    """Its options, where the question has none."""


class Format(ABC):
    """A way of asking. By default the question's answer type reads and scores the written answer."""

    name: ClassVar[str]
    """Registry name; the `format` of a question."""
    reader: ClassVar[str]
    """Name of the function that finds the answer in a reply, in `spatial_engine.scoring.own.readers.READERS`."""
    closed: ClassVar[bool] = False
    """Whether the possible answers are a fixed list: then chance is one over their number."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Names of the built-in answer types that it can ask for; any if empty."""

    @abstractmethod
    def form(self, question: Question) -> str:
        """The required form of a reply, in words ("one number, in degrees")."""

    def check(self, answers: Answer) -> None:
        """Raises `TypeError` or `ValueError` for a stack of answers that it cannot ask for."""
        if self.takes and answers.name in ANSWERS.builtin and answers.name not in self.takes:
            allowed = ", ".join(ANSWERS.builtin[name].partition(":")[2] for name in self.takes)
            raise TypeError(f"answer returned {type(answers).__name__} for {self.name}; allowed: {allowed}")

    def score(self, question: Question, value: Json) -> Score:
        """Score of a prediction in the form of `Question.answer`; `value` is None for a reply without one. Raises
        `UnscorableError`, or what `Answer.from_json` raises, for an invalid question."""
        return recorded_answer(question).score(value)

    def chance(self, question: Question) -> float:
        """Expected `score` of a uniformly random answer; 0 where an answer is right within a tolerance."""
        return 0.0

    def possible(self, question: Question) -> Sequence[str]:
        """The possible answers in words, the right one first; the right one alone where they are too many to list;
        none where an answer is right within a tolerance."""
        return ()

    def claims(self, question: Question) -> Sequence[str]:
        """What a judge model looks for in a reply, one by one; none where rules score it. Raises `UnscorableError`."""
        return ()

    def stated(self, question: Question, recorded: Answer) -> Answer | Denied:
        """The written answer as a typed answer. An audit compares it with the truth, beside the `recorded` measurement.
        Raises `ValueError`, `LookupError`, `TypeError` or `AttributeError` for an invalid answer."""
        prediction = recorded.predicted(question.answer)
        if prediction is None:
            raise ValueError(f"no answer of the format {self.name}: {question.answer!r}")
        return prediction

    def others(self, question: Question, recorded: Answer) -> Sequence[Answer]:
        """What is offered beside the written answer, as typed answers; none where nothing is."""
        return ()

    def no_op(self, question: Question) -> Json | None:
        """The answer that corresponds to doing nothing; None where there is none."""
        return None

    def first(self, question: Question) -> Json | None:
        """The first answer of a fixed list; else that of `no_op`."""
        return self.no_op(question)

    def guess(self, question: Question, rng: np.random.Generator) -> Json | None:
        """A random answer; None where none can be drawn."""
        return None

    def near_misses(self, question: Question) -> Iterator[Json]:
        """Probably wrong answers, the most informative first."""
        return iter(())

    def official(self, question: Question) -> OfficialMetric:
        """The metric of SpatialTree-Bench that scores the question. Raises `UnscorableError` where there is none."""
        raise UnscorableError(f"no official metric for {question.ability} in the format {self.name}")

    def official_text(self, value: Json) -> str | None:
        """An answer in the form that SpatialTree-Bench's prompts ask for; None where ours ask for the same."""
        return None
