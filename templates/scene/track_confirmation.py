"""Tracks that confirm learned depth: parallax gives the range of a static point independently of the model."""

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import PointTracks
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.track_ranges import nearest_tracks, range_log_errors
from templates.scene.surface import MAX_DISTANCE_PX, SUSPECTED_PROBABILITY, Surface

_CONFIRMED_PROBABILITY = 0.003
"""Outlier probability of learned depth that a track confirms: two independent estimates agree."""
_MOVING_RADIUS_PX = 48.0
"""Points this near to a moving track may move with it (at 640 px width)."""
_MAX_TRACK_SIGMA = 0.10
"""Largest relative σ of a range from tracks that can confirm or contradict depth."""
_MAX_SIGMAS = 3.0
"""Ranges agree within this many combined σ."""
_MAX_DIFFERENCE = 0.20
"""Ranges also agree only within this relative difference: a larger one is an outlier, whatever σ is."""


def confirmed_by_tracks(
    seen: Surface,
    tracks: PointTracks,
    fitted: FittedPath,
    frames: Int64[np.ndarray, "k"],
    xy_px: Float64[np.ndarray, "k 2"],
    pixel_scale: float,
) -> Float64[np.ndarray, "k"]:
    """Outlier probabilities of surface points at pixels, each of its frame.

    Low where the range from a track agrees with the depth; high where it differs, or a moving track is near; unchanged
    where no track determines the range.
    """
    nearest, near_moving = _tracks_at(tracks, frames, xy_px, pixel_scale)
    rows = np.flatnonzero((nearest >= 0) & np.isfinite(seen.xyz_cam).all(axis=1))
    difference, sigma = range_log_errors(seen.range[rows], tracks, nearest[rows], fitted, frames[rows], xy_px[rows])
    decided = sigma <= _MAX_TRACK_SIGMA
    limit = np.minimum(_MAX_DIFFERENCE, _MAX_SIGMAS * np.hypot(sigma, seen.range_relative_sigma[rows]))
    agrees = decided & (np.abs(difference) <= limit)
    outlier_probability = seen.outlier_probability.copy()
    outlier_probability[rows[agrees]] = np.minimum(outlier_probability[rows[agrees]], _CONFIRMED_PROBABILITY)
    suspected = near_moving
    suspected[rows[decided & ~agrees]] = True
    return np.where(suspected, np.maximum(outlier_probability, SUSPECTED_PROBABILITY), outlier_probability)


def _tracks_at(
    tracks: PointTracks, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"], pixel_scale: float
) -> tuple[Int64[np.ndarray, "k"], Bool[np.ndarray, "k"]]:
    """The static track at each pixel, -1 where there is none; and whether a moving one is near."""
    nearest, near_moving = np.full(len(frames), -1), np.zeros(len(frames), dtype=bool)
    static = tracks.motion != 1
    for column in np.flatnonzero(np.isin(tracks.frames, frames)):
        rows = np.flatnonzero(frames == tracks.frames[column])
        here, visible = tracks.xy_px[:, column], tracks.visible[:, column]
        nearest[rows] = nearest_tracks(here, visible & static, xy_px[rows], MAX_DISTANCE_PX * pixel_scale)
        near_moving[rows] = nearest_tracks(here, ~static, xy_px[rows], _MOVING_RADIUS_PX * pixel_scale) >= 0
    return nearest, near_moving
