"""The factor that makes σ honest, fitted so that no set vouches for itself.

Source: the median of squared normal errors is 0.455 σ², and 95.45 % of them lie within 2 σ. Both must hold, so the
larger factor counts: the first speaks of the bulk, the second of the tail. Quantiles do not look at the worst 4.5 %:
what is plainly wrong is counted by outlier_probability.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.optimize import brentq

from experts.sigma_calibration.sigma_factor import HeldOut, NotCalibrated, SigmaFactor

MEDIAN_OF_CHI_SQUARE = 0.4549
"""With one degree of freedom."""
_WITHIN_2 = 0.9545
_DECIMALS = 3


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """When there is enough to fit a map on."""

    least_sets: int = 2
    """A fit has to be tried on a set that it has not seen."""
    least_samples: int = 30
    """Below this the 95 % quantile is the largest error or the one before it."""


@dataclass(frozen=True, kw_only=True)
class ErrorSample:
    """Errors of one quantity on one set."""

    off: Float64[np.ndarray, "n"]
    """|error| in σ as stated."""
    other: Float64[np.ndarray, "n"]
    """σ of what else is in that difference (truth, other quantities), in σ as stated: no map of this quantity
    stretches it."""

    def within(self, sigmas: float, gain: float = 1.0) -> float:
        """Share of errors within so many σ, σ as stated times `gain`."""
        return float(np.mean(self.off <= sigmas * np.hypot(gain, self.other)))


def fitted_gain(samples: Mapping[str, ErrorSample]) -> float:
    """The least factor of σ under which errors are normal or narrower, each set counting the same however large.

    0 where what else is in the difference explains all of it.
    """
    off = np.concatenate([each.off for each in samples.values()])
    other = np.concatenate([each.other for each in samples.values()])
    weight = np.concatenate([np.full(len(each.off), 1 / len(each.off)) for each in samples.values()])

    def excess(gain: float) -> float:
        return _stretch(off / np.hypot(gain, np.maximum(other, 1e-9)), weight) - 1

    widest = _stretch(off, weight)
    if widest <= 0 or excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, 1.001 * widest, xtol=1e-4))


def _stretch(z: Float64[np.ndarray, "n"], weight: Float64[np.ndarray, "n"]) -> float:
    """√(median z² / 0.455) or a half of the 95.45 % quantile of |z|, whichever is larger; 1 for normal errors."""
    order = np.argsort(z, kind="stable")
    share = (np.cumsum(weight[order]) - 0.5 * weight[order]) / weight.sum()
    middle, far = np.interp([0.5, _WITHIN_2], share, z[order])
    return float(max(middle / np.sqrt(MEDIAN_OF_CHI_SQUARE), far / 2))


def fit(
    expert: str,
    version: str,
    weights_sha256: str | None,
    signal: str,
    quantity: str,
    samples: Mapping[str, ErrorSample],
    settings: FitSettings | None = None,
) -> SigmaFactor | NotCalibrated:
    """The map of a quantity from its errors by set, each set left out in turn; or why there is none.

    Depends on no order of `samples`. The gain is the largest of the fits, and never below 1.
    """
    settings = settings or FitSettings()
    samples = {name: samples[name] for name in sorted(samples) if len(samples[name].off)}
    count = sum(len(each.off) for each in samples.values())
    too_few = len(samples) < settings.least_sets
    if too_few or count < settings.least_samples:
        whole = ErrorSample(
            off=np.concatenate([each.off for each in samples.values()] or [np.empty(0)]),
            other=np.concatenate([each.other for each in samples.values()] or [np.empty(0)]),
        )
        sets = {0: "truth decides none of it", 1: "one set only"}.get(len(samples), f"{len(samples)} sets only")
        return NotCalibrated(
            expert=expert, version=version, signal=signal, quantity=quantity, samples=count, sets=tuple(samples),
            fitted=round(fitted_gain(samples), _DECIMALS) if count else 0.0,
            within_1=round(whole.within(1), _DECIMALS) if count else 0.0,
            within_2=round(whole.within(2), _DECIMALS) if count else 0.0,
            why=sets if too_few else f"{count} samples, {settings.least_samples} are needed",
        )  # fmt: skip
    held_out = tuple(_held_out(name, samples) for name in samples)
    return SigmaFactor(
        expert=expert, version=version, weights_sha256=weights_sha256, signal=signal, quantity=quantity,
        gain=max(1.0, *(each.fitted for each in held_out)), samples=count, held_out=held_out,
    )  # fmt: skip


def _held_out(name: str, samples: Mapping[str, ErrorSample]) -> HeldOut:
    gain = round(fitted_gain({other: each for other, each in samples.items() if other != name}), _DECIMALS)
    own, applied = samples[name], max(1.0, gain)
    return HeldOut(
        set=name,
        samples=len(own.off),
        fitted=gain,
        within_1=round(own.within(1, applied), _DECIMALS),
        within_2=round(own.within(2, applied), _DECIMALS),
    )
