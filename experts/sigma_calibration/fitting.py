"""Fits the factors that scale stated σ to measured errors. Every set is left out once, so no set confirms itself.

For normal errors the median of the squared error is 0.455 σ², and 95.45 % of the errors are within 2 σ. The factor
satisfies both conditions: the first describes the bulk, the second the tail. The worst 4.5 % do not enter: outliers are
described by outlier_probability. It satisfies them for filmed and for rendered sets separately: rendered ones have
exact truth, but a simpler lens.

The σ of an answer decides nothing. Errors have longer tails than normal ones, so that no factor gives both shares; its
factor is the geometric mean of the two. Errors of filmed and of rendered sets differ, too: the factor lies between
theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.optimize import brentq

from experts.sigma_calibration.sigma_calibration import (
    AnswerFactor,
    HeldOut,
    NotCalibrated,
    SigmaFactor,
    named_sets,
)

MEDIAN_OF_CHI_SQUARE = 0.4549
"""For one degree of freedom."""
_WITHIN_1, _WITHIN_2 = 0.6827, 0.9545
_DECIMALS = 3
_SMALLEST = 0.5
"""No factor is smaller: other contributions to the differences would hide what σ is."""


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Smallest amount of data for a fit."""

    min_sets: int = 2
    """A fit must be tested on a set that it has not used."""
    min_samples: int = 30
    """With fewer samples the 95 % quantile is the largest or second largest error."""
    narrowing_sets: int = 8
    """With fewer sets no factor is below 1: errors smaller than stated may be luck. With so many it is, if `min_sets`
    or more of them are filmed, ..."""
    narrowed_within_2: float = 0.92
    """... if sets, each left out of the fit, still have this share of their errors within 2 σ, on average over the
    filmed ones and over the rendered ones, ..."""
    narrowed_worst: float = 0.85
    """... and none of them has less than this share. Errors of one clip come together, so that one set in twenty lies
    beyond 2 σ as a whole where σ is right."""
    answer_sets: int = 4
    """The σ of a template's answers has a factor only where so many sets have answers with an error."""
    most_of_a_set: int = 30
    """Answers of one set weigh as many answers at most: their errors come together."""


@dataclass(frozen=True, kw_only=True)
class ErrorSample:
    """Errors of one quantity on one set."""

    error: Float64[np.ndarray, "n"]
    """|error| divided by the stated σ."""
    other: Float64[np.ndarray, "n"]
    """σ of the other contributions to that difference (ground truth, other quantities), divided by the stated σ. The
    factor of this quantity does not scale it."""
    rendered: bool = False
    """Of pictures that a renderer made."""

    def within(self, sigmas: float, factor: float = 1.0) -> float:
        """Share of errors within `sigmas` σ, with the stated σ times `factor`."""
        return float(np.mean(self.error <= sigmas * np.hypot(factor, self.other)))


def fitted_factor(samples: Mapping[str, ErrorSample]) -> float:
    """The smallest factor of σ under which the errors are normal or narrower, those of filmed sets and those of
    rendered ones. Each set has the same weight among its kind, whatever its size.

    0 where the other contributions explain the whole difference.
    """
    kinds = ({name: each for name, each in samples.items() if each.rendered == kind} for kind in (False, True))
    return max(_factor_of_kind(own) for own in kinds if own)


def _factor_of_kind(samples: Mapping[str, ErrorSample]) -> float:
    error = np.concatenate([each.error for each in samples.values()])
    other = np.concatenate([each.other for each in samples.values()])
    weight = np.concatenate([np.full(len(each.error), 1 / len(each.error)) for each in samples.values()])

    def excess(factor: float) -> float:
        return _normal_scale(error / np.hypot(factor, np.maximum(other, 1e-9)), weight) - 1

    widest = _normal_scale(error, weight)
    if widest <= 0 or excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, 1.001 * widest, xtol=1e-4))


def _normal_scale(z: Float64[np.ndarray, "n"], weight: Float64[np.ndarray, "n"]) -> float:
    """The larger of √(median z² / 0.455) and half the 95.45 % quantile of |z|; 1 for normal errors."""
    middle, far = _quantiles(z, weight, 0.5, _WITHIN_2)
    return float(max(middle / np.sqrt(MEDIAN_OF_CHI_SQUARE), far / 2))


def _quantiles(z: Float64[np.ndarray, "n"], weight: Float64[np.ndarray, "n"], *shares: float) -> list[float]:
    """The values of z below which these shares of the weight lie."""
    order = np.argsort(z, kind="stable")
    share = (np.cumsum(weight[order]) - 0.5 * weight[order]) / weight.sum()
    return np.interp(shares, share, z[order]).tolist()


