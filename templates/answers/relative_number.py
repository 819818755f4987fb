"""Numbers of other people's benchmarks: no σ is known, and the score is the mean relative accuracy."""

from dataclasses import dataclass, replace
from typing import ClassVar

from templates.answers.answer import finite
from templates.answers.measures import mean_relative_accuracy
from templates.answers.numbers import Numbers
from templates.answers.score import Score
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class RelativeNumber(Numbers):
    """One number. The score is the mean relative accuracy (VSI-Bench): 1 within 5 % of it, 0 beyond 50 %."""

    name: ClassVar[str] = "relative_number"

    def score(self, value: Json) -> Score:
        """From 0 to 1, in tenths."""
        graded, number = super().score(value), finite(value)
        accuracy = 0.0 if number is None else mean_relative_accuracy(number, float(self.value[0]))
        return replace(graded, value=accuracy)
