"""Counts: whole numbers, asked for as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from templates.answers.answer import TRUTH_SIGMAS, Answer, Errors, Recorded, Rows, finite, or_nan, or_none
from templates.answers.measures import mean_relative_accuracy
from templates.answers.score import UnscorableError
from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class Count(Answer):
    """How many there are. Right: the same whole number."""

    name: ClassVar[str] = "count"
    numbers: ClassVar[str] = "value"

    value: Rows
    sigma: Rows = 0.0
    """0 where every counted object is certain."""
    p_complete: Rows = 1.0
    """Probability that no object is missing and none is counted twice."""

    def p_within(self) -> Rows:
        """Probability that the list is complete and that the true number rounds to this one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.p_complete * (1 - 2 * ndtr(-0.5 / np.asarray(self.sigma)))

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """Half: whole numbers that differ, differ by more."""
        return np.full((*np.shape(self.value), 1), 0.5)

    def error(self, truth: "Count") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """Absolute difference; σ is infinite for a truth that may be incomplete."""
        complete = np.asarray(truth.p_complete) >= ndtr(TRUTH_SIGMAS)
        error = np.abs(np.asarray(self.value, dtype=float) - truth.value)
        return error[..., None], np.where(complete, truth.sigma, np.inf)[..., None]

    def difference(self, truth: "Count") -> Errors:
        """The difference as `count`."""
        return {"count": float(self.value - truth.value)}, {"count": float(np.hypot(self.sigma, truth.sigma))}

    def to_json(self) -> Recorded:
        """A whole number; the tolerance is 0."""
        count = round(float(self.value))
        return Recorded(
            value=count,
            answer=count,
            sigma=or_none(self.sigma),
            tolerance=0,
            scorer_params={"counting": True, "p_complete": float(self.p_complete)},
        )

    @classmethod
    def from_json(cls, question: Question) -> "Count":
        """Raises `UnscorableError` where the value is no whole number."""
        count = _whole(question.value)
        if count is None:
            raise UnscorableError("no whole number of counted objects")
        complete = question.scorer_params.get("p_complete", 1.0)
        return cls(value=count, sigma=or_nan(question.sigma), p_complete=float(complete))

    def predicted(self, value: Json) -> "Count | None":
        """A whole number."""
        count = _whole(value)
        return None if count is None else replace(self, value=count)

    def detail(self, prediction: "Count") -> Mapping[str, Json]:
        """The error, its square, and the mean relative accuracy."""
        error = float(prediction.value - self.value)
        accuracy = mean_relative_accuracy(float(prediction.value), float(self.value))
        return {"error": error, "squared_error": error**2, "relative_accuracy": accuracy}


def _whole(value: Json) -> float | None:
    number = finite(value)
    return number if number is not None and number.is_integer() else None
