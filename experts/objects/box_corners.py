"""The corners of oriented boxes."""

import numpy as np
from jaxtyping import Float64

_SIGNS = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, 8).T


def box_corners(
    frame_from_box: Float64[np.ndarray, "*n 4 4"], size: Float64[np.ndarray, "*n 3"]
) -> Float64[np.ndarray, "*n 8 3"]:
    """The eight corners of each box in the frame of its pose; NaN where a pose or a size is."""
    rotation, centre = frame_from_box[..., :3, :3], frame_from_box[..., None, :3, 3]
    return (_SIGNS * size[..., None, :]) @ np.swapaxes(rotation, -1, -2) + centre
