"""How much of a photo another photo does not show, by measured depth: it lies outside, or behind something."""

import numpy as np
from jaxtyping import Float64

from templates.scene.marks import grid_px
from templates.scene.scene import Scene, find_rows

_GRID = 24
_SAME, _HIDDEN = 0.02, 0.06
"""Relative difference in depth up to which two photos show the same surface, and from which the farther one is hidden:
in between it may be either."""


def new_share(scene: Scene, frame: int, known: int) -> tuple[float, float]:
    """Share of photo `frame` that photo `known` does not show, at least and at most; NaN without measured depth of
    both. Computed once for each pair."""
    return scene.once(("new share", frame, known), lambda: _share(scene, frame, known))


def _share(scene: Scene, frame: int, known: int) -> tuple[float, float]:
    depth, path = scene.measured_depth, scene.path
    if depth is None or path is None:
        return np.nan, np.nan
    row, (here, there) = int(find_rows(depth.frames, [known])[0]), scene.world_from_cam([frame, known])
    if row < 0 or not scene.has_depth(frame) or not np.isfinite([here, there]).all():
        return np.nan, np.nan
    xyz_cam = scene.surface(frame, grid_px(scene.clip, _GRID)).xyz_cam
    cam = (xyz_cam @ here[:3, :3].T + here[:3, 3] - there[:3, 3]) @ there[:3, :3]
    xy = path.intrinsics.project(cam)
    inside = path.intrinsics.contains(xy)
    nearer = _nearer(depth.z[row], xy, cam[:, 2], np.array([scene.clip.width_px, scene.clip.height_px]))
    with np.errstate(invalid="ignore"):
        new = np.isfinite(cam[:, 2]) & (~inside | (nearer > _HIDDEN))
        old = inside & (np.abs(nearer) <= _SAME)
    return float(new.mean()), float(1 - old.mean())


def _nearer(
    z: np.ndarray, xy_px: Float64[np.ndarray, "k 2"], depth: Float64[np.ndarray, "k"], size: np.ndarray
) -> Float64[np.ndarray, "k"]:
    """By what share of their depth the surface at pixels is nearer than given depths."""
    scale = np.array(z.shape[::-1]) / size
    column, line = np.rint((np.nan_to_num(xy_px, nan=-1e6) + 0.5) * scale - 0.5).clip(-1e6, 1e6).astype(np.int64).T
    shown = z[line.clip(0, z.shape[0] - 1), column.clip(0, z.shape[1] - 1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - shown / depth, dtype=np.float64)
