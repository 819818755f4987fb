"""How far directions lie from the border of what a camera shows, and where they go when it turns on the spot."""

import numpy as np
from jaxtyping import Float64

from experts.intrinsics import Intrinsics

_PER_EDGE = 32
"""Places of each edge of the picture to which angles are measured."""


def border_angle_rad(camera: Intrinsics, rays_cam: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n"]:
    """Angle between unit rays and the nearest ray of the picture's border: positive inside, negative outside; NaN for
    unknown rays."""
    edge = camera.rays(_border_px(camera))
    angle = np.arccos(np.clip((rays_cam @ edge.T).max(axis=-1), -1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        tangent2 = np.sum((rays_cam[..., :2] / rays_cam[..., 2:]) ** 2, axis=-1)
    folded = 1 + 3 * camera.k1 * tangent2 <= 0  # there the pixel does not determine the direction
    inside = camera.contains(camera.project(rays_cam), border_px=-0.5) & ~folded
    return np.asarray(np.where(inside, angle, -angle))


def after_turn(
    rays_cam: Float64[np.ndarray, "n 3"], up_cam: Float64[np.ndarray, "n 3"], right_rad: Float64[np.ndarray, "n k"]
) -> Float64[np.ndarray, "n k 3"]:
    """Rays in the axes of a camera that has turned to the right about the axis `up_cam` (Rodrigues' formula)."""
    rays, up, angle = rays_cam[:, None], up_cam[:, None], right_rad[..., None]
    along = (rays * up).sum(axis=-1, keepdims=True) * up
    return np.asarray(along + np.cos(angle) * (rays - along) + np.sin(angle) * np.cross(up, rays))


def _border_px(camera: Intrinsics) -> Float64[np.ndarray, "e 2"]:
    x, y = (np.linspace(-0.5, side - 0.5, _PER_EDGE) for side in (camera.width_px, camera.height_px))
    sides = [np.column_stack([x, np.full_like(x, end)]) for end in y[[0, -1]]]
    return np.concatenate([*sides, *(np.column_stack([np.full_like(y, end), y]) for end in x[[0, -1]])])
