"""What every type of answer is, and when an answer is *right*: one definition for gate, audit, scoring and reward."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from templates.answers.score import Score
from templates.measured import Json
from templates.question import Question

TRUTH_SIGMAS = 3.0
"""Truth counts only where it decides by this many of its own σ; else the comparison is undecidable."""
RIGHT, UNDECIDED, WRONG = 1, 0, -1
"""Verdicts. The smaller of two says whether both hold, the negative whether the contrary holds."""
LARGEST = 1e12
"""A predicted number beyond this measures nothing that can be seen."""

Rows = float | Float[np.ndarray, "*n"]
"""A number of one answer, or the column of a stack."""
Errors = tuple[dict[str, float], dict[str, float]]
"""Answer minus truth and the σ of that difference, by the number's name."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What a question keeps of its answer: fields of `Question`, JSON values only."""

    value: Json
    """The measurement."""
    answer: Json = None
    """The measurement as it is asked for: rounded, or as a plan. None where only a format can say it (a letter)."""
    sigma: Json = None
    tolerance: Json = None
    margin: float | None = None
    unit: str = ""
    scorer_params: Mapping[str, Json] = field(default_factory=dict)
    """What the score needs beside these."""


@dataclass(frozen=True, kw_only=True)
class Answer(ABC):
    """An answer with its uncertainty: one, or a stack of them.

    As scipy's `Rotation` is one rotation or many: the arrays of a stack have the same leading axes ("*n"), those of
    one answer have none. `p_right` and `right` work on both; all else is of one answer. Where a method takes another
    answer, that is one of the same type.
    """

    name: ClassVar[str]
    """Registry name; stands as `scorer` in a question."""
    refusal: ClassVar[str] = "σ too large for the tolerance"
    """Why it is not asked where P(right) is too small."""

    outlier_probability: Rows = 0.0
    """Probability that the measurement is plainly wrong (another point, a slid track)."""

    def p_right(self) -> Float[np.ndarray, "*n"]:
        """Probability that the answer is right: (1 - outlier_probability) · `p_within`; 0 where σ is not known."""
        p = np.asarray((1 - self.outlier_probability) * self.p_within())
        return np.where(np.isfinite(p), p, 0.0)

    def right(self, truth: "Answer") -> Int[np.ndarray, "*n"]:
        """RIGHT or WRONG if `truth` holds; UNDECIDED where the truth's own σ leaves it open.

        A label ("cannot be determined") and an answer of another type exclude each other. Raises `TypeError` for two
        other types.
        """
        if type(self) is not type(truth):
            if "label" not in (self.name, truth.name):
                raise TypeError(
                    f"cannot compare {type(self).__name__} with {type(truth).__name__}: give two of one type"
                )
            return np.where(truth.decides(), WRONG, UNDECIDED)
        error, sigma = self.error(truth)
        inside = error <= self.limits
        clear = np.abs(error - self.limits) >= TRUTH_SIGMAS * sigma
        wrong, right = (~inside & clear).any(axis=-1), (inside & clear).all(axis=-1)
        return np.where(wrong, WRONG, np.where(right, RIGHT, UNDECIDED))

    def decides(self) -> np.ndarray | np.bool_:
        """Whether it is certain enough to be a truth, before anything is compared with it."""
        return np.True_

    @abstractmethod
    def p_within(self) -> Rows:
        """P(right) of a measurement that is no outlier, under its σ."""

    @property
    @abstractmethod
    def limits(self) -> Float[np.ndarray, "*n k"]:
        """The largest errors that are right: the k tolerances."""

    @abstractmethod
    def error(self, truth: Any) -> tuple[Float[np.ndarray, "*n k"], Float[np.ndarray, "*n k"]]:
        """How far it is from the truth, to be compared with `limits`, and the σ of that which is the truth's."""

    @abstractmethod
    def to_json(self) -> Recorded:
        """What a question keeps of it."""

    @classmethod
    @abstractmethod
    def from_json(cls, question: Question) -> "Answer":
        """The answer that a question keeps: the inverse of `to_json`. Raises `ValueError`, `KeyError`, `IndexError`,
        `TypeError` or `AttributeError` for fields of another shape."""

    @abstractmethod
    def predicted(self, value: Json) -> "Answer | None":
        """The same with `value`, in the form of `Question.answer`, for its measurement; None for what is no answer."""

    def score(self, value: Json) -> Score:
        """What a prediction is worth if this answer is the target: 1 within the tolerance, else 0. Its σ counts only
        in the detail."""
        recorded = self.to_json()
        detail = {"unit": recorded.unit, "tolerance": recorded.tolerance, "sigma": recorded.sigma}
        prediction = self.predicted(value)
        if prediction is None:
            return Score(value=0.0, detail={"value": None, **detail})
        error, _ = prediction.error(self)
        return Score(
            value=float(np.all(error <= self.limits)),
            detail={"value": value, **detail, **self.detail(prediction)},
            nearness=_nearness(error, self.limits),
        )

    def detail(self, prediction: Any) -> Mapping[str, Json]:
        """Errors and graded scores of a prediction, by name."""
        return {}

    def tolerance_in_words(self) -> str:
        """How far off still counts as right ("±5°"); "" where nothing but the answer itself does."""
        return ""

    def difference(self, truth: Any) -> Errors:
        """Signed errors by name, for reports of errors over σ."""
        return {}, {}

    def repeats(self, other: Any) -> bool:
        """Whether two questions that ask the same of the same photos have one answer."""
        return True


def finite(value: Json) -> float | None:
    """A number that measures something; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


def listed(numbers: Float[np.ndarray, "d"]) -> list[float | None]:
    """As JSON: what is not finite is null."""
    return [number if np.isfinite(number) else None for number in numbers.tolist()]


def _nearness(error: Float[np.ndarray, "k"], limits: Float[np.ndarray, "k"]) -> float:
    """Mean of exp(-e² / 2t²) with the tolerance t for σ: the measurement's own σ would leave no slope outside it."""
    with np.errstate(all="ignore"):
        return float(np.mean(np.nan_to_num(np.exp(-0.5 * (error / limits) ** 2))))
