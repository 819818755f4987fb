"""The base class of answers: defines when an answer is *right*, for gate, audit, scoring and reward alike."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, ClassVar, TypeVar, get_args

import numpy as np
from jaxtyping import AbstractArray, Bool, Float, Int

from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question

TRUTH_SIGMAS = 3.0
"""Truth decides only where the error is this many σ of the truth away from the tolerance."""
RIGHT, UNDECIDED, WRONG = 1, 0, -1
"""Verdicts. The smaller of two is the verdict of "both", the negative that of "not"."""
LARGEST = 1e12
"""Predicted numbers with a larger absolute value count as invalid."""

Rows = float | Float[np.ndarray, "*n"]
"""A number of one answer, or a column of a stack."""
AnswerType = TypeVar("AnswerType", bound="Answer")
Errors = tuple[dict[str, float], dict[str, float]]
"""Answer minus truth, and the σ of that difference, by name of the number."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An answer as fields of `Question`: JSON values only."""

    value: Json
    """The measurement."""
    answer: Json = None
    """The measurement in the form that the question asks for: rounded, or as a plan. None where it depends on the
    format (a letter)."""
    sigma: Json = None
    tolerance: Json = None
    margin: float | None = None
    unit: str = ""
    scorer_params: Mapping[str, Json] = field(default_factory=dict)
    """Further parameters of the score."""


@dataclass(frozen=True, kw_only=True)
class Answer(ABC):
    """An answer with its uncertainty: one, or a stack of them.

    Like scipy's `Rotation`: the arrays of a stack have the same leading axes ("*n"), those of one answer have none.
    `p_right` and `right` work on both; the other methods take one answer. Two answers have the same type.
    """

    name: ClassVar[str]
    """Registry name; the `scorer` of a question."""
    refusal: ClassVar[str] = "σ too large for the tolerance"
    """Reason of the refusal where P(right) is too small."""
    numbers: ClassVar[str | None] = None
    """The field with its numbers, where one constant may lie within the tolerances of many answers; else None."""

    outlier_probability: Rows = 0.0
    """Probability that the measurement is an outlier (another point, a drifted track)."""

    def p_right(self) -> Float[np.ndarray, "*n"]:
        """Probability that the answer is right: (1 - outlier_probability) · `p_within`; 0 where σ is unknown."""
        p = np.asarray((1 - self.outlier_probability) * self.p_within())
        return np.where(np.isfinite(p), p, 0.0)

    def right(self, truth: "Answer") -> Int[np.ndarray, "*n"]:
        """RIGHT or WRONG compared with `truth`; UNDECIDED where σ of the truth leaves it open.

        A label ("cannot be determined") contradicts an answer of any other type. Raises `TypeError` for other pairs of
        different types.
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
        """Whether the answer is certain enough to serve as truth."""
        return np.True_

    @abstractmethod
    def p_within(self) -> Rows:
        """P(right) of a measurement that is not an outlier, given its σ."""

    @property
    @abstractmethod
    def limits(self) -> Float[np.ndarray, "*n k"]:
        """The k tolerances: the largest errors of a right answer."""

    @abstractmethod
    def error(self, truth: Any) -> tuple[Float[np.ndarray, "*n k"], Float[np.ndarray, "... k"]]:
        """Errors with respect to the truth (one, or as many), to compare with `limits`; and the σ of the truth."""

    @abstractmethod
    def to_json(self) -> Recorded:
        """The answer as fields of a question."""

    @classmethod
    @abstractmethod
    def from_json(cls, question: Question) -> "Answer":
        """The answer in the fields of a question: the inverse of `to_json`.

        Raises `ValueError`, `KeyError`, `IndexError`, `TypeError` or `AttributeError` for invalid fields.
        """

    @abstractmethod
    def predicted(self, value: Json) -> "Answer | None":
        """The answer with another value, in the form of `Question.answer`; None for an invalid value."""

    def score(self, value: Json) -> Score:
        """Score of a prediction for this target: 1 within the tolerance, else 0. σ affects only the detail."""
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
        """The tolerance as text ("±5°"); "" where the answer has none."""
        return ""

    def difference(self, truth: Any) -> Errors:
        """Signed errors and their σ by name, for reports of errors in σ."""
        return {}, {}

    def lead(self, other: "Answer", truth: Any) -> float:
        """By how many σ of the truth it is nearer to the true answer than another one; NaN where answers of the type
        are not more or less near."""
        return np.nan

    def repeats(self, other: Any) -> Bool[np.ndarray, "*n"]:
        """Whether the answers to two equal questions about the same photos agree: by default, whether numbers are
        within the tolerances. `other` is one answer or as many."""
        if self.numbers is None:
            return np.ones(self.limits.shape[:-1], dtype=bool)
        return np.asarray((self.error(other)[0] <= self.limits).all(axis=-1))

    def take(self: AnswerType, rows: Sequence[int] | np.ndarray) -> AnswerType:
        """The given rows of a stack, by index or as a mask. Fields that all rows share stay."""
        index = np.asarray(rows)
        index = np.flatnonzero(index) if index.dtype == bool else index.astype(int)
        return replace(self, **{name: column[index] for name, column in self._columns.items()})

    def row(self: AnswerType, k: int) -> AnswerType:
        """One answer of a stack, without rows of NaN at its end; its JSON is that of the answer that was stacked."""
        row = object.__new__(type(self))  # the stack was checked, and asks for as many rows as it has
        row.__dict__.update(self._shared | {name: rows[k] for name, rows in self._rows.items()})
        return row

    def lengths(self) -> set[int]:
        """The numbers of rows of its columns: one number for a stack, none for one answer."""
        return {len(column) for column in self._columns.values()}

    @cached_property
    def _rows(self) -> dict[str, Sequence[Any] | np.ndarray]:
        """The rows of each column: plain numbers and texts, or arrays without rows of NaN at their end."""
        return {name: _rows_of(column) for name, column in self._columns.items()}

    @cached_property
    def _shared(self) -> dict[str, Any]:
        """The fields that all rows share."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in self._columns}

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        """The fields with a row for each answer of a stack: they have more dimensions than those of one answer."""
        given = {name: (own, getattr(self, name)) for name, own in _dimensions(type(self)).items()}
        return {
            name: np.asarray(part) for name, (own, part) in given.items() if own is not None and np.ndim(part) > own
        }