def fit(
    expert: str,
    version: str,
    weights_sha256: str | None,
    signal: str,
    quantity: str,
    samples: Mapping[str, ErrorSample],
    settings: FitSettings | None = None,
) -> SigmaFactor | NotCalibrated:
    """The factor of a quantity from its errors per set, with each set left out once; or the reason why there is none.

    The result does not depend on the order of `samples`. The factor is the largest of the fits; below 1 only where
    `narrowing_sets` or more agree.
    """
    settings = settings or FitSettings()
    samples = {name: samples[name] for name in sorted(samples) if len(samples[name].error)}
    count = sum(len(each.error) for each in samples.values())
    too_few = len(samples) < settings.min_sets
    if too_few or count < settings.min_samples:
        whole = ErrorSample(
            error=np.concatenate([each.error for each in samples.values()] or [np.empty(0)]),
            other=np.concatenate([each.other for each in samples.values()] or [np.empty(0)]),
        )
        sets = {0: "no ground truth for it", 1: "one set only"}.get(len(samples), f"{len(samples)} sets only")
        return NotCalibrated(
            expert=expert, version=version, signal=signal, quantity=quantity, samples=count,
            sets=tuple(named_sets({name: each.rendered for name, each in samples.items()})),
            fitted=round(fitted_factor(samples), _DECIMALS) if count else 0.0,
            within_1=round(whole.within(1), _DECIMALS) if count else 0.0,
            within_2=round(whole.within(2), _DECIMALS) if count else 0.0,
            why=sets if too_few else f"{count} samples, {settings.min_samples} are needed",
        )  # fmt: skip
    held_out = tuple(_held_out(name, samples, _SMALLEST) for name in samples)
    least = _SMALLEST if _agree(held_out, settings) else 1.0
    return SigmaFactor(
        expert=expert, version=version, weights_sha256=weights_sha256, signal=signal, quantity=quantity,
        factor=max(least, *(each.fitted for each in held_out)), samples=count,
        held_out=tuple(_held_out(name, samples, least) for name in samples),
    )  # fmt: skip


def fit_answers(
    template: str,
    version: str,
    experts: Mapping[str, str],
    samples: Mapping[str, ErrorSample],
    settings: FitSettings | None = None,
) -> AnswerFactor | None:
    """The factor for σ of a template's answers; None where too few sets have answers. Does not depend on the order of
    `samples`."""
    settings = settings or FitSettings()
    samples = {name: samples[name] for name in sorted(samples) if len(samples[name].error)}
    count = sum(len(each.error) for each in samples.values())
    if len(samples) < settings.answer_sets or count < settings.min_samples:
        return None

    def factor(left_out: str | None = None) -> float:
        used = [each for name, each in samples.items() if name != left_out]
        return round(_typical_factor(used, settings.most_of_a_set), _DECIMALS)

    return AnswerFactor(
        template=template, version=version, experts=dict(sorted(experts.items())), factor=factor(), samples=count,
        held_out=tuple(_left_out(name, each, fitted := factor(name), fitted) for name, each in samples.items()),
    )  # fmt: skip


def _typical_factor(samples: Sequence[ErrorSample], most: int) -> float:
    """The geometric mean of the factor with 68.27 % of the errors within 1 σ and of that with 95.45 % within 2 σ, then
    of filmed sets and of rendered ones."""
    found = []
    for kind in (False, True):
        errors = [each.error for each in samples if each.rendered == kind]
        if errors:
            weight = np.concatenate([np.full(len(own), min(1, most / len(own))) for own in errors])
            near, far = _quantiles(np.concatenate(errors), weight, _WITHIN_1, _WITHIN_2)
            found.append(np.sqrt(near * far / 2))
    return float(np.sqrt(max(found) * min(found)))


def _agree(held_out: Sequence[HeldOut], settings: FitSettings) -> bool:
    """Whether the left-out sets, filmed and rendered, are within the narrowed σ."""
    shares = {kind: [each.within_2 for each in held_out if each.rendered == kind] for kind in (False, True)}
    enough = len(held_out) >= settings.narrowing_sets and len(shares[False]) >= settings.min_sets
    average = all(np.mean(own) >= settings.narrowed_within_2 for own in shares.values() if own)
    return enough and average and min(each.within_2 for each in held_out) >= settings.narrowed_worst


def _held_out(name: str, samples: Mapping[str, ErrorSample], least: float) -> HeldOut:
    """The fit without a set, and that set's errors with the fitted factor, but no smaller one than `least`."""
    factor = round(fitted_factor({other: each for other, each in samples.items() if other != name}), _DECIMALS)
    return _left_out(name, samples[name], factor, max(least, factor))


def _left_out(name: str, own: ErrorSample, fitted: float, applied: float) -> HeldOut:
    """A set's errors with the applied factor."""
    return HeldOut(
        set=name,
        samples=len(own.error),
        fitted=fitted,
        within_1=round(own.within(1, applied), _DECIMALS),
        within_2=round(own.within(2, applied), _DECIMALS),
        rendered=own.rendered,
    )
