"""How far two depths of one clip are apart, and depth and a map's points, up to one factor."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_reprojection import pixel_grid, sampled
from experts.signals import CameraPath, Depth, SparsePoints

_SIDE = 48
"""Pixels a side of the grid on which two depths are compared."""


@dataclass(frozen=True, kw_only=True)
class DepthsApart:
    """What one factor leaves between two depths."""

    relative: float
    """Robust σ (1.48 · median absolute deviation) of ln of their ratio, the factor taken out."""
    factor: float
    """The first over the second; NaN where every frame has its own."""
    pixels: int


@dataclass(frozen=True, kw_only=True)
class DepthLimits:
    """When two depths show different scenes."""

    relative: float = 0.20
    """Of ln of the ratio. Half of what a room leaves (ranges of 1 to 5 m) whose depth is turned inside out; beyond it
    no question about distances has tolerances wide enough."""
    factor: float = 0.20
    """Largest |ln| between the unit of a path and that of its depth, held against a second map."""
    pixels: int = 100
    """Fewer say nothing."""
    sure_outlier_probability: float = 0.01
    """Points of a map that are more doubtful do not count."""


def depths_apart(a: Depth, b: Depth, path: CameraPath, limits: DepthLimits) -> DepthsApart | None:
    """Compares dense depths on the frames they share; `path` gives the size of the frame."""
    _, row_a, row_b = np.intersect1d(a.frames, b.frames, return_indices=True)
    grid = pixel_grid(_SIDE, _SIDE, path.intrinsics)
    ratio = [
        np.log(sampled(a.z[i], path.intrinsics, grid) / sampled(b.z[j], path.intrinsics, grid))
        for i, j in zip(row_a, row_b, strict=True)
    ]
    return _apart(ratio, "per_frame" in (a.scale.kind, b.scale.kind), limits)


def depth_and_points(depth: Depth, points: SparsePoints, path: CameraPath, limits: DepthLimits) -> DepthsApart | None:
    """Compares dense depth with points where their map saw them; `path` is the map's own."""
    sure = points.outlier_probability[points.observation_point] <= limits.sure_outlier_probability
    ratio = []
    for row, frame in enumerate(depth.frames):
        at = np.flatnonzero(path.frames == frame)
        seen = np.flatnonzero(sure & (points.observation_frame == frame))
        if len(at) and len(seen):
            pose = path.world_from_cam[at[0]]
            away = (points.xyz_world[points.observation_point[seen]] - pose[:3, 3]) @ pose[:3, 2]
            z = sampled(depth.z[row], path.intrinsics, points.observation_xy_px[seen])
            ratio.append(np.log(z / np.where(away > 0, away, np.nan)))
    return _apart(ratio, depth.scale.kind == "per_frame", limits)


def _apart(ratio: list[Float64[np.ndarray, "_"]], per_frame: bool, limits: DepthLimits) -> DepthsApart | None:
    known = [each[np.isfinite(each)] for each in ratio]
    known = [each for each in known if len(each)]
    if sum(map(len, known)) < limits.pixels:
        return None
    joined = np.concatenate([each - np.median(each) for each in known] if per_frame else known)
    middle = float(np.median(joined))
    return DepthsApart(
        relative=1.4826 * float(np.median(np.abs(joined - middle))),
        factor=np.nan if per_frame else float(np.exp(middle)),
        pixels=len(joined),
    )
