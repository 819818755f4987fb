"""Numbers, alone or by name. Right: every one within its tolerance of the measurement, the short way round."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spatial_engine.scoring import reading
from spatial_engine.scoring.measures import gaussian_score, mean_relative_accuracy, signed_difference
from spatial_engine.scoring.own.fault import Fault, fault_if_unfit
from spatial_engine.scoring.reading import Reading, Unreadable
from spatial_engine.scoring.score import Score
from templates.answer import Numbers, right
from templates.measured import Json
from templates.question import Question

_ALONE = "value"
_BY_NAME = ("error", "squared_error", "angular_error_deg")
_MEANS = ("gaussian", "relative_accuracy")
LARGEST = 1e12
"""What is larger is no measure of anything that can be seen."""


@dataclass(frozen=True, kw_only=True)
class _Quantity:
    """One number that a question asks for."""

    true: float
    sigma: float | None
    tolerance: float
    unit: str
    period: float | None

    def score(self, said: float) -> dict[str, Json]:
        """`right`, and how far off: `error` (answer - measurement, in the question's unit) and graded scores."""
        error = signed_difference(said, self.true, self.period)
        graded: dict[str, Json] = {"right": self._is_right(said), "error": error, "squared_error": error**2}
        if self.sigma is not None:
            graded["gaussian"] = gaussian_score(said, self.true, self.sigma, self.period, exact_counts=True)
        if self.period is None and self.true != 0:
            graded["relative_accuracy"] = mean_relative_accuracy(said, self.true)
        if self.period is not None and self.unit in ("deg", "rad"):
            graded["angular_error_deg"] = abs(error) if self.unit == "deg" else math.degrees(abs(error))
        return graded

    def _is_right(self, said: float) -> bool:
        return right(self._numbers(said), self._numbers(self.true)) is True

    def _numbers(self, value: float) -> Numbers:
        """Without σ: here the measurement is the truth."""
        return Numbers(
            names=(_ALONE,),
            value=np.array([value]),
            sigma=np.zeros(1),
            tolerance=np.array([self.tolerance]),
            unit=self.unit,
            period=self.period,
        )


def read_numeric(question: Question, response: str) -> Reading | Unreadable:
    """A number in the question's unit."""
    return reading.read_number(response, question.unit)


def score_numeric(question: Question, value: Json) -> Score:
    """1 within tolerance."""
    quantity = _quantity(question, None)
    said = finite(value)
    known = {"value": said, "unit": quantity.unit, "tolerance": quantity.tolerance, "sigma": quantity.sigma}
    if said is None:
        return Score(value=0.0, detail=known)
    graded = quantity.score(said)
    return Score(value=float(graded.pop("right")), detail={**known, **graded})


def read_json(question: Question, response: str) -> Reading | Unreadable:
    """All numbers by name."""
    return reading.read_object(response, list(_quantities(question)))


def score_json(question: Question, value: Json) -> Score:
    """1 with every number within its tolerance. In the detail: errors by name, and means of the graded scores, in
    which a number that is not there counts 0."""
    quantities = _quantities(question)
    stated = value if isinstance(value, Mapping) else {}
    said = {name: finite(stated.get(name)) for name in quantities}
    known: dict[str, Json] = {
        "value": said,
        "unit": question.unit,
        "tolerance": {name: quantity.tolerance for name, quantity in quantities.items()},
        "sigma": {name: quantity.sigma for name, quantity in quantities.items()},
    }
    each = {name: quantities[name].score(number) for name, number in said.items() if number is not None}
    all_right = len(each) == len(quantities) and all(part["right"] for part in each.values())
    by_name = {key: {name: part[key] for name, part in each.items() if key in part} for key in _BY_NAME}
    means = {key: _mean([part[key] for part in each.values() if key in part], len(quantities)) for key in _MEANS}
    graded = {key: found for key, found in {**by_name, **means}.items() if found not in ({}, None)}
    return Score(value=float(all_right), detail={**known, **graded})


def _mean(parts: list[float], count: int) -> float | None:
    """Over `count` numbers, of which those that are not there are worth 0; None of none."""
    return math.fsum(parts) / count if parts else None


def finite(value: Json) -> float | None:
    """A number that measures something; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


def _quantities(question: Question) -> dict[str, _Quantity]:
    if not isinstance(question.value, Mapping) or not question.value:
        raise Fault("the measurement holds no numbers by name")
    return {str(name): _quantity(question, name) for name in question.value}


def _quantity(question: Question, name: str | None) -> _Quantity:
    """One of a question's numbers; None: its only one."""

    def part(field: Json) -> Json:
        return field if name is None else None if field is None else field[name]

    with fault_if_unfit("value, sigma and tolerance have different shapes"):
        period = question.scorer_params.get("period")
        if isinstance(period, Mapping):
            period = period.get(name)
        true, tolerance = finite(part(question.value)), finite(part(question.tolerance))
        sigma, period = finite(part(question.sigma)), finite(period)
    if true is None or tolerance is None or tolerance < 0:
        raise Fault("no measurement with a tolerance")
    return _Quantity(true=true, sigma=sigma, tolerance=tolerance, unit=question.unit, period=period if period else None)
