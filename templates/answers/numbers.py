"""Numbers, alone or by name, and the two formats that ask for them."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr

from templates.answers.answer import Answer, Errors, Recorded, Rows, by_name, finite, listed, numbers_of, or_nan
from templates.answers.box import Box
from templates.answers.box_3d import Box3D
from templates.answers.format import Format, OfficialMetric
from templates.answers.measures import gaussian_score, mean_relative_accuracy, signed_difference
from templates.answers.point import picture_size
from templates.answers.registry import recorded_answer
from templates.answers.score import UnscorableError
from templates.columns import Json
from templates.question import Question

UNITS = {
    "deg": "degrees",
    "m": "metres",
    "m²": "square metres",
    "cm": "centimetres",
    "mm": "millimetres",
    "px": "pixels",
    "s": "seconds",
    "m/s": "metres per second",
}
"""Units in words, by their symbol in a question."""
_SYMBOLS = {"deg": "°"}
_GRAVITY = ("roll", "pitch", "vfov")
_SPANS = {"deg": (0.0, 180.0), "rad": (0.0, math.pi)}
_FACTORS = {"": (0.25, 4.0), "m": (0.3, 10.0), "m²": (5.0, 60.0), "cm": (10.0, 300.0), "mm": (300.0, 10000.0)}
"""Ranges of random answers without a period, by unit: uniform, and log-uniform (also for all other units)."""
_SCORES = ("gaussian", "relative_accuracy")
"""Graded scores, of which several numbers have a mean."""
_LARGEST_COUNT = 10
"""Of a random answer."""


@dataclass(frozen=True, kw_only=True)
class Numbers(Answer):
    """One or several named numbers. Right: every one within its tolerance."""

    name: ClassVar[str] = "numbers"
    numbers: ClassVar[str] = "value"

    names: tuple[str, ...]
    value: Float[np.ndarray, "*n d"]
    sigma: Float[np.ndarray, "*n d"]
    tolerance: Float[np.ndarray, "*n d"]
    """At most the largest tolerance of the quantity (`templates.settings.MaxTolerances`)."""
    unit: str | tuple[str, ...]
    """Of all numbers, or of each."""
    period: float | tuple[float, ...] | Float[np.ndarray, "*n d"] | None = None
    """Period of angles, in their unit: of all numbers, of each, or of each in every row. None or NaN where numbers do
    not repeat."""
    decimals: int = 1
    """Number of decimals in the written answer."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for numbers without a name."""
        for part in ("value", "sigma", "tolerance"):
            if (shape := np.shape(getattr(self, part)))[-1:] != (len(self.names),):
                raise ValueError(f"Numbers.{part} has shape {shape}; the names are {', '.join(self.names)}")

    @classmethod
    def within_share(
        cls,
        name: str,
        value: Float[np.ndarray, "n 1"],
        sigma: Float[np.ndarray, "n 1"],
        share: float,
        outlier_probability: Float[np.ndarray, "n"],
        *,
        unit: str,
        decimals: int = 2,
    ) -> "Numbers":
        """One positive number whose tolerance is a share of it, rounded down to its decimals."""
        step = 10.0**-decimals
        return cls(
            names=(name,),
            value=value,
            sigma=sigma,
            tolerance=np.round(np.floor(share * value / step + 1e-6) * step, decimals),
            unit=unit,
            decimals=decimals,
            outlier_probability=outlier_probability,
        )

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each number."""
        return (self.unit,) * len(self.names) if isinstance(self.unit, str) else self.unit

    @property
    def periods(self) -> Float[np.ndarray, "*n d"]:
        """The period of each number; NaN where it does not repeat."""
        return np.broadcast_to(np.asarray(self.period, dtype=float), self.value.shape)

    def p_within(self) -> Rows:
        """Probability that all are within their tolerances, for independent normal errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.prod(1 - 2 * ndtr(-(self.tolerance / self.sigma)), axis=-1)

    @property
    def limits(self) -> Float[np.ndarray, "*n d"]:
        """The tolerances."""
        return self.tolerance

    def error(self, truth: "Numbers") -> tuple[Float[np.ndarray, "*n d"], Float[np.ndarray, "... d"]]:
        """Absolute differences, for angles at most half a period; NaN where the truth lacks one of the numbers."""
        if not set(self.names) <= set(truth.names):
            return np.full_like(self.value, np.nan), np.full_like(self.value, np.nan)
        columns = [truth.names.index(name) for name in self.names]
        error = np.abs(self.value - truth.value[..., columns])
        wrapped = np.minimum(error % self.periods, -error % self.periods)
        return np.where(np.isnan(self.periods), error, wrapped), truth.sigma[..., columns]

    def difference(self, truth: "Numbers") -> Errors:
        """Differences of the numbers that both have."""
        names = [name for name in self.names if name in truth.names]
        own, theirs = ([numbers.names.index(name) for name in names] for numbers in (self, truth))
        triples = zip(self.value[own], truth.value[theirs], listed(self.periods[own]), strict=True)
        error = [float(signed_difference(*three)) for three in triples]
        return by_name(names, error), by_name(names, np.hypot(self.sigma[own], truth.sigma[theirs]))

    def repeats(self, other: "Numbers") -> Bool[np.ndarray, "*n"]:
        """The same numbers, within the tolerances."""
        return np.asarray(super().repeats(other) & (self.names == other.names))

    def tolerance_in_words(self) -> str:
        """ "±0.15", "±15°", "±0.3 m", "roll ±5°, pitch ±5°"."""
        rounded = [round(float(limit), self.decimals) for limit in self.tolerance]
        units = [_SYMBOLS.get(unit, unit and f" {unit}") for unit in self.units]
        names = [f"{name} " if len(self.names) > 1 else "" for name in self.names]
        return ", ".join(f"{name}±{limit:g}{unit}" for name, limit, unit in zip(names, rounded, units, strict=True))

    def to_json(self) -> Recorded:
        """One number, or an object of numbers by name. Parameters of the score are the name of a single number, the
        period (by name if they differ), and the units by name if they differ."""
        periods = [None] * len(self.names) if self.period is None else listed(self.periods)
        mixed = len(set(self.units)) > 1
        params: dict[str, Json] = {"units": self._by_name([*self.units])} if mixed else {}
        if any(periods):
            params["period"] = periods[0] if len(set(periods)) == 1 else self._by_name([*periods])
        return Recorded(
            value=self._by_name(listed(self.value)),
            answer=self._by_name([self._rounded(number) for number in self.value.tolist()]),
            sigma=self._by_name(listed(self.sigma)),
            tolerance=self._by_name(listed(self.tolerance)),
            unit="" if mixed else self.units[0],
            scorer_params=params if len(self.names) > 1 else {"name": self.names[0], **params},
        )

    @classmethod
    def from_json(cls, question: Question) -> "Numbers":
        """Raises `UnscorableError` where a number or its tolerance is missing."""
        value, params = question.value, question.scorer_params
        names = tuple(value) if isinstance(value, Mapping) else (params.get("name", "value"),)
        keys = names if isinstance(value, Mapping) else None
        numbers = cls(
            names=names,
            value=_column(value, keys),
            sigma=_column(question.sigma, keys),
            tolerance=_column(question.tolerance, keys),
            unit=tuple(_of(question, "units", name) or question.unit for name in names),
            period=np.array([finite(_of(question, "period", name)) or np.nan for name in names]),
            decimals=2,
        )
        if not names or not np.isfinite(numbers.value).all() or not (numbers.tolerance >= 0).all():
            raise UnscorableError("no measurement with a tolerance")
        return numbers

    def predicted(self, value: Json) -> "Numbers | None":
        """A number, or an object of numbers; missing numbers are NaN."""
        found = _column(value, self.names if len(self.names) > 1 else None)
        return None if len(found) == 1 and np.isnan(found[0]) else replace(self, value=found)

    def detail(self, prediction: "Numbers") -> Mapping[str, Json]:
        """`error` (prediction minus measurement), its square, the Gaussian score with the measurement's σ, and the mean
        relative accuracy of numbers without a period. For several numbers: errors by name, and means of the graded
        scores, in which a missing number counts 0."""
        each = {
            name: self._graded(k, number)
            for k, (name, number) in enumerate(zip(self.names, prediction.value.tolist(), strict=True))
            if np.isfinite(number)
        }
        if len(self.names) == 1:
            return {"value": prediction.value.item(), **each[self.names[0]]}
        keys = dict.fromkeys(key for part in each.values() for key in part)
        graded = {key: {name: part[key] for name, part in each.items() if key in part} for key in keys}
        means = {key: math.fsum(graded.pop(key).values()) / len(self.names) for key in _SCORES if key in graded}
        return {"value": by_name(self.names, listed(prediction.value)), **graded, **means}

    def _graded(self, column: int, number: float) -> dict[str, float]:
        target, sigma, unit = float(self.value[column]), float(self.sigma[column]), self.units[column]
        period = listed(self.periods)[column]
        error = signed_difference(number, target, period)
        graded = {"error": error, "squared_error": error**2}
        if math.isfinite(sigma):
            graded["gaussian"] = gaussian_score(number, target, sigma, period, exact_counts=True)
        if period is None and target != 0:
            graded["relative_accuracy"] = mean_relative_accuracy(number, target)
        if period is not None and unit in ("deg", "rad"):
            graded["angular_error_deg"] = abs(error) if unit == "deg" else math.degrees(abs(error))
        return graded

    def _by_name(self, each: list[Json]) -> Json:
        return each[0] if len(self.names) == 1 else by_name(self.names, each)

    def _rounded(self, number: float) -> float | int:
        return round(number, self.decimals) + 0.0 if self.decimals else round(number)  # never -0.0


