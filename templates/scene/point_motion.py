"""Decides whether a marked point moves in the world."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from templates.measured import Measured, Undecided
from templates.scene.correspondence import object_at
from templates.scene.scene import Scene, find_rows
from templates.scene.surface import MAX_DISTANCE_PX

_SIGMA_PX = 2.0
"""σ of a residual against the static world (at 640 px width): a moving track has 6 px, which is 3 σ."""
INSIDE_PX = 6.0
"""Least distance of a mark from the outline of the moving tracks, inside or outside (at 640 px width)."""
_BORDER_PX = 3
"""An object mask counts where all pixels within this distance belong to the same object."""
_MIN_MOVED_SHARE = 0.02
"""An object of known pose moves if it travels at least this share of its distance from the camera."""
_MAX_STATIC_SHARE = 1e-3
"""It is static if it travels at most this share."""


def point_motion(
    scene: Scene, frame: int, xy_px: np.ndarray, frames: Sequence[int], inside_px: float = INSIDE_PX
) -> Measured | Undecided:
    """Label "yes" or "no" for a pixel of `frame` over `frames`. Measures the residual in px at 640 px width."""
    if scene.objects is not None:
        return _by_pose(scene, frame, xy_px, frames)
    row = track_at(scene, frame, xy_px)
    if scene.tracks is None or row is None:
        return Undecided(reason="point is not tracked")
    tracks = scene.tracks
    shown = find_rows(tracks.frames, frames)
    if (shown < 0).any() or not tracks.visible[row, shown].all():
        return Undecided(reason="point is not seen in all photos")
    label = {1: "yes", 0: "no"}.get(int(tracks.motion[row]))
    if label is None:
        return Undecided(reason="the tracks do not decide whether the point moves")
    inside = _distance_inside_moving_px(scene, frame, xy_px) / scene.pixel_scale
    if (inside if label == "yes" else -inside) < inside_px:
        return Undecided(reason="at the outline of a moving object")
    residual = float(tracks.residual_px[row]) / scene.pixel_scale
    parallax = float(tracks.parallax_px[row]) / scene.pixel_scale
    margin = residual / _SIGMA_PX if label == "yes" else (parallax - residual) / _SIGMA_PX
    return Measured(
        value=np.array([residual]),
        sigma=np.array([_SIGMA_PX]),
        label=label,
        margin=margin,
        outlier_probability=float(tracks.outlier_probability[row]),
        evidence={
            "residual_px_640": round(residual, 2),
            "parallax_px_640": round(parallax, 2) if np.isfinite(parallax) else None,
            "moving_pairs": int(tracks.moving_pairs[row]),
        },
    )


def _distance_inside_moving_px(scene: Scene, frame: int, xy_px: np.ndarray) -> float:
    """Distance of a pixel inside the outline (convex hull) of the moving tracks; negative outside.

    A mark on the outline covers two objects. -inf where fewer than three tracks move.
    """
    assert scene.tracks is not None
    column = int(find_rows(scene.tracks.frames, [frame])[0])
    moving = scene.tracks.xy_px[scene.tracks.motion == 1, column]
    moving = moving[np.isfinite(moving).all(axis=1)]
    try:
        equations = ConvexHull(moving).equations
    except (QhullError, ValueError):  # fewer than three, or all on one line
        return -np.inf
    return float(-(equations[:, :2] @ xy_px + equations[:, 2]).max())


def track_at(scene: Scene, frame: int, xy_px: np.ndarray) -> int | None:
    """Row of the track nearest to a pixel of a frame; None if none is within `MAX_DISTANCE_PX`."""
    tracks = scene.tracks
    if tracks is None or (column := int(find_rows(tracks.frames, [frame])[0])) < 0:
        return None
    distance_px = np.linalg.norm(tracks.xy_px[:, column] - xy_px, axis=1)
    if not np.isfinite(distance_px).any():
        return None
    row = int(np.nanargmin(distance_px))
    return row if distance_px[row] <= MAX_DISTANCE_PX * scene.pixel_scale else None


def _by_pose(scene: Scene, frame: int, xy_px: np.ndarray, frames: Sequence[int]) -> Measured | Undecided:
    """By the poses of objects, which only a data set with ground truth has."""
    objects = scene.objects
    assert objects is not None
    rows = find_rows(objects.frames, [frame, *frames])
    if (rows < 0).any():
        return Undecided(reason="objects are not known in all photos")
    offsets = np.array([[dx, dy] for dx in (-_BORDER_PX, 0, _BORDER_PX) for dy in (-_BORDER_PX, 0, _BORDER_PX)])
    around = {object_at(scene, frame, xy_px + offset) for offset in offsets}
    if len(around) > 1:
        return Undecided(reason="at the border of an object")
    (k,) = around
    moved = 0.0
    if k >= 0:
        poses = objects.world_from_object[rows, k]
        moved = float(np.linalg.norm(poses[:, :3, 3] - poses[0, :3, 3], axis=1).max())
        moved = max(moved, float(np.abs(poses[:, :3, :3] - poses[0, :3, :3]).max()))
    distance = float(scene.surface(frame, xy_px[None]).range[0])
    share = moved / distance if np.isfinite(distance) else np.nan
    if not (share <= _MAX_STATIC_SHARE or share >= _MIN_MOVED_SHARE):
        return Undecided(reason="the object moves too little to decide")
    return Measured(
        value=np.array([share]),
        sigma=np.array([0.0]),
        label="yes" if share >= _MIN_MOVED_SHARE else "no",
        margin=np.inf,
        evidence={"moved_share_of_range": round(share, 4)},
    )
