"""Mean relative accuracy of a number (VSI-Bench, "Thinking in Space", arXiv 2412.14171) in its published variants."""

import math
from fractions import Fraction
from typing import Literal

import numpy as np

Variant = Literal["lmms-eval", "vlmevalkit", "paper", "strict"]

_FLOATS = (1 - np.linspace(0.5, 0.95, 10)).tolist()
"""Both harnesses: floats next to 0.5, 0.45, ... 0.05, so that an error of exactly 20 % or 45 % fails its threshold."""
_EXACT = [Fraction(k, 20) for k in range(10, 0, -1)]


def relative_accuracy(prediction: float | None, target: float, variant: Variant = "strict") -> float | None:
    """Share of the ten thresholds 1 - θ, θ = 0.50, 0.55, ... 0.95, that the relative error meets; 0 for no prediction.

    lmms-eval   |p - t| / t <= 1 - θ in floats. Any number is right for a negative target; None for 0 (it divides by it)
    vlmevalkit  |p - t| / |t|, and |p| itself where t is 0
    paper       |p - t| / |t| <  1 - θ in exact arithmetic; None for 0
    strict      |p - t| / |t| <= 1 - θ in exact arithmetic; for 0, 1 if exact, else as vlmevalkit
    """
    if variant == "lmms-eval" and target == 0:
        return None
    if prediction is None or not math.isfinite(target):
        return 0.0
    if variant == "lmms-eval":
        return _share(_error(prediction, target) * math.copysign(1.0, target))
    if variant == "vlmevalkit":
        return _share(_error(prediction, target))
    if target == 0:
        return None if variant == "paper" else _share(_error(prediction, target))
    if not math.isfinite(prediction):
        return 0.0
    p, t = Fraction(repr(float(prediction))), Fraction(repr(float(target)))
    error = abs(p - t) / abs(t)
    return sum(error < e or (variant == "strict" and error == e) for e in _EXACT) / len(_EXACT)


def _error(prediction: float, target: float) -> float:
    return abs(prediction - target) / (abs(target) or 1.0)


def _share(error: float) -> float:
    return sum(error <= allowed for allowed in _FLOATS) / len(_FLOATS)