class Numeric(Format):
    """One number."""

    name: ClassVar[str] = "numeric"
    reader: ClassVar[str] = "number"
    takes: ClassVar[tuple[str, ...]] = ("numbers", "count")

    def check(self, answers: Answer) -> None:
        """Numbers have one name."""
        super().check(answers)
        if isinstance(answers, Numbers) and len(answers.names) != 1:
            raise ValueError(f"Numbers.names is {answers.names} for {self.name}; allowed: one name, or the format json")

    def form(self, question: Question) -> str:
        """With its unit."""
        if _is_count(question):
            return "one whole number"
        unit = UNITS.get(question.unit, question.unit)
        return f"one number, in {unit}" if unit else "one number"

    def no_op(self, question: Question) -> Json:
        """0."""
        return 0

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """A random number in the range of its unit."""
        return _drawn(question, None, rng)

    def near_misses(self, question: Question) -> Iterator[Json]:
        """Numbers beyond the tolerance, and half a period away; of a count the next ones."""
        if _is_count(question):
            return iter((question.answer + 1, question.answer - 1))
        return _beside(question.answer, question.tolerance, _of(question, "period", None))

    def official(self, question: Question) -> OfficialMetric:
        """Mean relative accuracy, of positive numbers that do not repeat."""
        if "period" in question.scorer_params:
            raise UnscorableError("relative accuracy is not defined for directions")
        if question.answer <= 0:
            raise UnscorableError("relative accuracy is not defined for numbers that are not positive")
        return OfficialMetric("meanrelativeacc", str(question.answer))


