"""How far directions lie inside the view of a camera, or outside it, as angles."""

import numpy as np
from jaxtyping import Float64

from experts.intrinsics import Intrinsics

_SAMPLES = 9
"""Along each edge, which a lens may bend."""


def inside_view_rad(camera: Intrinsics, direction_cam: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n"]:
    """The least angle between directions and the planes through the camera and an edge of its picture; negative for
    directions outside, which are at least so far from every direction that the picture shows."""
    right, lower = camera.width_px - 1.0, camera.height_px - 1.0
    along = np.linspace(0, 1, _SAMPLES)
    inner, outer = [], []
    for axis, ends in ((0, (0.0, right)), (1, (0.0, lower))):
        for sign, end in zip((1, -1), ends, strict=True):
            pixels = np.full((_SAMPLES, 2), end)
            pixels[:, 1 - axis] = along * (lower if axis == 0 else right)
            rays = camera.rays(pixels)
            slope = np.arctan2(rays[:, axis], rays[:, 2])
            aside, ahead = direction_cam[..., axis, None], direction_cam[..., 2, None]
            length = np.linalg.norm(direction_cam, axis=-1)[..., None]
            with np.errstate(invalid="ignore", divide="ignore"):
                angle = np.arcsin(np.clip(sign * (aside * np.cos(slope) - ahead * np.sin(slope)) / length, -1, 1))
            inner.append(angle.min(axis=-1))
            outer.append(angle.max(axis=-1))
    least, most = np.min(inner, axis=0), np.min(outer, axis=0)
    return np.asarray(np.where(least > 0, least, np.minimum(most, 0.0)))
