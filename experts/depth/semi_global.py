"""Semi-global matching: the smoothest labelling of a picture that its matching costs allow.

Hirschmüller, "Stereo processing by semi-global matching and mutual information", PAMI 2008, with four directions.
"""

import numpy as np
from jaxtyping import Float32


def aggregated(
    cost: Float32[np.ndarray, "d h w"], small_step: float, large_step: float
) -> Float32[np.ndarray, "d h w"]:
    """The sum of the path costs of four directions: from above, from below, from the left and from the right.

    Args:
        cost: matching cost of each label at each pixel.
        small_step: penalty of neighbours whose labels differ by 1.
        large_step: penalty of neighbours whose labels differ by more.
    """
    steps = np.float32(small_step), np.float32(large_step)
    total = np.zeros_like(cost)
    _add_paths(cost.transpose(1, 0, 2), total.transpose(1, 0, 2), *steps)
    columns = np.ascontiguousarray(cost.transpose(2, 0, 1))
    across = np.zeros_like(columns)
    _add_paths(columns, across, *steps)
    total += across.transpose(1, 2, 0)
    return total


def _add_paths(
    cost: Float32[np.ndarray, "n d m"],
    total: Float32[np.ndarray, "n d m"],
    small_step: np.float32,
    large_step: np.float32,
) -> None:
    """Adds to `total` the costs of the paths along the first axis, in both directions."""
    for order in (range(len(cost)), range(len(cost) - 1, -1, -1)):
        path = np.zeros_like(cost[0])
        for line in order:
            least = path.min(axis=0)
            best = np.minimum(path, least + large_step)
            np.minimum(best[1:], path[:-1] + small_step, out=best[1:])
            np.minimum(best[:-1], path[1:] + small_step, out=best[:-1])
            best += cost[line]
            best -= least
            path = best
            total[line] += path


def best_labels(cost: Float32[np.ndarray, "d h w"]) -> Float32[np.ndarray, "h w"]:
    """The label of least cost, refined by the parabola through its two neighbours."""
    label = cost.argmin(axis=0)
    inner = np.clip(label, 1, len(cost) - 2)
    before, at, after = (np.take_along_axis(cost, (inner + k)[None], 0)[0] for k in (-1, 0, 1))
    bend = before - 2 * at + after
    shift = np.where(bend > 0, (before - after) / np.maximum(2 * bend, np.float32(1e-9)), 0)
    return np.where(label == inner, inner + np.clip(shift, -0.5, 0.5), label).astype(np.float32)
