"""The facing direction of objects from the pose of their boxes, in the angles of Orient Anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64

from experts.objects.object_angles import angles_of, look_along
from experts.provenance import Provenance
from experts.signals import CameraPath, ObjectOrientation, Objects

Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]
"""An axis of an object's box."""


@dataclass(frozen=True, kw_only=True)
class BoxFront:
    """Which sides of a box are the object's front and top."""

    front: Axis | None
    """None: it has no front, or none is known."""
    up: Axis = "+z"
    fronts: int = 1
    """1; 2 or 4 if the object looks the same after a half or quarter turn; 0: none (a ball); -1: unknown."""

    def __post_init__(self) -> None:
        if self.front is not None and self.front[1] == self.up[1]:
            raise ValueError(f"the front {self.front} and the top {self.up} of a box are the same axis")
        if (self.fronts > 0) != (self.front is not None):
            raise ValueError(f"{self.fronts} fronts and the front {self.front}")

    @property
    def box_from_object(self) -> Float64[np.ndarray, "3 3"]:
        """Rotates object axes (x front, y left, z up) into the axes of the box; without a front, around the top."""
        z = _unit(self.up)
        x = np.roll(np.abs(z), 1) if self.front is None else _unit(self.front)
        return np.stack([x, np.cross(z, x), z], axis=1)


UNKNOWN_FRONT = BoxFront(front=None, fronts=-1)


def box_orientation(
    objects: Objects, path: CameraPath, fronts: Sequence[BoxFront], sigma_rad: float, provenance: Provenance
) -> ObjectOrientation:
    """The orientation of each object in each frame of `objects`; NaN behind the camera and where a pose is unknown.

    Args:
        objects: boxes in the world of `path`, in frames of it.
        path: the camera.
        fronts: one for each object.
        sigma_rad: σ per axis of the rotation of a box in the world.
        provenance: of the fronts.
    """
    n, k = objects.world_from_object.shape[:2]
    angles, cam_from_object = np.full((n, k, 3), np.nan), np.full((n, k, 3, 3), np.nan)
    sigma, counts = np.full((n, k, 3), np.inf), np.full((n, k), -1, dtype=np.int32)
    centre_sigma = np.zeros(k) if objects.centre_sigma is None else objects.centre_sigma
    for row, frame in enumerate(objects.frames):
        place = int(np.searchsorted(path.frames, frame))
        cam_from_box = np.linalg.inv(path.world_from_cam[place]) @ objects.world_from_object[row]
        known = np.isfinite(cam_from_box).all(axis=(1, 2)) & (cam_from_box[:, 2, 3] > 0)
        for item in np.flatnonzero(known).tolist():
            own, centre = fronts[item], cam_from_box[item, :3, 3]
            if own.fronts < 0:
                continue
            rotation = cam_from_box[item, :3, :3] @ own.box_from_object
            angles[row, item] = angles_of(look_along(centre).T @ rotation)
            ray_sigma = centre_sigma[item] / np.linalg.norm(centre)
            sigma[row, item] = np.linalg.norm([sigma_rad, path.rotation_sigma_rad[place], ray_sigma])
            sigma[row, item, ::2] /= max(np.cos(angles[row, item, 1]), 1e-9)  # from above, both turn about the ray
            counts[row, item] = own.fronts
            if own.fronts:
                cam_from_object[row, item] = rotation
            else:
                angles[row, item, 0], sigma[row, item, 0] = np.nan, np.inf
    return ObjectOrientation(
        frames=objects.frames,
        azimuth_rad=angles[..., 0],
        polar_rad=angles[..., 1],
        rotation_rad=angles[..., 2],
        sigma_rad=sigma,
        cam_from_object=cam_from_object,
        fronts=counts,
        provenance=provenance,
    )


def _unit(axis: Axis) -> Float64[np.ndarray, "3"]:
    return np.where(np.arange(3) == "xyz".index(axis[1]), 1.0 if axis[0] == "+" else -1.0, 0.0)
