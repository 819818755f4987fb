"""Wrong options: typical spatial mistakes that differ visibly from the right option and from each other."""

import numpy as np
from jaxtyping import Float64

from templates.answers.shape import rms

_POINT_SPACING = 3.0
"""Least distance of wrong points from the right one and from each other, in tolerances."""
_POINT_BORDER = 0.06


def point_distractors(
    xy_px: Float64[np.ndarray, "2"],
    tolerance_px: float,
    xy_a_px: Float64[np.ndarray, "2"],
    size_px: np.ndarray,
    rng: np.random.Generator,
) -> list[Float64[np.ndarray, "2"]]:
    """Wrong pixels for the match of `xy_a_px`: the same pixel, the displacement reversed, mirrored, random."""
    flow = xy_px - xy_a_px
    width, height = size_px
    mistakes = [
        xy_a_px,
        xy_a_px - flow,
        np.array([width - 1 - xy_px[0], xy_px[1]]),
        np.array([xy_px[0], height - 1 - xy_px[1]]),
    ]
    mistakes = [mistakes[k] for k in rng.permutation(len(mistakes))]
    elsewhere = rng.uniform(_POINT_BORDER, 1 - _POINT_BORDER, size=(30, 2)) * size_px
    kept: list[np.ndarray] = []
    for candidate in [*mistakes, *elsewhere]:
        distances_px = [float(np.linalg.norm(candidate - other)) for other in [xy_px, *kept]]
        within = np.all((candidate >= _POINT_BORDER * size_px) & (candidate <= (1 - _POINT_BORDER) * size_px))
        if within and min(distances_px) >= _POINT_SPACING * tolerance_px:
            kept.append(candidate)
    return kept


def shape_distractors(
    points: Float64[np.ndarray, "n 2"], min_distance: float, rng: np.random.Generator
) -> list[Float64[np.ndarray, "n 2"]]:
    """Wrong drawings of a path that starts at the origin: mirrored, rotated, reversed, bent the other way."""
    end = points[-1] / max(float(np.linalg.norm(points[-1])), 1e-9)
    across = points @ np.array([-end[1], end[0]])
    bent = points - 2 * across[:, None] * np.array([-end[1], end[0]])
    mistakes = [
        points * [-1, 1],
        points * [1, -1],
        -points,
        points[:, ::-1],
        -points[:, ::-1],
        points[:, ::-1] * [1, -1],
        bent,
        points[::-1] - points[-1],
    ]
    kept: list[np.ndarray] = []
    for k in rng.permutation(len(mistakes)):
        candidate = mistakes[k] / np.linalg.norm(mistakes[k], axis=1).max()
        if min(_difference(candidate, other) for other in [points, *kept]) >= min_distance:
            kept.append(candidate)
    return kept


def _difference(a: Float64[np.ndarray, "n 2"], b: Float64[np.ndarray, "n 2"]) -> float:
    """Rms distance of two drawings, point by point or as curves, whichever is smaller: a reader sees only the curve."""
    return float(min(rms(a, b), rms(_evenly_spaced(a), _evenly_spaced(b))))


def _evenly_spaced(points: Float64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "m 2"]:
    """The curve through the points, sampled at equal steps along it."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0, along[-1], 32)
    return np.stack([np.interp(at, along, points[:, k]) for k in (0, 1)], axis=1)
