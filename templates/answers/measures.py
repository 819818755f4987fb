"""Metrics of a prediction and its target: errors, graded scores, rank correlation, success."""

import math
from collections.abc import Hashable, Sequence

import numpy as np

LIMITS = tuple(k / 20 for k in range(1, 11))
"""Relative errors 1 - θ for θ = 0.5, 0.55, ... 0.95: 5 %, 10 %, ... 50 %."""
HARNESS_LIMITS: tuple[float, ...] = tuple((1 - np.linspace(0.5, 0.95, 10)).tolist())
"""The limits as computed by published code. Their rounding fails an error of exactly 20 % or 45 %."""
_ROUNDING = 1e-12


def signed_difference(prediction: float, target: float, period: float | None = None) -> float:
    """prediction - target; for a quantity that repeats after `period`, the shortest one, in [-period/2, period/2].

    NaN stays NaN.
    """
    difference = prediction - target
    if not period or not math.isfinite(difference):
        return difference
    return math.remainder(difference, period)


def mean_relative_accuracy(prediction: float, target: float, *, inclusive: bool = True) -> float:
    """Share of the ten `LIMITS` that the relative error |prediction - target| / |target| meets: 0, 0.1, ... 1.

    Mean relative accuracy (Yang et al. 2024, Thinking in Space, eq. 1). It suits lengths, counts and ratios; a
    direction has no zero. The paper writes "<", published codes "<=" (`inclusive`). Those codes divide by the signed
    target, so every answer to a negative target passes; here the absolute value is taken. For a target of 0 the error
    is |prediction|, as in VLMEvalKit. NaN and infinite values give 0.
    """
    if not (math.isfinite(prediction) and math.isfinite(target)):
        return 0.0
    error = abs(prediction - target) / (abs(target) or 1.0)
    return share_met(error - _ROUNDING if inclusive else error + _ROUNDING, LIMITS)


def share_met(relative_error: float, limits: Sequence[float]) -> float:
    """Share of the limits that the error does not exceed."""
    return sum(relative_error <= limit for limit in limits) / len(limits)


def gaussian_score(
    prediction: float, target: float, sigma: float, period: float | None = None, *, exact_counts: bool = False
) -> float:
    """exp(-d² / 2σ²), from 0 to 1, with the difference d of `signed_difference` (SpatialTree, eq. 5).

    σ <= 0 gives 0, as published; with `exact_counts` an exact answer gets 1. NaN and infinite answers give 0.
    Official scorers do not wrap angles: leave `period` out to reproduce them.
    """
    difference = signed_difference(prediction, target, period)
    if not math.isfinite(difference) or math.isnan(sigma):
        return 0.0
    if sigma <= 0:
        return float(exact_counts and difference == 0)
    return math.exp(-0.5 * min(abs(difference) / sigma, 1e100) ** 2)


def pairs_right(prediction: Sequence[Hashable], target: Sequence[Hashable]) -> float:
    """Share of pairs in the right order, from 0 (reversed) to 1; 1 for fewer than two elements.

    Raises `ValueError` unless both order the same distinct elements.
    """
    rank = {element: index for index, element in enumerate(target)}
    if len(rank) != len(target) or len(prediction) != len(target) or set(prediction) != rank.keys():
        raise ValueError("both must order the same distinct elements")
    ranks = [rank[element] for element in prediction]
    pairs = len(target) * (len(target) - 1) // 2
    inversions = sum(ranks[i] > ranks[j] for j in range(len(ranks)) for i in range(j))
    return 1 - inversions / pairs if pairs else 1.0


def kendall_tau(prediction: Sequence[Hashable], target: Sequence[Hashable]) -> float:
    """Kendall's τ (1938), from -1 (reversed) to 1: 2 · pairs_right - 1, since there are no ties."""
    return 2 * pairs_right(prediction, target) - 1


def spl(success: bool, shortest: float, taken: float) -> float:
    """Success weighted by path length, S · l / max(p, l) (Anderson et al. 2018, arXiv:1807.06757), from 0 to 1."""
    if not success:
        return 0.0
    longest = max(shortest, taken)
    return shortest / longest if longest > 0 else 1.0


def progress(at_start: float, at_end: float) -> float:
    """Share of the initial distance to the goal that was covered: 0 if no nearer than at the start, 1 at the goal."""
    if at_start <= 0:
        return float(at_end <= 0)
    return min(1.0, max(0.0, 1 - at_end / at_start))
