"""Gaussian-uncertainty score: how far an answer is off, in σ of the truth (SpatialTree, eq. 5)."""

import math
from collections.abc import Sequence

from spatial_engine.scoring.angles import signed_difference


def gaussian_score(
    said: float, true: float, sigma: float, period: float | None = None, *, exact_counts: bool = False
) -> float:
    """exp(-d² / 2σ²), from 0 to 1. `d` is the short way round if the quantity repeats after `period`.

    σ <= 0 gives 0, as published; with `exact_counts` it gives 1 to an exact answer. NaN and infinite answers give 0.
    """
    off = signed_difference(said, true, period)
    if not math.isfinite(off) or math.isnan(sigma):
        return 0.0
    if sigma <= 0:
        return float(exact_counts and off == 0)
    return math.exp(-0.5 * min(abs(off) / sigma, 1e100) ** 2)


def mean_gaussian_score(
    said: Sequence[float], true: Sequence[float], sigma: Sequence[float], period: Sequence[float | None] | None = None
) -> float:
    """Mean over the parts of an answer: roll, pitch, vfov; or azimuth, polar, rotation. NaN of nothing.

    Official scorers do not wrap: leave `period` out to reproduce them.
    """
    periods = period if period is not None else [None] * len(said)
    parts = [gaussian_score(s, t, w, p) for s, t, w, p in zip(said, true, sigma, periods, strict=True)]
    return math.fsum(parts) / len(parts) if parts else math.nan
