"""Pixels named by two whole numbers from 0 to 1000: 0 at the left or upper edge of the photo, 1000 at the right or
lower one."""

import numpy as np
from jaxtyping import Float64, Int64

GRID = 1000
"""Steps from edge to edge of a photo, as in SpatialTree-Bench."""
Size = Int64[np.ndarray, "*_ 2"]
"""Width and height of photos, each or all of one size."""


def name_of(xy_px: Float64[np.ndarray, "*n 2"], size: Size) -> Int64[np.ndarray, "*n 2"]:
    """The two numbers that name a pixel."""
    return np.round((np.nan_to_num(xy_px) + 0.5) / size * GRID).astype(np.int64)


def pixel_of(name: Int64[np.ndarray, "*n 2"], size: Size) -> Float64[np.ndarray, "*n 2"]:
    """The inverse. Pixel centres are at integers."""
    return name / GRID * size - 0.5
