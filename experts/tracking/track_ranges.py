"""Ranges from the image motion of static tracks, compared with ranges of another source."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, PointTracks
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.static_fit import REFERENCE_WIDTH_PX

_FRAMES = 24
"""Largest number of other frames used, evenly spaced."""
_ROWS = 2048
"""Tracks that are compared at once: more would not stay in the cache."""
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
    frames: Int64[np.ndarray, "k"],
    xy_px: Float64[np.ndarray, "k 2"],
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """ln of the range from each pixel's track over the input range, and its σ; σ is inf where the track determines no
    range.

    Least squares over the frames that see the track. σ is that of the single frame with most parallax, because pose
    errors are common to many frames. If no range explains a track, the input range is wrong: the first result is inf.
    """
    log_error, sigma = np.zeros(len(rows)), np.full(len(rows), np.inf)
    path = fitted.path
    _, columns, at = np.intersect1d(tracks.frames, path.frames, return_indices=True)
    placed = np.isfinite(path.world_from_cam[at]).all(axis=(1, 2))
    columns, at = columns[placed], at[placed]
    known = np.flatnonzero(np.isin(frames, path.frames[at]))
    if not len(known) or len(at) < 2:
        return log_error, sigma
    own = np.searchsorted(path.frames[at], frames[known])
    others = np.unique(np.linspace(0, len(at) - 2, _FRAMES).round().astype(int))
    others = others + (others >= own[:, None])  # all frames but the own one, in their order
    for part in np.array_split(np.arange(len(known)), -(-len(known) // _ROWS)):
        here = known[part]
        points = path.intrinsics.rays(xy_px[here]) * ranges[here, None]
        rays = _Rays.of(points, path.world_from_cam[at[own[part]]], path.world_from_cam[at[others[part]]], path)
        log_error[here], sigma[here] = _fitted_ranges(rays, tracks, rows[here], columns[others[part]], fitted)
    return log_error, sigma


def _fitted_ranges(
    rays: "_Rays",
    tracks: PointTracks,
    rows: Int64[np.ndarray, "k"],
    columns: Int64[np.ndarray, "k f"],
    fitted: FittedPath,
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """`range_log_errors` of tracks that are compared in the given columns."""
    pixel_scale = fitted.path.intrinsics.width_px / REFERENCE_WIDTH_PX
    where = rows[:, None], columns
    seen = np.where(tracks.visible[where][..., None], tracks.xy_px[where], np.nan)
    noise = np.hypot(fitted.residual_px * pixel_scale, _or_zero(tracks.sigma_px[where]).max(axis=1))
    log_error = np.zeros(len(rows))
    for _ in range(_STEPS):
        slope = (rays.projected(log_error + _STEP) - rays.projected(log_error - _STEP)) / (2 * _STEP)
        residual = _or_zero(seen - rays.projected(log_error)) * np.isfinite(slope)
        slope = _or_zero(slope) * np.isfinite(seen)
        steep = np.maximum(np.sum(slope**2, axis=(1, 2)), 1e-12)
        log_error = log_error + np.clip(np.sum(slope * residual, axis=(1, 2)) / steep, -_MAX_STEP, _MAX_STEP)
    remaining = np.linalg.norm(seen - rays.projected(log_error), axis=2)
    remaining = np.where(np.isfinite(seen[..., 0]), np.nan_to_num(remaining, nan=np.inf), 0.0)
    explained = np.sqrt(np.mean(remaining**2, axis=1)) <= _MAX_NOISE_RATIO * noise
    steepest = np.linalg.norm(slope, axis=2).max(axis=1)
    with np.errstate(divide="ignore"):
        sigma = np.where(steepest > 0, noise / steepest, np.inf)
    return np.where(explained, log_error, np.inf), sigma


@dataclass(frozen=True, kw_only=True)
class _Rays:
    """Viewing rays of points, as other cameras see them."""

    start: Float64[np.ndarray, "k f 3"]
    """The camera whose rays they are, in the axes of the others."""
    to_point: Float64[np.ndarray, "k f 3"]
    """From there to the point."""
    camera: Intrinsics

    @classmethod
    def of(
        cls,
        xyz_cam: Float64[np.ndarray, "k 3"],
        world_from_cam: Float64[np.ndarray, "k 4 4"],
        world_from_others: Float64[np.ndarray, "k f 4 4"],
        path: CameraPath,
    ) -> "_Rays":
        """Of points in the axes of a camera each."""
        others_from_world = world_from_others[..., :3, :3].swapaxes(-1, -2)
        between = world_from_cam[:, None, :3, 3] - world_from_others[..., :3, 3]
        to_point = world_from_cam[:, :3, :3] @ xyz_cam[..., None]
        return cls(
            start=(others_from_world @ between[..., None])[..., 0],
            to_point=(others_from_world @ to_point[:, None])[..., 0],
            camera=path.intrinsics,
        )

    def projected(self, log_factor: Float64[np.ndarray, "k"]) -> Float64[np.ndarray, "k f 2"]:
        """Pixels, in the other cameras, of the points whose ranges are multiplied by exp(log_factor)."""
        return self.camera.project(self.start + np.exp(log_factor)[:, None, None] * self.to_point)


def _or_zero(values: Float64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    return np.nan_to_num(values, nan=0.0)
