"""Validation of poses: finite, rigid, right-handed."""

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

RIGID_TOLERANCE = 1e-3
"""Largest difference between an entry of a matrix and of the nearest rotation. Rounding to 6 digits stays below 1e-5;
a scale or shear of 0.1 % exceeds it."""


class PoseError(ValueError):
    """Invalid poses: not finite, not rigid, left-handed, too few, or not in order of time."""


def checked_rotations(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Rotation:
    """The rotations of poses. Raises PoseError that names the first one that is not finite, rigid and right-handed."""
    matrix = world_from_body[:, :3, :3]
    _refuse(~np.isfinite(matrix).all(axis=(1, 2)), "holds NaN or infinity in its rotation")
    _refuse((world_from_body[:, 3] != (0.0, 0.0, 0.0, 1.0)).any(axis=1), "has a last row other than 0 0 0 1")
    rotation = Rotation.from_matrix(matrix, assume_valid=True)
    bad = np.abs(rotation.as_matrix() - matrix).max(axis=(1, 2)) > RIGID_TOLERANCE
    if bad.any():  # scipy projects any matrix to a proper rotation, so only a rigid matrix comes back unchanged
        _refuse(bad & (np.linalg.det(matrix) < 0), "is left-handed (determinant below 0): one axis is mirrored")
        _refuse(
            bad,
            f"is not rigid: entries differ from a rotation by more than {RIGID_TOLERANCE:g}; remove scale and shear",
        )
    return rotation


def checked_poses(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Rotation:
    """As `checked_rotations`; positions must be finite as well."""
    _refuse(~np.isfinite(world_from_body[:, :3, 3]).all(axis=1), "holds NaN or infinity in its position")
    return checked_rotations(world_from_body)


def known_rotations(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Bool[np.ndarray, "n"]:
    """Which rotations hold no NaN. Raises PoseError, as `checked_rotations`, if one of these is invalid."""
    known = ~np.isnan(world_from_body[:, :3, :3]).any(axis=(1, 2))
    checked_rotations(np.where(known[:, None, None], world_from_body, np.eye(4)))
    return known


def known_poses(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Bool[np.ndarray, "n"]:
    """As `known_rotations`, of rotations and positions."""
    known = ~np.isnan(world_from_body[:, :3]).any(axis=(1, 2))
    checked_poses(np.where(known[:, None, None], world_from_body, np.eye(4)))
    return known


def _refuse(bad: Bool[np.ndarray, "n"], what: str) -> None:
    if bad.any():
        raise PoseError(f"pose {int(np.argmax(bad))} {what} ({int(bad.sum())} of {len(bad)} poses)")
