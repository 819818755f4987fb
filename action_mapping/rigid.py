"""Poses as given by people and files: checked before anything is named by them."""

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

RIGID_TOLERANCE = 1e-3
"""Largest departure of a matrix from the nearest rotation, per entry: text files of 6 digits stay below 1e-5; a
scale or shear of 0.1 % does not."""


class PoseError(ValueError):
    """Poses that are none: not finite, not rigid, left-handed, too few, without order in time."""


def checked_rotations(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Rotation:
    """The rotations of poses. Raises PoseError, naming the first, where one is not finite, rigid or right-handed."""
    matrix = world_from_body[:, :3, :3]
    _refuse(~np.isfinite(matrix).all(axis=(1, 2)), "holds NaN or infinity in its rotation")
    _refuse((world_from_body[:, 3] != (0.0, 0.0, 0.0, 1.0)).any(axis=1), "has a last row other than 0 0 0 1")
    rotation = Rotation.from_matrix(matrix, assume_valid=True)
    off = np.abs(rotation.as_matrix() - matrix).max(axis=(1, 2)) > RIGID_TOLERANCE
    if off.any():  # scipy's quaternion is a proper rotation whatever it was made of: only a rigid matrix comes back
        _refuse(off & (np.linalg.det(matrix) < 0), "is left-handed (determinant below 0): one axis is mirrored")
        _refuse(off, f"is not rigid: entries are off by more than {RIGID_TOLERANCE:g}; remove scale and shear")
    return rotation


def checked_poses(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Rotation:
    """As `checked_rotations`, and positions must be finite."""
    _refuse(~np.isfinite(world_from_body[:, :3, 3]).all(axis=1), "holds NaN or infinity in its position")
    return checked_rotations(world_from_body)


def _refuse(bad: Bool[np.ndarray, "n"], what: str) -> None:
    if bad.any():
        raise PoseError(f"pose {int(np.argmax(bad))} {what} ({int(bad.sum())} of {len(bad)} poses)")
