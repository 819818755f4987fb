"""Differences of angles and directions, and squared errors."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


def signed_difference(said: float, true: float, period: float | None = None) -> float:
    """said - true; the short way round, in [-period/2, period/2], where the quantity repeats. NaN stays NaN."""
    apart = said - true
    if not period or not math.isfinite(apart):
        return apart
    return math.remainder(apart, period)


def angular_error_deg(said_deg: float, true_deg: float, period_deg: float = 360.0) -> float:
    """Angle between two headings, from 0 to half a period."""
    return abs(signed_difference(said_deg, true_deg, period_deg))


def direction_error_deg(said: Float[np.ndarray, "*n 3"], true: Float[np.ndarray, "*n 3"]) -> Float[np.ndarray, "*n"]:
    """Angle between vectors of any length, from 0° to 180°; NaN where one has no direction.

    atan2(|a × b|, a · b): exact for small angles too, where arccos loses half of its digits.
    """
    sine = np.linalg.norm(np.cross(said, true), axis=-1)
    cosine = np.sum(np.asarray(said) * np.asarray(true), axis=-1)
    pointless = (np.linalg.norm(said, axis=-1) == 0) | (np.linalg.norm(true, axis=-1) == 0)
    return np.where(pointless, np.nan, np.degrees(np.arctan2(sine, cosine)))


def mean_squared_error(said: Sequence[float], true: Sequence[float], period: float | None = None) -> float:
    """Mean of squared differences, in squared units; NaN of nothing."""
    errors = [signed_difference(s, t, period) for s, t in zip(said, true, strict=True)]
    return math.fsum(error * error for error in errors) / len(errors) if errors else math.nan
