"""What a mask borders on: whether a thing may go on, unseen, beyond the border of its mask."""

import numpy as np
from jaxtyping import Bool, Float32, Float64

from experts.depth.depth_views import UnprojectionSettings

_FOUR = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def neighbours(
    mask: Bool[np.ndarray, "a b"],
    inverse: Float64[np.ndarray, "a b"],
    outside: Float64[np.ndarray, "a b"],
    relative_sigma: Float32[np.ndarray, "a b"],
    others: Bool[np.ndarray, "a b"],
    rim_px: int,
    settings: UnprojectionSettings,
) -> tuple[Bool[np.ndarray, "a b"], Bool[np.ndarray, "a b"]]:
    """Pixels of the mask's border beside which something nearer lies; and those beside which another thing lies that is
    not farther away.

    What lies beside is carried on to the border, so that the floor on which a thing stands, which comes nearer from row
    to row, is not taken for something before it.

    Args:
        mask: of the thing.
        inverse: 1 / z of its surface; NaN where unknown.
        outside: 1 / z around it; NaN in the mask and where unknown.
        relative_sigma: σ_z / z.
        others: pixels of other things.
        rim_px: depth is not believed so near to the border.
        settings: thresholds.
    """
    near, far = rim_px + 1, rim_px + 4
    hides, touches = np.zeros_like(mask), np.zeros_like(mask)
    tolerance = 1 + settings.occluder + settings.occluder_sigmas * np.nan_to_num(relative_sigma, nan=0.0)
    for dy, dx in _FOUR:
        edge = mask & ~_moved(mask, dy, dx)
        one, two = shifted(outside, near * dy, near * dx), shifted(outside, far * dy, far * dx)
        slope = np.nan_to_num((one - two) / (far - near), nan=0.0)
        with np.errstate(invalid="ignore"):
            there = np.clip(one + near * slope, 0.8 * one, 1.25 * one)
            hides |= edge & (there > tolerance * inverse)
            touches |= edge & _moved(others, near * dy, near * dx) & (there > inverse / tolerance)
    return hides, touches


def at_border(shape: tuple[int, ...], width_px: int) -> Bool[np.ndarray, "h w"]:
    """Pixels so near to the picture's border."""
    out = np.ones(shape, dtype=bool)
    out[width_px : shape[0] - width_px, width_px : shape[1] - width_px] = False
    return out


def _moved(mask: Bool[np.ndarray, "a b"], dy: int, dx: int) -> Bool[np.ndarray, "a b"]:
    return np.asarray(shifted(mask.astype(np.float64), dy, dx) == 1)


def shifted(values: Float64[np.ndarray, "a b"], dy: int, dx: int) -> Float64[np.ndarray, "a b"]:
    """values[y + dy, x + dx]; NaN beyond the border."""
    out = np.full(values.shape, np.nan)
    h, w = values.shape
    if abs(dy) < h and abs(dx) < w:
        out[max(0, -dy) : h - max(0, dy), max(0, -dx) : w - max(0, dx)] = values[
            max(0, dy) : h - max(0, -dy), max(0, dx) : w - max(0, -dx)
        ]
    return out
