"""Many small least-squares problems at once."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float64, Int64

_STEP = 1e-5
"""Of the parameters, for slopes."""
_SMALL, _STUCK = 1e-3, 1e4
"""A fit ends when it gains less than this share, or at this damping."""


def least_squares(
    residuals: Callable[[Float64[np.ndarray, "k d"], Int64[np.ndarray, "k"]], Float64[np.ndarray, "k r"]],
    start: Float64[np.ndarray, "n d"],
    steps: int,
) -> tuple[Float64[np.ndarray, "n d"], Float64[np.ndarray, "n"]]:
    """Parameters by Levenberg and Marquardt's method, and the sums of squares that are left. Steps are common to all
    problems, since a call of scipy's solver for each would take many times as long.

    `residuals(x, rows)`: of the parameters x of some of the problems.
    """
    solution, damping, rows = start.copy(), np.full(len(start), 1e-2), np.arange(len(start))
    cost = np.sum(residuals(start, rows) ** 2, axis=1)
    for _ in range(steps if len(start) else 0):
        x = solution[rows]
        nudges = _STEP * np.vstack([np.zeros(x.shape[1]), np.eye(x.shape[1])])
        around = (x + nudges[:, None]).reshape(-1, x.shape[1])
        r, *nudged = residuals(around, np.tile(rows, len(nudges))).reshape(len(nudges), len(rows), -1)
        slopes = np.stack([(each - r) / _STEP for each in nudged], axis=2)
        a, b = slopes.swapaxes(1, 2) @ slopes, np.einsum("nrd,nr->nd", slopes, r)
        scale = np.einsum("ndd->nd", a)
        scale = damping[rows, None] * scale + 1e-9 * scale.max(axis=1, keepdims=True) + 1e-12
        moved = x - np.linalg.solve(a + scale[..., None] * np.eye(x.shape[1]), b[..., None])[..., 0]
        after = np.sum(residuals(moved, rows) ** 2, axis=1)
        gain = cost[rows] - after
        solution[rows] = np.where(gain[:, None] > 0, moved, x)
        cost[rows] = np.fmin(cost[rows], after)
        damping[rows] *= np.where(gain > 0, 0.2, 5)
        rows = rows[((gain <= 0) & (damping[rows] < _STUCK)) | (gain > _SMALL * cost[rows])]
        if not len(rows):
            break
    return solution, cost
