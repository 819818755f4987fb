"""Samples that are always the same, spread evenly: P(right) where no formula gives it."""

from functools import cache

import numpy as np
from jaxtyping import Float64
from scipy.special import ndtri

SAMPLES = 1024


@cache
def uniform(dimensions: int, count: int) -> Float64[np.ndarray, "n d"]:
    """Points of the unit cube: an additive recurrence with the generalised golden ratio (Roberts 2018, "The
    unreasonable effectiveness of quasirandom sequences")."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.arange(1.0, count + 1)[:, None] * steps) % 1)


@cache
def normals(dimensions: int) -> Float64[np.ndarray, "1024 d"]:
    """Standard normal samples."""
    return np.asarray(ndtri(uniform(dimensions, SAMPLES)))
