"""Where one photo was taken, as seen from another."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.scene import Scene

POSITION_UNKNOWN = "the camera position of a photo is not known"


@dataclass(frozen=True, kw_only=True)
class Offsets:
    """From the cameras of n photos to those of n others."""

    length: Float64[np.ndarray, "n"]
    """In path units; NaN where a position is not known."""
    direction: Float64[np.ndarray, "n 3"]
    """Unit vectors in the axes of the first camera; NaN where both photos were taken at one place."""
    pose_sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the direction: systematic ⊕ relative rotation."""
    position_sigma: Float64[np.ndarray, "n"]
    """σ per axis of the offset that is due to both positions and the camera, in path units."""
    shift_sigma: Float64[np.ndarray, "n"]
    """σ per axis of the offset where it is compared with distances to what is seen: systematic ⊕ positions, in path
    units."""

    @property
    def sigma_rad(self) -> Float64[np.ndarray, "n"]:
        """σ per axis of the direction, positions included."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.hypot(self.pose_sigma_rad, self.position_sigma / self.length)


def offsets(scene: Scene, frames: Int64[np.ndarray, "n 2"]) -> Offsets:
    """The offset of the second photo of each row from the first."""
    first, second = np.moveaxis(scene.world_from_cam(frames), 1, 0)
    xyz_cam = np.einsum("nji,nj->ni", first[:, :3, :3], second[:, :3, 3] - first[:, :3, 3])
    length = np.linalg.norm(xyz_cam, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        direction = xyz_cam / length[:, None]
    position_sigma = scene.offset_sigma(frames)
    systematic = np.hypot(scene.direction_sigma_rad, scene.travel_relative_sigma)
    return Offsets(
        length=length,
        direction=direction,
        pose_sigma_rad=np.hypot(scene.direction_sigma_rad, scene.relative_rotation_sigma_rad(frames)),
        position_sigma=position_sigma,
        shift_sigma=np.hypot(systematic * length, position_sigma),
    )
