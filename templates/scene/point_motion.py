"""Whether a marked point moves in the world."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from templates.measured import Measured, Undecided
from templates.scene.correspondence import object_at
from templates.scene.scene import Scene, find_rows

_NEAR_PX = 1.5
"""A track speaks for a pixel within this distance (at 640 px width)."""
_SIGMA_PX = 2.0
"""σ of a residual against the static world (at 640 px width): the 6 px that "moves" needs are 3 σ."""
INSIDE_PX = 6.0
"""A mark lies this far inside the outline of the moving tracks, or outside (at 640 px width)."""
_BORDER_PX = 3
"""Object masks count as the truth only where they are one over so many pixels around."""
_MOVED = 0.02
"""An object whose pose is known moves if it goes further than this share of its distance."""
_EXACT = 1e-3
"""... and rests if it goes less than this share."""


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
        return Undecided(reason="whether the point moves cannot be told")
    inside = _depth_in_movers_px(scene, frame, xy_px) / scene.pixel_scale
    if (inside if label == "yes" else -inside) < inside_px:
        return Undecided(reason="at the border of what moves")
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


def _depth_in_movers_px(scene: Scene, frame: int, xy_px: np.ndarray) -> float:
    """How far inside the outline of the moving tracks a pixel lies; at the outline a mark shows two things at once.

    Negative outside; -inf where too few move to have an outline.
    """
    assert scene.tracks is not None
    column = int(find_rows(scene.tracks.frames, [frame])[0])
    movers = scene.tracks.xy_px[scene.tracks.motion == 1, column]
    movers = movers[np.isfinite(movers).all(axis=1)]
    try:
        equations = ConvexHull(movers).equations
    except (QhullError, ValueError):  # fewer than three, or all on one line
        return -np.inf
    return float(-(equations[:, :2] @ xy_px + equations[:, 2]).max())


def track_at(scene: Scene, frame: int, xy_px: np.ndarray) -> int | None:
    """Row of the track that passes a pixel of a frame; None if none does."""
    tracks = scene.tracks
    if tracks is None or (column := int(find_rows(tracks.frames, [frame])[0])) < 0:
        return None
    apart = np.linalg.norm(tracks.xy_px[:, column] - xy_px, axis=1)
    if not len(apart) or not np.isfinite(apart).any():
        return None
    row = int(np.nanargmin(apart))
    return row if apart[row] <= _NEAR_PX * scene.pixel_scale else None


def _by_pose(scene: Scene, frame: int, xy_px: np.ndarray, frames: Sequence[int]) -> Measured | Undecided:
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
    reach = float(scene.surface(frame, xy_px[None]).range[0])
    share = moved / reach if np.isfinite(reach) else np.nan
    if not (share <= _EXACT or share >= _MOVED):
        return Undecided(reason="the object moves too little to tell")
    return Measured(
        value=np.array([share]),
        sigma=np.array([0.0]),
        label="yes" if share >= _MOVED else "no",
        margin=np.inf,
        evidence={"moved_share_of_range": round(share, 4)},
    )