def stacked(answers: Sequence[AnswerType]) -> AnswerType:
    """Answers of one type as a stack. What is no column (names, unit) is that of the first. Arrays of unequal lengths
    end in NaN; whole numbers become floats."""
    first = answers[0]
    parts = {f.name: [getattr(answer, f.name) for answer in answers] for f in fields(first)}
    own = _dimensions(type(first))
    columns = {name: each for name, each in parts.items() if each[0] is not None and np.ndim(each[0]) == own[name]}
    return replace(first, **{name: np.stack(_padded(each)) for name, each in columns.items()})


def joined(stacks: Sequence[AnswerType]) -> AnswerType:
    """Stacks of one type as one; as `stacked` makes it of their rows."""
    first = stacks[0]
    columns = {name: [getattr(stack, name) for stack in stacks] for name in first._columns}
    return replace(first, **{name: np.concatenate(_as_wide(each)) for name, each in columns.items()})


def _as_wide(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Columns with rows of one length; the shorter ones end in NaN."""
    if parts[0].ndim == 1 or len({part.shape[1] for part in parts}) == 1:
        return [*parts]
    width = max(part.shape[1] for part in parts)
    rest = [(part, (len(part), width - part.shape[1], *part.shape[2:])) for part in parts]
    return [np.concatenate([part, np.full(shape, np.nan)], axis=1) for part, shape in rest]


def _rows_of(column: np.ndarray) -> Sequence[Any] | np.ndarray:
    if column.ndim <= 2:
        return column.tolist() if column.ndim == 1 else column
    lengths = [np.flatnonzero(~np.isnan(part).all(axis=-1)).max(initial=-1) + 1 for part in column]
    return [part[:length] for part, length in zip(column, lengths, strict=True)]


def _padded(parts: Sequence[Any]) -> list[np.ndarray]:
    arrays = [array.astype(float) if array.dtype.kind == "i" else array for array in map(np.asarray, parts)]
    if len({array.shape for array in arrays}) == 1:
        return arrays
    length = max(len(array) for array in arrays)
    return [np.concatenate([a, np.full((length - len(a), *a.shape[1:]), np.nan)]) for a in arrays]


@cache
def _dimensions(kind: type) -> Mapping[str, int | None]:
    """Number of dimensions of each field in one answer of a type, by its annotation: 0 for `Rows`, 1 for
    `Float[np.ndarray, "*n d"]`. None for a field that is no column."""
    return {field.name: _dimensions_of(field.type) for field in fields(kind)}


def _dimensions_of(annotation: Any) -> int | None:
    for part in (annotation, *get_args(annotation)):
        if part is np.ndarray:
            return 0
        if isinstance(part, type) and issubclass(part, AbstractArray):
            return sum(not name.startswith("*") for name in part.dim_str.split())
    return None


def finite(value: Json) -> float | None:
    """The value as float if it is a number of valid size; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


def or_nan(value: Json) -> float:
    """The value as float; NaN if it is no number of valid size."""
    number = finite(value)
    return np.nan if number is None else number


def or_none(number: Rows) -> float | None:
    """A number as JSON; null if it is not finite."""
    return float(number) if math.isfinite(number) else None


def numbers_of(value: Json, names: Sequence[str]) -> Float[np.ndarray, "d"]:
    """The numbers of a JSON object, by name; NaN where one is missing."""
    found = value if isinstance(value, Mapping) else {}
    return np.array([or_nan(found.get(name)) for name in names])


def by_name(names: Sequence[str], numbers: Sequence[Json] | Float[np.ndarray, "d"]) -> dict[str, Json]:
    """Numbers as a JSON object."""
    return dict(zip(names, numbers.tolist() if isinstance(numbers, np.ndarray) else numbers, strict=True))


def listed(numbers: Float[np.ndarray, "d"]) -> list[float | None]:
    """Numbers as JSON; null for those that are not finite."""
    return [or_none(number) for number in numbers.tolist()]


def _nearness(error: Float[np.ndarray, "k"], limits: Float[np.ndarray, "k"]) -> float:
    """Mean of exp(-e² / 2t²). The tolerance t replaces σ, with which the score of larger errors would vanish."""
    with np.errstate(all="ignore"):
        return float(np.mean(np.nan_to_num(np.exp(-0.5 * (np.maximum(error, 0) / limits) ** 2))))
