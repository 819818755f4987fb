"""Finds the floor of a scene: its lowest large plane that is about level."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_reprojection import pixel_grid, sampled, unprojected
from experts.signals import CameraPath, Depth


@dataclass(frozen=True, kw_only=True)
class GroundPlane:
    """The ground plane of a scene."""

    normal: Float64[np.ndarray, "3"]
    """Unit vector that points up."""
    point: Float64[np.ndarray, "3"]
    """Centroid of its points."""
    share: float
    """Its share of all points."""


@dataclass(frozen=True, kw_only=True)
class FloorSettings:
    """What counts as a floor."""

    cone_rad: float = np.deg2rad(20.0)
    """Largest angle between its normal and up."""
    thickness: float = 0.02
    """Largest distance of its points from the plane, as a share of their distance from the camera."""
    share: float = 0.08
    """Smallest share of all points that belong to it."""
    below_share: float = 0.02
    """Largest share of all points that lie below it."""
    planes: int = 2000
    """Number of RANSAC hypotheses: planes through three points."""


def floor_plane(
    xyz: Float64[np.ndarray, "p 3"],
    thickness: Float64[np.ndarray, "p"],
    up: Float64[np.ndarray, "3"],
    settings: FloorSettings,
) -> GroundPlane | None:
    """The floor, by RANSAC; None where there is none. `thickness`: largest distance of each point from the plane."""
    if len(xyz) < 3:
        return None
    rng = np.random.default_rng(0)
    a, b, c = (xyz[rng.integers(0, len(xyz), settings.planes)] for _ in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    normal = normal / np.where(length > 0, length, 1)[:, None]
    normal *= np.sign(normal @ up)[:, None]
    level = (length > 0) & (normal @ up >= np.cos(settings.cone_rad))
    a, normal = a[level], normal[level]
    height = xyz @ normal.T - np.sum(a * normal, axis=1)
    inlier, below = np.abs(height) <= thickness[:, None], height < -thickness[:, None]
    support = np.where(below.mean(axis=0) <= settings.below_share, inlier.mean(axis=0), 0.0)
    if not len(support) or support.max() < settings.share:
        return None
    floor = xyz[inlier[:, support.argmax()]]
    middle = floor.mean(axis=0)
    fitted = np.linalg.svd(floor - middle, full_matrices=False)[2][2]
    return GroundPlane(normal=fitted * np.sign(fitted @ up), point=middle, share=float(support.max()))


def depth_cloud(depth: Depth, path: CameraPath, count: int) -> Float64[np.ndarray, "p 3"]:
    """About `count` points of the depth in the path's world, evenly spaced over frames and pixels."""
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
