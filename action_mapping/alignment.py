"""Alignment of an estimated path with a reference (SE(3) or Sim(3)), and its errors: ATE and RPE."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.rigid import PoseError, checked_poses


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """A similarity from the estimate's world to the reference's: x ↦ scale · R x + t."""

    scale: float
    """1 for a rigid alignment."""
    reference_from_estimate: Float64[np.ndarray, "4 4"]
    """Rotation R and translation t, in reference units."""

    def positions(self, xyz: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 3"]:
        """Transforms points of the estimate's world into the reference's."""
        rotation, translation = self.reference_from_estimate[:3, :3], self.reference_from_estimate[:3, 3]
        return self.scale * xyz @ rotation.T + translation

    def poses(self, world_from_cam: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 4 4"]:
        """Transforms poses of the estimate into the reference's world."""
        aligned = self.reference_from_estimate @ world_from_cam
        aligned[:, :3, 3] = self.positions(world_from_cam[:, :3, 3])
        return aligned


@dataclass(frozen=True, kw_only=True)
class PathError:
    """Statistics of the errors along a path."""

    rmse: float
    """Root mean square."""
    mean: float
    """Mean."""
    median: float
    """Median."""
    maximum: float
    """Largest."""


def align(
    estimate_xyz: Float64[np.ndarray, "n 3"], reference_xyz: Float64[np.ndarray, "n 3"], *, with_scale: bool = False
) -> Alignment:
    """Fit the least-squares similarity (Umeyama 1991) between corresponding positions; rigid without `with_scale`.

    Raises PoseError for fewer than three positions, for NaN, and for positions on one line, about which the rotation
    is not determined.
    """
    both = (estimate_xyz, reference_xyz)
    if not all(np.isfinite(xyz).all() for xyz in both):
        raise PoseError("positions must be finite; remove unknown ones from both paths")
    centres = [xyz.mean(axis=0) for xyz in both]
    estimate, reference = (xyz - centre for xyz, centre in zip(both, centres, strict=True))
    singular_values = [np.linalg.svd(xyz, compute_uv=False) for xyz in (estimate, reference)]
    if len(estimate_xyz) < 3 or any(values[1] <= 1e-9 * values[0] for values in singular_values):
        raise PoseError("positions lie on one line or in one point: the rotation between the paths is not determined")
    rotation, _ = Rotation.align_vectors(reference, estimate)
    rotated = rotation.apply(estimate)
    scale = float((rotated * reference).sum() / (estimate**2).sum()) if with_scale else 1.0
    reference_from_estimate = np.eye(4)
    reference_from_estimate[:3, :3] = rotation.as_matrix()
    reference_from_estimate[:3, 3] = centres[1] - scale * rotation.apply(centres[0])
    return Alignment(scale=scale, reference_from_estimate=reference_from_estimate)


def ate(estimate_xyz: Float64[np.ndarray, "n 3"], reference_xyz: Float64[np.ndarray, "n 3"]) -> PathError:
    """Absolute trajectory error: distances between corresponding positions of aligned paths, in path units."""
    return _path_error(np.linalg.norm(estimate_xyz - reference_xyz, axis=1))


def rpe(
    world_from_estimate: Float64[np.ndarray, "n 4 4"], world_from_reference: Float64[np.ndarray, "n 4 4"], step: int = 1
) -> tuple[PathError, PathError]:
    """Relative pose error of motions over `step` poses: translation (path units) and rotation (rad)."""
    if not 1 <= step < len(world_from_estimate):
        raise PoseError(
            f"step must be at least 1 and below the number of poses, {len(world_from_estimate)}, not {step}"
        )
    checked_poses(world_from_estimate)
    checked_poses(world_from_reference)
    estimate, reference = (
        np.linalg.solve(poses[:-step], poses[step:]) for poses in (world_from_estimate, world_from_reference)
    )
    error = np.linalg.solve(reference, estimate)
    rotation_rad = Rotation.from_matrix(error[:, :3, :3], assume_valid=True).magnitude()
    return _path_error(np.linalg.norm(error[:, :3, 3], axis=1)), _path_error(rotation_rad)


def _path_error(errors: Float64[np.ndarray, "n"]) -> PathError:
    return PathError(
        rmse=math.sqrt(float((errors**2).mean())),
        mean=float(errors.mean()),
        median=float(np.median(errors)),
        maximum=float(errors.max()),
    )
