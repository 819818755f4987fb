"""Ranges from the image motion of static tracks, compared with ranges of another source."""

from functools import partial

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.signals import CameraPath, PointTracks
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.static_fit import REFERENCE_WIDTH_PX

_FRAMES = 24
"""Largest number of other frames used, evenly spaced."""
_STEP = 0.02
"""Step of ln range for numerical derivatives."""
_STEPS = 6
"""Number of least-squares iterations ..."""
_MAX_STEP = 0.4
"""... with at most this change of ln range each."""
_MAX_NOISE_RATIO = 4.0
"""A range explains a track if the RMS residual is at most this many times the noise."""


def nearest_tracks(
    here: Float64[np.ndarray, "t 2"], usable: Bool[np.ndarray, "t"], xy_px: Float64[np.ndarray, "k 2"], radius: float
) -> Int64[np.ndarray, "k"]:
    """The nearest usable track within the radius of each pixel; -1 if there is none."""
    rows = np.flatnonzero(usable & np.isfinite(here).all(axis=1))
    if not len(rows):
        return np.full(len(xy_px), -1, dtype=np.int64)
    distance, nearest = cKDTree(here[rows]).query(xy_px)
    return np.where(distance <= radius, rows[nearest], -1).astype(np.int64)


def range_log_errors(
    ranges: Float64[np.ndarray, "k"],
    tracks: PointTracks,
    rows: Int64[np.ndarray, "k"],
    fitted: FittedPath,
    frame: int,
    xy_px: Float64[np.ndarray, "k 2"],
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """ln of the range from each pixel's track over the input range, and its σ; σ is inf where the track determines no
    range.

    Least squares over the frames that see the track. σ is that of the single frame with most parallax, because pose
    errors are common to many frames. If no range explains a track, the input range is wrong: the first result is inf.
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
    columns = columns[usable]
    points = path.intrinsics.rays(xy_px) * ranges[:, None]
    projected = partial(_projected, points, path, own[0], at[usable])
    seen = np.where(tracks.visible[rows][:, columns, None], tracks.xy_px[rows][:, columns], np.nan)
    noise = np.hypot(fitted.residual_px * pixel_scale, _or_zero(tracks.sigma_px[rows][:, columns]).max(axis=1))
    log_error = np.zeros(len(rows))
    for _ in range(_STEPS):
        slope = (projected(log_error + _STEP) - projected(log_error - _STEP)) / (2 * _STEP)
        residual = _or_zero(seen - projected(log_error)) * np.isfinite(slope)
        slope = _or_zero(slope) * np.isfinite(seen)
        steep = np.maximum(np.sum(slope**2, axis=(1, 2)), 1e-12)
        log_error = log_error + np.clip(np.sum(slope * residual, axis=(1, 2)) / steep, -_MAX_STEP, _MAX_STEP)
    remaining = np.linalg.norm(seen - projected(log_error), axis=2)
    remaining = np.where(np.isfinite(seen[..., 0]), np.nan_to_num(remaining, nan=np.inf), 0.0)
    explained = np.sqrt(np.mean(remaining**2, axis=1)) <= _MAX_NOISE_RATIO * noise
    steepest = np.linalg.norm(slope, axis=2).max(axis=1)
    with np.errstate(divide="ignore"):
        sigma = np.where(steepest > 0, noise / steepest, np.inf)
    return np.where(explained, log_error, np.inf), sigma


def _projected(
    xyz_cam: Float64[np.ndarray, "k 3"],
    path: CameraPath,
    row: np.int64,
    others: Int64[np.ndarray, "f"],
    log_factor: Float64[np.ndarray, "k"],
) -> Float64[np.ndarray, "k f 2"]:
    """Pixels, in the frames of rows `others`, of points in camera axes of a row whose ranges are multiplied by
    exp(log_factor)."""
    pose, there = path.world_from_cam[row], path.world_from_cam[others]
    world = (xyz_cam * np.exp(log_factor)[:, None]) @ pose[:3, :3].T + pose[:3, 3]
    rotations = there[:, :3, :3].transpose(1, 0, 2).reshape(3, -1)
    offsets = (there[:, None, :3, 3] @ there[:, :3, :3])[:, 0]
    return path.intrinsics.project((world @ rotations).reshape(len(world), len(there), 3) - offsets)


def _or_zero(values: Float64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    return np.nan_to_num(values, nan=0.0)
