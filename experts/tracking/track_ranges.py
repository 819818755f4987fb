"""Ranges that tracks of still points tell by their motion in the picture, against ranges that something else says."""

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.signals import PointTracks
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.static_fit import REFERENCE_WIDTH_PX

_FRAMES = 24
"""Other frames that are asked, evenly spread."""
_STEP = 0.02
"""Change of ln range by which the way of a pixel is measured."""
_STEPS = 6
"""Least squares go so many steps ..."""
_LONGEST = 0.4
"""... of at most this change of ln range."""
_UNEXPLAINED = 4.0
"""A range explains a track if what is left is at most this many times the noise, root mean square."""


def passing(
    here: Float64[np.ndarray, "t 2"], usable: Bool[np.ndarray, "t"], xy_px: Float64[np.ndarray, "k 2"], radius: float
) -> Int64[np.ndarray, "k"]:
    """The usable track nearest to each pixel; -1 where none passes within the radius."""
    rows = np.flatnonzero(usable & np.isfinite(here).all(axis=1))
    if not len(rows):
        return np.full(len(xy_px), -1, dtype=np.int64)
    apart, nearest = cKDTree(here[rows]).query(xy_px)
    return np.where(apart <= radius, rows[nearest], -1).astype(np.int64)


def departures(
    ranges: Float64[np.ndarray, "k"],
    tracks: PointTracks,
    rows: Int64[np.ndarray, "k"],
    fitted: FittedPath,
    frame: int,
    xy_px: Float64[np.ndarray, "k 2"],
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """ln of the range that each pixel's track tells over the given one, and its σ; inf where it tells none.

    Least squares over the frames that see the track; σ as if the frame with most parallax were alone: what poses are
    off by is common to many. A track that no range explains says that the given one is wrong: the departure is inf.
    """
    path = fitted.path
    pixel_scale = path.intrinsics.width_px / REFERENCE_WIDTH_PX
    _, columns, at = np.intersect1d(tracks.frames, path.frames, return_indices=True)
    placed = np.isfinite(path.world_from_cam[at]).all(axis=(1, 2))
    own = at[placed & (path.frames[at] == frame)]
    usable = np.flatnonzero(placed & (path.frames[at] != frame))
    if not len(own) or not len(usable):
        return np.zeros(len(rows)), np.full(len(rows), np.inf)
    usable = usable[np.unique(np.linspace(0, len(usable) - 1, _FRAMES).round().astype(int))]
    columns, there, pose = columns[usable], path.world_from_cam[at[usable]], path.world_from_cam[own[0]]
    rays = path.intrinsics.rays(xy_px) * ranges[:, None]

    turned = there[:, :3, :3].transpose(1, 0, 2).reshape(3, -1)
    shifted = (there[:, None, :3, 3] @ there[:, :3, :3])[:, 0]

    def ends(log_factor: Float64[np.ndarray, "k"]) -> Float64[np.ndarray, "k f 2"]:
        world = (rays * np.exp(log_factor)[:, None]) @ pose[:3, :3].T + pose[:3, 3]
        cam = (world @ turned).reshape(len(world), len(there), 3) - shifted
        return path.intrinsics.project(cam)

    seen = np.where(tracks.visible[rows][:, columns, None], tracks.xy_px[rows][:, columns], np.nan)
    noise = np.hypot(fitted.residual_px * pixel_scale, _or_zero(tracks.sigma_px[rows][:, columns]).max(axis=1))
    departure = np.zeros(len(rows))
    for _ in range(_STEPS):
        slope = (ends(departure + _STEP) - ends(departure - _STEP)) / (2 * _STEP)
        off = _or_zero(seen - ends(departure)) * np.isfinite(slope)
        slope = _or_zero(slope) * np.isfinite(seen)
        steep = np.maximum(np.sum(slope**2, axis=(1, 2)), 1e-12)
        departure = departure + np.clip(np.sum(slope * off, axis=(1, 2)) / steep, -_LONGEST, _LONGEST)
    left = np.linalg.norm(seen - ends(departure), axis=2)
    left = np.where(np.isfinite(seen[..., 0]), np.nan_to_num(left, nan=np.inf), 0.0)
    explained = np.sqrt(np.mean(left**2, axis=1)) <= _UNEXPLAINED * noise
    steepest = np.linalg.norm(slope, axis=2).max(axis=1)
    with np.errstate(divide="ignore"):
        sigma = np.where(steepest > 0, noise / steepest, np.inf)
    return np.where(explained, departure, np.inf), sigma


def _or_zero(values: Float64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    return np.nan_to_num(values, nan=0.0)
