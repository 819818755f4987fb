"""Angle between two estimates of the up direction, and between up and the normal of the floor."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_reprojection import pixel_grid, sampled, unprojected
from experts.signals import CameraPath, Depth, Gravity


@dataclass(frozen=True, kw_only=True)
class UpLimits:
    """When two up directions contradict each other, and what counts as a floor."""

    up_rad: float = np.deg2rad(6.0)
    """Largest angle between two up directions: the widest tolerance for roll and pitch is 5° (`MaxTolerances`)."""
    cone_rad: float = np.deg2rad(20.0)
    """Largest angle between up and the normal of a floor; a steeper plane is another surface."""
    floor_sigma_rad: float = np.deg2rad(3.0)
    """σ of the normal of a floor fitted to learned depth: a smooth error of 4 % over a floor as long as its distance
    tilts it by 2.3°. Estimated, not measured."""
    thickness: float = 0.02
    """Points of the floor are within this share of the median depth from its plane."""
    floor_share: float = 0.08
    """Smallest share of all points that belong to the floor ..."""
    below_share: float = 0.02
    """... and largest share of points below it."""
    points: int = 3000
    """Largest number of points used."""
    planes: int = 400
    """Number of RANSAC planes through three points."""


def angles_between_ups(a: Gravity, b: Gravity, path: CameraPath | None) -> Float64[np.ndarray, "k"] | None:
    """Angles (rad) between two up directions per common frame. Without common frames: between their medians in the
    world of `path`. None: not comparable."""
    _, row_a, row_b = np.intersect1d(a.frames, b.frames, return_indices=True)
    up, other = a.up_cam[row_a], b.up_cam[row_b]
    known = np.isfinite(up).all(axis=1) & np.isfinite(other).all(axis=1)
    if known.any():
        return _angle(up[known], other[known])
    ups = [up_in_world(gravity, path) for gravity in (a, b)] if path is not None else [None, None]
    return None if ups[0] is None or ups[1] is None else _angle(ups[0][None], ups[1][None])


def up_in_world(gravity: Gravity, path: CameraPath) -> Float64[np.ndarray, "3"] | None:
    """Median up direction in the path's world; None where no frame has both."""
    _, row, at = np.intersect1d(gravity.frames, path.frames, return_indices=True)
    ups = np.einsum("nij,nj->ni", path.world_from_cam[at, :3, :3], gravity.up_cam[row])
    ups = ups[np.isfinite(ups).all(axis=1)]
    if not len(ups):
        return None
    pooled = np.median(ups, axis=0)
    return np.asarray(pooled / np.linalg.norm(pooled))


def floor_tilt(depth: Depth, path: CameraPath, up: Float64[np.ndarray, "3"], limits: UpLimits) -> float | None:
    """Angle between up and the normal of the lowest large plane that is about level; None if there is no such plane."""
    xyz = _cloud(depth, path, limits.points)
    if len(xyz) < 3:
        return None
    thickness = limits.thickness * float(np.nanmedian(depth.z[:, ::4, ::4]))
    rng = np.random.default_rng(0)
    a, b, c = (xyz[rng.integers(0, len(xyz), limits.planes)] for _ in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    normal = normal / np.where(length > 0, length, 1)[:, None]
    normal *= np.sign(normal @ up)[:, None]
    level = (length > 0) & (normal @ up >= np.cos(limits.cone_rad))
    a, normal = a[level], normal[level]
    height = xyz @ normal.T - np.sum(a * normal, axis=1)
    on, below = np.abs(height) <= thickness, height < -thickness
    support = np.where(below.mean(axis=0) <= limits.below_share, on.mean(axis=0), 0.0)
    if not len(support) or support.max() < limits.floor_share:
        return None
    floor = xyz[on[:, support.argmax()]]
    fitted = np.linalg.svd(floor - floor.mean(axis=0), full_matrices=False)[2][2]
    return float(np.arccos(min(1.0, abs(float(fitted @ up)))))


def _cloud(depth: Depth, path: CameraPath, count: int) -> Float64[np.ndarray, "p 3"]:
    """Points of the depth in the path's world, evenly spaced over frames and pixels."""
    _, rows, at = np.intersect1d(depth.frames, path.frames, return_indices=True)
    placed = np.isfinite(path.world_from_cam[at]).all(axis=(1, 2))
    rows, at = rows[placed], at[placed]
    chosen = np.unique(np.linspace(0, max(len(rows) - 1, 0), min(12, len(rows))).round().astype(int))
    side = int(np.sqrt(count / max(len(chosen), 1)))
    grid = pixel_grid(side, side, path.intrinsics)
    parts = [np.empty((0, 3))]
    for k in chosen:
        cam = unprojected(grid, sampled(depth.z[rows[k]], path.intrinsics, grid), path.intrinsics)
        pose = path.world_from_cam[at[k]]
        parts.append(cam[np.isfinite(cam).all(axis=1)] @ pose[:3, :3].T + pose[:3, 3])
    return np.concatenate(parts)


def _angle(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"]) -> Float64[np.ndarray, "k"]:
    return np.asarray(np.arccos(np.clip(np.sum(a * b, axis=1), -1, 1)))
