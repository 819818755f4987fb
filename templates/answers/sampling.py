"""Samples of a normal distribution that are always the same: P(right) where no formula gives it."""

from functools import cache

import numpy as np
from jaxtyping import Float64
from scipy.special import ndtri

SAMPLES = 1024


@cache
def normals(dimensions: int) -> Float64[np.ndarray, "1024 d"]:
    """Standard normal samples, evenly spread: an additive recurrence with the generalised golden ratio (Roberts 2018,
    "The unreasonable effectiveness of quasirandom sequences")."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray(ndtri((0.5 + np.arange(1.0, SAMPLES + 1)[:, None] * steps) % 1))
