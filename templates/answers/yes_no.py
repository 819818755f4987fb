"""The format that asks for yes or no."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from templates.answers.answer import Answer
from templates.answers.format import Denied, Format, OfficialMetric
from templates.answers.label import Label
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question

_WORDS = ("yes", "no")


class YesNo(Format):
    """Yes or no. Right: the true word. The measurement is a label, or a shape that the only drawing should show."""

    name: ClassVar[str] = "yes_no"
    reader: ClassVar[str] = "yes_no"
    closed: ClassVar[bool] = True
    takes: ClassVar[tuple[str, ...]] = ("label", "shape")

    def check(self, answers: Answer) -> None:
        """Labels are one of the two words."""
        super().check(answers)
        if isinstance(answers, Label) and (odd := sorted({*np.atleast_1d(answers.text).tolist()} - {*_WORDS, ""})):
            raise ValueError(f"Label.text is {odd[0]!r} for {self.name}; allowed: yes, no")

    def form(self, question: Question) -> str:
        """The two words."""
        return "yes or no"

    def score(self, question: Question, value: Json) -> Score:
        """1 for the right word."""
        if question.answer not in _WORDS:
            raise UnscorableError("the right answer is neither yes nor no")
        prediction = value if value in _WORDS else None
        return Score(value=float(prediction == question.answer), detail={"value": prediction, "right": question.answer})

    def chance(self, question: Question) -> float:
        """1/2."""
        return 0.5

    def stated(self, question: Question, recorded: Answer) -> Answer | Denied:
        """The word as a label; or the drawn shape, which "no" denies."""
        if question.answer not in _WORDS:
            raise ValueError(f"neither yes nor no: {question.answer!r}")
        if isinstance(recorded, Label):
            return super().stated(question, recorded)
        (drawing,) = (medium for medium in question.media if medium["kind"] == "drawing")
        (line,) = drawing["polylines"]
        drawn = recorded.predicted(line)
        if drawn is None:
            raise ValueError(f"the drawing shows no {recorded.name}")
        return drawn if question.answer == "yes" else Denied(drawn)

    def possible(self, question: Question) -> Sequence[str]:
        """Both words."""
        return sorted(_WORDS, key=lambda word: word != question.answer) if question.answer in _WORDS else ()

    def no_op(self, question: Question) -> Json:
        """ "no"."""
        return "no"

    def first(self, question: Question) -> Json:
        """Yes."""
        return "yes"

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """A random word."""
        return _WORDS[rng.integers(2)]

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The other word."""
        yield "no" if question.answer == "yes" else "yes"

    def official(self, question: Question) -> OfficialMetric:
        """By a judge."""
        return OfficialMetric("judge", str(question.answer))
