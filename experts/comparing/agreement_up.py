"""Angle between two estimates of the up direction, and between up and the normal of the floor."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64

from experts.gravity.floor import FloorSettings, depth_cloud, floor_plane
from experts.signals import CameraPath, Depth, Gravity


@dataclass(frozen=True, kw_only=True)
class UpLimits:
    """When two up directions contradict each other, and what counts as a floor."""

    up_rad: float = np.deg2rad(6.0)
    """Largest angle between two up directions: the widest tolerance for roll and pitch is 5° (`MaxTolerances`)."""
    floor_sigma_rad: float = np.deg2rad(3.0)
    """σ of the normal of a floor fitted to learned depth: a smooth error of 4 % over a floor as long as its distance
    tilts it by 2.3°. Estimated, not measured."""
    points: int = 3000
    """Largest number of points used."""
    floor: FloorSettings = field(default_factory=lambda: FloorSettings(planes=400))
    """What counts as a floor."""


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
    """Angle between up and the normal of the floor; None where no floor is seen."""
    xyz = depth_cloud(depth, path, limits.points)
    thickness = limits.floor.thickness * float(np.nanmedian(depth.z[:, ::4, ::4]))
    floor = floor_plane(xyz, np.full(len(xyz), thickness), up, limits.floor)
    return None if floor is None else float(np.arccos(min(1.0, floor.normal @ up)))


def _angle(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"]) -> Float64[np.ndarray, "k"]:
    return np.asarray(np.arccos(np.clip(np.sum(a * b, axis=1), -1, 1)))