class NumbersByName(Format):
    """A JSON object of numbers: of any kind, or those of a box."""

    name: ClassVar[str] = "json"
    reader: ClassVar[str] = "numbers"
    takes: ClassVar[tuple[str, ...]] = ("numbers", "box", "box_3d")

    def form(self, question: Question) -> str:
        """With the names; with their units where these differ, and for pixels."""
        units = question.scorer_params.get("units", {})
        named = [
            f'"{name}"' + (f" (in {UNITS.get(unit, unit)})" if (unit := units.get(name)) else "")
            for name in question.answer
        ]
        pixels = ", in pixels" if question.unit == "px" else ""
        return f"one JSON object with a number for each of {', '.join(named)}{pixels}"

    def no_op(self, question: Question) -> Json:
        """0 for each."""
        return dict.fromkeys(question.answer, 0)

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """Random numbers in the range of their unit; a random box."""
        if isinstance(recorded := recorded_answer(question), Box | Box3D):
            return recorded.guess(*picture_size(question), rng)
        return {name: _drawn(question, name, rng) for name in question.answer}

    def near_misses(self, question: Question) -> Iterator[Json]:
        """One of the numbers beyond its tolerance; boxes that overlap too little."""
        if isinstance(recorded := recorded_answer(question), Box | Box3D):
            yield from recorded.near_misses()
            return
        for name, number in question.answer.items():
            for other in _beside(number, question.tolerance[name], _of(question, "period", name)):
                yield {**question.answer, name: other}

    def official(self, question: Question) -> OfficialMetric:
        """Of gravity all three angles in degrees, each with the σ that widens the official kernel."""
        if question.ability != "L1/Orientation/Gravity":
            return super().official(question)
        if set(question.answer) != set(_GRAVITY):
            raise UnscorableError("the gravity score needs roll, pitch and vfov; one of them is not known well enough")
        hint = {f"{name}_unc": float(question.sigma[name]) for name in _GRAVITY}
        return OfficialMetric("gravityeval", json.dumps({name: question.answer[name] for name in _GRAVITY}), hint)


def _beside(number: float, tolerance: float, period: float | None) -> Iterator[float]:
    """The number plus three tolerances; and plus half a period, the largest error of an angle."""
    yield round(number + 3 * tolerance + 0.01, 2)
    if period:
        yield round(number + period / 2, 2)


def _is_count(question: Question) -> bool:
    return question.scorer_params.get("counting") is True


def _drawn(question: Question, name: str | None, rng: np.random.Generator) -> float:
    if _is_count(question):
        return int(rng.integers(1, _LARGEST_COUNT + 1))
    if period := _of(question, "period", name):
        return round(float(rng.uniform(-period / 2, period / 2)), 1)
    unit = _of(question, "units", name) or question.unit
    if unit in _SPANS:
        return round(float(rng.uniform(*_SPANS[unit])), 1)
    low, high = _FACTORS.get(unit, _FACTORS[""])
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))), 2)


def _of(question: Question, key: str, name: str | None) -> Json:
    """A parameter of the score that holds for all numbers, or that of the number `name`."""
    found = question.scorer_params.get(key)
    return found.get(name) if isinstance(found, Mapping) else found


def _column(part: Json, keys: tuple[str, ...] | None) -> Float[np.ndarray, "d"]:
    """The numbers at `keys` of an object, or the one number `part` if `keys` is None; NaN where not finite."""
    return np.array([or_nan(part)]) if keys is None else numbers_of(part, keys)
