"""What image motion says of a learned depth: a track that follows a still point tells its range by itself."""

import numpy as np
from jaxtyping import Float64

from experts.signals import PointTracks
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.track_ranges import departures, passing
from templates.scene.surface import P_GROSS_DOUBTED, Surface

P_GROSS_CONFIRMED = 0.003
"""Of learned depth where a track says the same (DESIGN §6: two independent ways agree)."""
_NEAR_PX = 1.5
"""A track speaks for a pixel within this distance (at 640 px width)."""
_MOVER_PX = 48.0
"""Points this near to a moving track may move with it (at 640 px width)."""
_TOLD = 0.10
"""A track tells a range if its σ, relative, is at most this."""
_SIGMAS = 3.0
"""Ranges agree within this many joint σ ..."""
_AGREE = 0.20
"""... and this share: what is off by more is plainly wrong, whatever σ says."""


def confirmed_by_tracks(
    seen: Surface,
    tracks: PointTracks,
    fitted: FittedPath,
    frame: int,
    xy_px: Float64[np.ndarray, "k 2"],
    pixel_scale: float,
) -> Float64[np.ndarray, "k"]:
    """Outlier probability of surface points of a frame: low where a track through the pixel has the range of the depth,
    high where it has another or something moves near; unchanged where no track tells."""
    column = np.flatnonzero(tracks.frames == frame)
    if not len(column) or not len(xy_px):
        return seen.outlier_probability
    here, rests = tracks.xy_px[:, column[0]], tracks.motion != 1
    nearest = passing(here, tracks.visible[:, column[0]] & rests, xy_px, _NEAR_PX * pixel_scale)
    asked = np.flatnonzero((nearest >= 0) & np.isfinite(seen.xyz_cam).all(axis=1))
    departure, sigma = departures(seen.range[asked], tracks, nearest[asked], fitted, frame, xy_px[asked])
    told = sigma <= _TOLD
    limit = np.minimum(_AGREE, _SIGMAS * np.hypot(sigma, seen.range_relative_sigma[asked]))
    agrees = told & (np.abs(departure) <= limit)
    outlier_probability = seen.outlier_probability.copy()
    outlier_probability[asked[agrees]] = np.minimum(outlier_probability[asked[agrees]], P_GROSS_CONFIRMED)
    doubted = np.zeros(len(outlier_probability), dtype=bool)
    doubted[asked[told & ~agrees]] = True
    doubted |= passing(here, ~rests, xy_px, _MOVER_PX * pixel_scale) >= 0
    return np.where(doubted, np.maximum(outlier_probability, P_GROSS_DOUBTED), outlier_probability)
