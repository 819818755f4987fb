"""How far poses move if points that fit badly count less: what moves in the pictures pulls a camera along."""

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.pose_covariance import pixels_by_pose

_ROUNDS = 5
_LEAST_POINTS = 20
"""Frames that see fewer are not fitted again."""
_LEAST_NOISE_PX = 0.3
_WIDTHS = 2.0
"""A residual this many times the noise counts a quarter."""
_MEDIAN_LENGTH = 1.1774
"""Median length of a plane vector whose two components are normal with σ 1."""


def refit_shifts(
    camera: Intrinsics,
    cam_from_world: Float64[np.ndarray, "n 4 4"],
    xyz_world: Float64[np.ndarray, "o 3"],
    frame: Int64[np.ndarray, "o"],
    xy_px: Float64[np.ndarray, "o 2"],
) -> Float64[np.ndarray, "n"]:
    """By how much the position of each frame moves, in the unit of the points, when its pose is fitted again to the
    points that it sees, which stay; 0 where there are too few.

    Iteratively reweighted least squares with the weights of Geman and McClure (1/(1 + r²)², r: residual over its
    width). `xyz_world`, `frame` (row of `cam_from_world`) and `xy_px`: of each observation.
    """
    poses = cam_from_world.copy()
    fitted = np.bincount(frame, minlength=len(poses)) >= _LEAST_POINTS
    used = fitted[frame] & np.isfinite(poses[frame, 0, 0])
    xyz, row, seen = xyz_world[used], frame[used], xy_px[used]
    width_px = 0.0
    for _ in range(_ROUNDS if len(row) else 0):
        xyz_cam = np.einsum("oij,oj->oi", poses[row, :3, :3], xyz) + poses[row, :3, 3]
        residual = camera.project(xyz_cam) - seen
        length = np.linalg.norm(residual, axis=1)
        known = np.isfinite(length)
        width_px = width_px or _WIDTHS * max(_LEAST_NOISE_PX, float(np.median(length[known])) / _MEDIAN_LENGTH)
        weight = np.where(known, 1 / (1 + (length / width_px) ** 2) ** 2, 0.0)
        slope = pixels_by_pose(camera, np.where(known[:, None], xyz_cam, [0.0, 0.0, 1.0]))
        weighted = slope.swapaxes(1, 2) * weight[:, None, None]
        normal, side = np.zeros((len(poses), 6, 6)), np.zeros((len(poses), 6))
        np.add.at(normal, row, weighted @ slope)
        np.add.at(side, row, (weighted @ np.nan_to_num(residual)[..., None])[..., 0])
        normal += (1e-9 * np.trace(normal, axis1=1, axis2=2) + 1e-12)[:, None, None] * np.eye(6)
        step = -np.linalg.solve(normal, side[..., None])[..., 0]
        moved = np.tile(np.eye(4), (len(poses), 1, 1))
        moved[:, :3, :3], moved[:, :3, 3] = Rotation.from_rotvec(step[:, :3]).as_matrix(), step[:, 3:]
        poses = moved @ poses
    return np.nan_to_num(np.linalg.norm(_centres(poses) - _centres(cam_from_world), axis=1))


def _centres(cam_from_world: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 3"]:
    return -np.einsum("nji,nj->ni", cam_from_world[:, :3, :3], cam_from_world[:, :3, 3])
