"""Points: how far off, and whether they hit a region."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Shaped


def distance_px(said: Sequence[float], true: Sequence[float]) -> float:
    """Distance between two pixels."""
    return math.dist(said, true)


def in_mask(xy_px: Sequence[float], mask: Shaped[np.ndarray, "h w"]) -> bool:
    """Whether a point hits: the pixel whose square it lies in is not 0. Outside of the picture it does not.

    Pixel (0, 0) is the centre of the top-left one, so it covers -0.5 to 0.5.
    """
    x, y = xy_px
    height, width = mask.shape
    if not (-0.5 <= x < width - 0.5 and -0.5 <= y < height - 0.5):
        return False
    return bool(mask[math.floor(y + 0.5), math.floor(x + 0.5)])


def in_box(xy_px: Sequence[float], box_px: Sequence[float]) -> bool:
    """Whether a point lies in the box (left, top, right, bottom), its border included."""
    (x, y), (left, top, right, bottom) = xy_px, box_px
    return left <= x <= right and top <= y <= bottom
