"""How precisely keyframes are posed relative to each other: the covariance of a reconstruction's bundle adjustment.

Points and poses are uncertain together: a small pan resembles a sideways step. A pose estimated from points taken as
exact does not show that. The camera is held, because its focal length has a σ of its own.
"""

import numpy as np
from jaxtyping import Float64
from scipy.sparse import bsr_array, csr_array

from experts.intrinsics import Intrinsics
from experts.mapping.colmap_mapping import SparseReconstruction

_MEDIAN_LENGTH = 1.1774
"""Median length of a plane vector whose two components are normal with σ 1."""
_DAMPING = 1e-9
"""Share of a point's information that is added to it: a point seen along one line stays solvable."""


def keyframe_sigmas(sparse: SparseReconstruction) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """(rotation in rad, position in the unit of the reconstruction) of each keyframe: σ per axis, as if the errors of
    all observations were independent.

    Medians over the other keyframes, such that the σ of the direction to one of them at distance d is
    √(rotation² + 2 position² / d²).
    """
    cam_from_world = sparse.cam_from_world
    second_from_first = cam_from_world[None] @ np.linalg.inv(cam_from_world)[:, None]
    covariance = _relative_covariance(_pose_covariance(sparse), second_from_first)
    baseline = np.linalg.norm(second_from_first[..., :3, 3], axis=-1)
    along = second_from_first[..., :3, 3] / np.maximum(baseline, 1e-12)[..., None]
    rotation = np.trace(covariance[..., :3, :3], axis1=-2, axis2=-1) / 3
    shift = covariance[..., 3:, 3:]
    across = (np.trace(shift, axis1=-2, axis2=-1) - np.einsum("ijk,ijkl,ijl->ij", along, shift, along)) / 2
    position = np.maximum(0.0, across - rotation * baseline**2) / 2
    others = ~np.eye(len(cam_from_world), dtype=bool)
    medians = (np.nanmedian(np.where(others, square, np.nan), axis=1) for square in (rotation, position))
    rotation_sigma, position_sigma = (np.sqrt(square) for square in medians)
    return rotation_sigma, position_sigma


def _relative_covariance(
    covariance: Float64[np.ndarray, "k k 6 6"], second_from_first: Float64[np.ndarray, "k k 4 4"]
) -> Float64[np.ndarray, "k k 6 6"]:
    """Of rotation and translation of keyframe j relative to keyframe i, at [i, j], in the axes of j."""
    turn, shift = second_from_first[..., :3, :3], second_from_first[..., :3, 3]
    by_first, by_second = np.zeros_like(covariance), np.zeros_like(covariance)
    by_first[..., :3, :3] = by_first[..., 3:, 3:] = -turn
    by_second[..., :, :] = np.eye(6)
    by_second[..., 3:, :3] = -_cross(shift)
    own = np.einsum("kkab->kab", covariance)
    mixed = by_first @ covariance @ by_second.swapaxes(-1, -2)
    first = by_first @ own[:, None] @ by_first.swapaxes(-1, -2)
    return np.asarray(first + by_second @ own[None] @ by_second.swapaxes(-1, -2) + mixed + mixed.swapaxes(-1, -2))


def _pose_covariance(sparse: SparseReconstruction) -> Float64[np.ndarray, "k k 6 6"]:
    """Of all keyframes (rotation vector and translation in camera axes, applied on the left), points free. What no
    observation determines (place, rotation and unit of the world) is left out."""
    row, point = sparse.row(sparse.place), sparse.point
    pose = sparse.cam_from_world[row]
    xyz_cam = np.einsum("oij,oj->oi", pose[:, :3, :3], sparse.xyz_world[point]) + pose[:, :3, 3]
    residual = np.linalg.norm(sparse.camera.project(xyz_cam) - sparse.xy_px, axis=1)
    noise_px = float(np.nanmedian(residual)) / _MEDIAN_LENGTH
    seen = np.isfinite(residual)
    by_pose = pixels_by_pose(sparse.camera, np.where(seen[:, None], xyz_cam, [0.0, 0.0, 1.0])) * seen[:, None, None]
    by_point = by_pose[..., 3:] @ pose[:, :3, :3]
    count, points = len(sparse.places), len(sparse.xyz_world)
    cameras, places = _columns(by_pose, row, count), _columns(by_point, point, points)
    information = np.zeros((points, 3, 3))
    np.add.at(information, point, by_point.swapaxes(1, 2) @ by_point)
    size = np.maximum(np.trace(information, axis1=1, axis2=2), 1e-12)
    inverse = np.linalg.inv(information + (_DAMPING * size)[:, None, None] * np.eye(3))
    eliminated = bsr_array((inverse, np.arange(points), np.arange(points + 1)), shape=(3 * points, 3 * points))
    mixed = cameras.T @ places
    reduced = (cameras.T @ cameras - mixed @ eliminated @ mixed.T).toarray()
    covariance = noise_px**2 * _inverse_without(reduced, _free_directions(sparse))
    return np.asarray(covariance.reshape(count, 6, count, 6).swapaxes(1, 2))


def pixels_by_pose(camera: Intrinsics, xyz_cam: Float64[np.ndarray, "o 3"]) -> Float64[np.ndarray, "o 2 6"]:
    """Derivatives of projected points by the camera's rotation vector and translation, applied on the left; lens
    distortion is neglected."""
    x, y, z = xyz_cam.T
    zero = np.zeros_like(z)
    slope = np.stack([np.stack([1 / z, zero, -x / z**2], -1), np.stack([zero, 1 / z, -y / z**2], -1)], axis=1)
    slope *= np.array([[camera.fx_px], [camera.fy_px]])
    return np.concatenate([-slope @ _cross(xyz_cam), slope], axis=2)


def _columns(blocks: Float64[np.ndarray, "o 2 d"], at: np.ndarray, count: int) -> csr_array:
    """A sparse matrix with block o in the columns of parameter block `at[o]`."""
    observations, _, size = blocks.shape
    columns = np.repeat(size * at[:, None] + np.arange(size), 2, axis=0)
    starts = np.arange(0, 2 * observations * size + 1, size)
    return csr_array((blocks.ravel(), columns.ravel(), starts), shape=(2 * observations, size * count))


def _free_directions(sparse: SparseReconstruction) -> Float64[np.ndarray, "p 7"]:
    """Changes of all poses that no observation notices: rotation, translation and scale of the world."""
    turn, shift = sparse.cam_from_world[:, :3, :3], sparse.cam_from_world[:, :3, 3]
    free = np.zeros((len(turn), 6, 7))
    free[:, :3, :3], free[:, 3:, :3], free[:, 3:, 3:6] = turn, _cross(shift) @ turn, turn
    free[:, 3:, 6] = shift
    return free.reshape(-1, 7)


def _inverse_without(matrix: Float64[np.ndarray, "p p"], free: Float64[np.ndarray, "p 7"]) -> np.ndarray:
    """The inverse of a symmetric matrix across its null space, which `free` spans; scaled first, since rotations and
    translations have different units."""
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1e-12))
    null, _ = np.linalg.qr(free / scale[:, None])
    joint = null @ null.T
    inverse = np.linalg.inv(matrix * scale[:, None] * scale + joint) - joint
    return np.asarray(inverse * scale[:, None] * scale)


def _cross(vector: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n 3 3"]:
    """Matrices of the cross product with each vector."""
    x, y, z = np.moveaxis(vector, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([np.stack([zero, -z, y], -1), np.stack([z, zero, -x], -1), np.stack([-y, x, zero], -1)], axis=-2)
