"""Dense depth held against the depth of other frames: what travel confirms stays, the rest is forgotten."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64

from experts.depth.depth_reprojection import pixel_grid, seen_again
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class ConsistencySettings:
    """When the depth of a pixel counts as seen twice."""

    stride: int = 3
    """Every n-th pixel each way is asked; it speaks for the cell around it."""
    least_baseline: float = 0.03
    """The other frame stands at least this share of the median depth away: 1.7° of parallax. From one place the same
    error looks the same twice."""
    agree: float = 0.05
    """Largest relative difference of the two depths."""
    back_px: float = 2.0
    """Largest distance after the way there and back, in map pixels."""
    contradict: float = 0.10
    """The other frame sees deeper by this share where the point should be: the depth is wrong, or the thing moved."""


def confirmed(
    z: Float32[np.ndarray, "n h w"],
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    camera: Intrinsics,
    settings: ConsistencySettings,
) -> Bool[np.ndarray, "n h w"]:
    """Pixels whose depth the nearest frame before or behind confirms and neither contradicts.

    "Nearest" is the first with enough baseline; a frame without any is not confirmed at all.
    """
    height, width = z.shape[1:]
    first, stride = settings.stride // 2, settings.stride
    rows, columns = np.arange(first, height, stride), np.arange(first, width, stride)
    asked = pixel_grid(height, width, camera).reshape(height, width, 2)[np.ix_(rows, columns)].reshape(-1, 2)
    back_px = settings.back_px * camera.width_px / width
    out = np.zeros(z.shape, dtype=bool)
    for a in range(len(z)):
        agrees, contradicted = np.zeros(len(asked), dtype=bool), np.zeros(len(asked), dtype=bool)
        for b in _partners(a, z, world_from_cam, settings):
            b_from_a = np.linalg.inv(world_from_cam[b]) @ world_from_cam[a]
            seen = seen_again(asked, z[a], z[b], b_from_a, camera, camera)
            agrees |= seen.agrees(settings.agree, back_px)
            contradicted |= seen.contradicted(settings.contradict)
        cells = (agrees & ~contradicted).reshape(len(rows), len(columns))
        whole = np.repeat(np.repeat(cells, stride, axis=0), stride, axis=1)[:height, :width]
        out[a, : whole.shape[0], : whole.shape[1]] = whole
    return out & np.isfinite(z)


def _partners(
    a: int, z: Float32[np.ndarray, "n h w"], world_from_cam: Float64[np.ndarray, "n 4 4"], settings: ConsistencySettings
) -> list[int]:
    """The nearest frame on either side that stands far enough away."""
    own = z[a, :: settings.stride, :: settings.stride]
    if not np.isfinite(own).any() or not np.isfinite(world_from_cam[a]).all():
        return []
    away = np.linalg.norm(world_from_cam[:, :3, 3] - world_from_cam[a, :3, 3], axis=1)
    far = np.flatnonzero(away >= settings.least_baseline * np.nanmedian(own))  # False for NaN
    return [*far[far < a][-1:].tolist(), *far[far > a][:1].tolist()]
