"""Objects on the floor plan around a photo: the middles of their boxes, seen from above."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from templates.columns import Columns
from templates.scene.elsewhere import elsewhere
from templates.scene.object_boxes import Number, Row, boxes_of, corners_cam
from templates.scene.scene import Scene


@dataclass(frozen=True, kw_only=True)
class OnFloor(Columns):
    """n objects, each on the floor plan of a photo; NaN where unknown, and where that photo is not upright."""

    xy: Float64[np.ndarray, "n 2"]
    """Of the middle: to the right and ahead of the camera, in path units."""
    sigma: Number
    """Per axis."""
    radius: Number
    """Largest horizontal distance of a corner from the middle."""
    distance: Number
    """From the camera that shows the object."""


def on_floor(scene: Scene, frame: Row, object: Row, around: Row) -> OnFloor:
    """Objects that the photos `frame` show, on the plans of the photos `around`."""
    corners, sigma = corners_cam(scene, frame, object)
    middle = corners.mean(axis=1)
    centre_sigma = np.where(np.isnan(sigma), np.nan, boxes_of(scene, frame, object)[3])
    seen = elsewhere(scene, frame, around, middle, centre_sigma, np.zeros(len(frame)), level=True)
    up, _ = scene.up_cam(frame)
    offset = corners - middle[:, None]
    flat = offset - np.einsum("nki,ni->nk", offset, up)[..., None] * up[:, None]
    xy = seen.ground[:, None] * np.column_stack([np.sin(seen.azimuth_rad), np.cos(seen.azimuth_rad)])
    known = np.isfinite(xy).all(axis=1) & np.isfinite(seen.place_sigma)
    return OnFloor(
        xy=np.where(known[:, None], xy, np.nan),
        sigma=np.where(known, seen.place_sigma, np.nan),
        radius=np.linalg.norm(flat, axis=2).max(axis=1),
        distance=np.linalg.norm(middle, axis=1),
    )
