"""The axes of objects that have a front, as directions in the camera axes of a photo."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from templates.columns import Columns
from templates.scene.object_boxes import Number, Row, fronts_of
from templates.scene.scene import Scene, find_rows

_LARGEST_ELEVATION = np.sin(np.radians(30))
"""Sine of the largest angle between a front and the horizontal for which the object faces a way along the ground."""


@dataclass(frozen=True, kw_only=True)
class Axes(Columns):
    """Directions of n objects, each in a photo; NaN and -1 where unknown."""

    front_cam: Float64[np.ndarray, "n 3"]
    top_cam: Float64[np.ndarray, "n 3"]
    sigma_rad: Float64[np.ndarray, "n 3"]
    """Of azimuth, polar angle and rotation."""
    fronts: Row
    outlier_probability: Number
    """That the front is really another side."""


def axes_of(scene: Scene, frame: Row, object: Row) -> Axes:
    """What the orientation of objects says of their axes."""
    front, orientation = fronts_of(scene, frame, object), scene.orientation
    axes, sigma = np.full((len(frame), 3, 3), np.nan), np.full((len(frame), 3), np.nan)
    if orientation is not None and len(orientation.frames):
        rows = find_rows(orientation.frames, frame)
        known = np.flatnonzero((rows >= 0) & (object >= 0))
        axes[known] = orientation.cam_from_object[rows[known], object[known]]
        sigma[known] = orientation.sigma_rad[rows[known], object[known]]
    return Axes(
        front_cam=axes[:, :, 0],
        top_cam=axes[:, :, 2],
        sigma_rad=sigma,
        fronts=front.fronts,
        outlier_probability=front.outlier_probability,
    )


def along_ground(
    direction_cam: Float64[np.ndarray, "n 3"], up_cam: Float64[np.ndarray, "n 3"]
) -> Float64[np.ndarray, "n 3"]:
    """The horizontal part of unit directions, of length 1; NaN for directions that rise or fall by more than 30°."""
    rise = np.einsum("ni,ni->n", direction_cam, up_cam)
    flat = direction_cam - rise[:, None] * up_cam
    with np.errstate(invalid="ignore", divide="ignore"):
        level = np.abs(rise) <= _LARGEST_ELEVATION
        return np.where(level[:, None], flat / np.linalg.norm(flat, axis=1, keepdims=True), np.nan)


def heading_sigma_rad(axes: Axes, ray_cam: Float64[np.ndarray, "n 3"], up_cam: Float64[np.ndarray, "n 3"]) -> Number:
    """σ of the way in which upright objects face along the ground.

    The azimuth turns about the object's own vertical. The rotation turns about the ray to the object (`ray_cam`, unit),
    and counts as far as that ray is vertical.
    """
    steep = np.einsum("ni,ni->n", ray_cam, up_cam)
    return np.asarray(np.hypot(axes.sigma_rad[:, 0], axes.sigma_rad[:, 2] * steep))
