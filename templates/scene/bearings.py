"""Where objects are for someone who stands at another object and faces as it does."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from templates.columns import Columns, Texts
from templates.measured import first_reason
from templates.scene.headings import along_ground, axes_of, heading_sigma_rad
from templates.scene.object_boxes import Number, Row, corners_cam, outliers
from templates.scene.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Bearings(Columns):
    """Horizontal bearings of n objects from n others: 0 straight ahead of the other one, clockwise from above, in rad,
    -π to π; NaN where unknown."""

    why: Texts
    """Why the bearing is not known; "" where it is."""
    middle: Number
    """Of the middle of the object's box."""
    corners: Float64[np.ndarray, "n 8"]
    """Of the corners of its box."""
    sigma: Number
    """Of all of these: the front ⊕ both places ⊕ gravity."""
    from_camera: Number
    """Of the middle for someone at the camera, to whom "in front" is nearer and "left" is farther left."""
    outlier_probability: Number
    """That an object is another one, or the front another side."""


def bearings(scene: Scene, frame: Row, a: Row, b: Row) -> Bearings:
    """Where the objects b are for someone at the objects a who faces as these do, each in a photo; -1: not found."""
    axes, (up, up_sigma) = axes_of(scene, frame, a), scene.up_cam(frame)
    (a_corners, a_sigma), (b_corners, b_sigma) = (corners_cam(scene, frame, object) for object in (a, b))
    a_middle, b_middle = a_corners.mean(axis=1), b_corners.mean(axis=1)
    ahead = along_ground(axes.front_cam, up)
    middle, distance = _seen_along(ahead, up, (b_middle - a_middle)[:, None])
    corners, _ = _seen_along(ahead, up, b_corners - a_middle[:, None])
    to_camera, _ = _seen_along(-_flat(a_middle, up), up, (b_middle - a_middle)[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        higher = np.einsum("ni,ni->n", b_middle - a_middle, up) / distance[:, 0]
        sigma = np.sqrt(
            heading_sigma_rad(axes, _unit(a_middle), up) ** 2
            + (np.hypot(a_sigma, b_sigma) / distance[:, 0]) ** 2
            + (up_sigma * higher) ** 2
        )
        cases = {
            "an object is not found again": (a < 0) | (b < 0),
            "gravity is not known in this frame": ~np.isfinite(up).all(axis=1),
            "which way the object faces is not known": ~np.isfinite(axes.front_cam).all(axis=1),
            "the object has no single front": axes.fronts != 1,
            "the object faces up or down": ~np.isfinite(ahead).all(axis=1),
            "the place of an object is not known": ~np.isfinite(middle[:, 0] + sigma),
            "one object is over the other": distance[:, 0] <= _radius(a_corners, up),
        }
    return Bearings(
        why=first_reason(len(frame), cases),
        middle=middle[:, 0],
        corners=corners,
        sigma=sigma,
        from_camera=-to_camera[:, 0],
        outlier_probability=1 - (1 - outliers(scene, a, b)) * (1 - axes.outlier_probability),
    )


def from_side(bearing: Float64[np.ndarray, "n *k"], quarter: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n *k"]:
    """Bearings from the middle of a side, -π to π. The sides are quarters: ahead, right, behind, left."""
    middle = (quarter * np.pi / 2).reshape(-1, *[1] * (bearing.ndim - 1))
    return np.asarray((bearing - middle + np.pi) % (2 * np.pi) - np.pi)


def _seen_along(
    heading: Float64[np.ndarray, "n 3"], up: Float64[np.ndarray, "n 3"], offset: Float64[np.ndarray, "n k 3"]
) -> tuple[Float64[np.ndarray, "n k"], Float64[np.ndarray, "n k"]]:
    """Bearing from a horizontal heading, clockwise from above, and horizontal length of offsets in the same axes."""
    ahead, right = (np.einsum("nki,ni->nk", offset, each) for each in (heading, np.cross(heading, up)))
    return np.arctan2(right, ahead), np.hypot(ahead, right)


def _radius(corners: Float64[np.ndarray, "n 8 3"], up: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n"]:
    """Horizontal distance of the farthest corner from the middle."""
    offset = corners - corners.mean(axis=1, keepdims=True)
    flat = offset - np.einsum("nki,ni->nk", offset, up)[..., None] * up[:, None]
    return np.asarray(np.linalg.norm(flat, axis=2).max(axis=1))


def _flat(vectors: Float64[np.ndarray, "n 3"], up: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 3"]:
    """The horizontal part, of length 1."""
    return _unit(vectors - np.einsum("ni,ni->n", vectors, up)[:, None] * up)


def _unit(vectors: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 3"]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
