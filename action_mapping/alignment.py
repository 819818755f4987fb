"""One path laid onto another, and how far they differ: SE(3) or Sim(3), ATE, RPE."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.rigid import PoseError, checked_poses


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """A similarity that takes the estimate's world to the reference's: x ↦ scale · R x + t."""

    scale: float
    """1 where only rotation and translation were sought."""
    reference_from_estimate: Float64[np.ndarray, "4 4"]
    """Rotation, and translation in reference units."""

    def positions(self, xyz: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 3"]:
        """Points of the estimate's world in the reference's."""
        rotation, translation = self.reference_from_estimate[:3, :3], self.reference_from_estimate[:3, 3]
        return self.scale * xyz @ rotation.T + translation

    def poses(self, world_from_cam: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 4 4"]:
        """Poses of the estimate in the reference's world."""
        aligned = self.reference_from_estimate @ world_from_cam
        aligned[:, :3, 3] = self.positions(world_from_cam[:, :3, 3])
        return aligned


@dataclass(frozen=True, kw_only=True)
class PathError:
    """Errors over a path."""

    rmse: float
    """Root of the mean square."""
    mean: float
    """Mean."""
    median: float
    """Median."""
    maximum: float
    """Largest."""


def align(
    estimate_xyz: Float64[np.ndarray, "n 3"], reference_xyz: Float64[np.ndarray, "n 3"], *, with_scale: bool = False
) -> Alignment:
    """The least-squares similarity (Umeyama) between corresponding positions; without `with_scale` a rigid one.

    Raises PoseError on fewer than three positions, NaN, and positions on one line: a turn about it is not known.
    """
    both = (estimate_xyz, reference_xyz)
    if not all(np.isfinite(xyz).all() for xyz in both):
        raise PoseError("positions must be finite; leave out those that are not known, in both paths")
    centres = [xyz.mean(axis=0) for xyz in both]
    estimate, reference = (xyz - centre for xyz, centre in zip(both, centres, strict=True))
    spreads = [np.linalg.svd(xyz, compute_uv=False) for xyz in (estimate, reference)]
    if len(estimate_xyz) < 3 or any(spread[1] <= 1e-9 * spread[0] for spread in spreads):
        raise PoseError("positions lie on one line or in one point: the rotation between the paths is not determined")
    rotation, _ = Rotation.align_vectors(reference, estimate)
    turned = rotation.apply(estimate)
    scale = float((turned * reference).sum() / (estimate**2).sum()) if with_scale else 1.0
    reference_from_estimate = np.eye(4)
    reference_from_estimate[:3, :3] = rotation.as_matrix()
    reference_from_estimate[:3, 3] = centres[1] - scale * rotation.apply(centres[0])
    return Alignment(scale=scale, reference_from_estimate=reference_from_estimate)


def ate(estimate_xyz: Float64[np.ndarray, "n 3"], reference_xyz: Float64[np.ndarray, "n 3"]) -> PathError:
    """Absolute trajectory error: distances of corresponding positions in one world, in their units."""
    return _path_error(np.linalg.norm(estimate_xyz - reference_xyz, axis=1))


def rpe(
    world_from_estimate: Float64[np.ndarray, "n 4 4"], world_from_reference: Float64[np.ndarray, "n 4 4"], step: int = 1
) -> tuple[PathError, PathError]:
    """Relative pose error over every pair of poses `step` apart: translation (path units) and rotation (rad)."""
    if not 1 <= step < len(world_from_estimate):
        raise PoseError(
            f"step must be at least 1 and below the number of poses, {len(world_from_estimate)}, not {step}"
        )
    checked_poses(world_from_estimate)
    checked_poses(world_from_reference)
    estimate, reference = (
        np.linalg.solve(poses[:-step], poses[step:]) for poses in (world_from_estimate, world_from_reference)
    )
    off = np.linalg.solve(reference, estimate)
    turn = Rotation.from_matrix(off[:, :3, :3], assume_valid=True).magnitude()
    return _path_error(np.linalg.norm(off[:, :3, 3], axis=1)), _path_error(turn)


def _path_error(errors: Float64[np.ndarray, "n"]) -> PathError:
    return PathError(
        rmse=math.sqrt(float((errors**2).mean())),
        mean=float(errors.mean()),
        median=float(np.median(errors)),
        maximum=float(errors.max()),
    )
