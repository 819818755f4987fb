"""Tracks that confirm learned depth: parallax gives the range of a static point independently of the model."""

import numpy as np
from jaxtyping import Float64, Int64

from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.track_ranges import range_log_errors
from templates.scene.nearby_tracks import NearbyTracks
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
    nearby: NearbyTracks,
    fitted: FittedPath,
    frames: Int64[np.ndarray, "k"],
    xy_px: Float64[np.ndarray, "k 2"],
) -> Float64[np.ndarray, "k"]:
    """Outlier probabilities of surface points at pixels, each of its frame.

    Low where the range from a track agrees with the depth; high where it differs, or a moving track is near; unchanged
    where no track determines the range.
    """
    scale = nearby.pixel_scale
    nearest = nearby.visible.nearest(frames, xy_px, 1, MAX_DISTANCE_PX * scale)[:, 0]
    suspected = nearby.moving.nearest(frames, xy_px, 1, _MOVING_RADIUS_PX * scale)[:, 0] >= 0
    rows = np.flatnonzero((nearest >= 0) & np.isfinite(seen.xyz_cam).all(axis=1))
    difference, sigma = range_log_errors(
        seen.range[rows], nearby.tracks, nearest[rows], fitted, frames[rows], xy_px[rows]
    )
    decided = sigma <= _MAX_TRACK_SIGMA
    limit = np.minimum(_MAX_DIFFERENCE, _MAX_SIGMAS * np.hypot(sigma, seen.range_relative_sigma[rows]))
    agrees = decided & (np.abs(difference) <= limit)
    outlier_probability = seen.outlier_probability.copy()
    outlier_probability[rows[agrees]] = np.minimum(outlier_probability[rows[agrees]], _CONFIRMED_PROBABILITY)
    suspected[rows[decided & ~agrees]] = True
    return np.where(suspected, np.maximum(outlier_probability, SUSPECTED_PROBABILITY), outlier_probability)
