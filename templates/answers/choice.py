"""The format that offers lettered options."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from templates.answers.answer import Answer
from templates.answers.format import Format, OfficialMetric
from templates.answers.label import Label
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import LETTERS, Question


class Choice(Format):
    """The letter of one of several options. Right: the letter of the true option."""

    name: ClassVar[str] = "choice"
    reader: ClassVar[str] = "letter"
    closed: ClassVar[bool] = True

    def form(self, question: Question) -> str:
        """With the letters."""
        return f"the letter of one option ({', '.join(LETTERS[: len(question.options)])})"

    def score(self, question: Question, value: Json) -> Score:
        """1 for the right letter."""
        letters = [*LETTERS[: len(question.options)]]
        if question.answer not in letters:
            raise UnscorableError("the right answer is none of the options")
        prediction = value if value in letters else None
        return Score(value=float(prediction == question.answer), detail={"value": prediction, "right": question.answer})

    def chance(self, question: Question) -> float:
        """1/k of k options."""
        return 1 / max(1, len(question.options))

    def stated(self, question: Question, recorded: Answer) -> Answer:
        """The value of the option: an answer of the same type, or a label that contradicts every such answer."""
        value = option_value(question, [*LETTERS[: len(question.options)]].index(question.answer))
        prediction = recorded.predicted(value)
        return Label(text=str(value), margin=np.inf) if prediction is None else prediction

    def others(self, question: Question, recorded: Answer) -> Sequence[Answer]:
        """The values of the other options; none where one is of another type."""
        left = [k for k in range(len(question.options)) if LETTERS[k] != question.answer]
        values = [recorded.predicted(option_value(question, k)) for k in left]
        return [value for value in values if value is not None] if None not in values else ()

    def possible(self, question: Question) -> Sequence[str]:
        """The texts of the options; none where they are pictures."""
        if question.right_words is None:
            return ()
        return [question.right_words, *(text for n, text in enumerate(question.options) if n != question.right_option)]

    def first(self, question: Question) -> Json:
        """A."""
        return "A"

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """Any letter."""
        return LETTERS[rng.integers(len(question.options))]

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The other letters, from the next one on."""
        k, at = len(question.options), LETTERS.index(question.answer)
        yield from (LETTERS[(at + step) % k] for step in range(1, k))

    def official(self, question: Question) -> OfficialMetric:
        """Multiple choice."""
        return OfficialMetric("multichoiceeval", str(question.answer))

    def official_text(self, value: Json) -> str:
        """The letter after a word."""
        return f"Answer: {value}"


def option_value(question: Question, index: int) -> Json:
    """The value of an option, in the form of `Question.value`; for a drawing, its line."""
    if values := question.scorer_params.get("option_values"):
        return values[index]
    (drawing,) = (medium for medium in question.media if medium["id"] == question.options[index])
    (line,) = drawing["polylines"]
    return line
