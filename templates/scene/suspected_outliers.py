"""Sparse points on moving objects, found from the tracks around them."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial import cKDTree

from experts.signals import PointTracks, SparsePoints
from templates.scene.surface import SUSPECTED_PROBABILITY, OutlierSettings


def suspected_outliers(
    points: SparsePoints, tracks: PointTracks, pixel_scale: float, settings: OutlierSettings
) -> SparsePoints:
    """The points; those ever observed near a moving object have the outlier probability of suspected outliers.

    An object that moves along the epipolar lines gives consistent points at a wrong range. If it slides along with a
    steadily moving camera, only small residuals of its tracks reveal it.
    """
    radius_px = settings.moving_radius_px * pixel_scale
    known = np.isfinite(tracks.residual_px)
    max_residual_px = settings.max_residual_px * pixel_scale
    if known.any():
        max_residual_px = max(
            max_residual_px, settings.max_residual_ratio * float(np.median(tracks.residual_px[known]))
        )
    suspected = np.zeros(len(points.outlier_probability), dtype=bool)
    for column, frame in enumerate(tracks.frames):
        seen = np.flatnonzero(points.observation_frame == frame)
        followed = np.isfinite(tracks.xy_px[:, column]).all(axis=1)
        if len(seen):
            xy_px, at_px = points.observation_xy_px[seen], tracks.xy_px[:, column]
            moving, others = np.flatnonzero(followed & (tracks.motion == 1)), np.flatnonzero(followed & known)
            near = np.isfinite(_nearest(at_px[moving], xy_px, 1, radius_px)[0]).any(axis=1)
            residual_px = _median_residual_px(
                at_px[others], tracks.residual_px[others], xy_px, settings.near_tracks, radius_px
            )
            suspected[points.observation_point[seen[near | (residual_px > max_residual_px)]]] = True
    outlier_probability = np.where(
        suspected, np.maximum(points.outlier_probability, SUSPECTED_PROBABILITY), points.outlier_probability
    )
    return replace(points, outlier_probability=outlier_probability)


def _median_residual_px(
    at_px: Float64[np.ndarray, "t 2"],
    residual_px: Float64[np.ndarray, "t"],
    xy_px: Float64[np.ndarray, "k 2"],
    count: int,
    radius_px: float,
) -> Float64[np.ndarray, "k"]:
    """Median residual of the `count` nearest tracks within the radius; 0 where fewer than half as many are there."""
    distance_px, nearest = _nearest(at_px, xy_px, count, radius_px)
    near = np.isfinite(distance_px)
    residual = np.sort(np.where(near, np.append(residual_px, np.inf)[nearest], np.inf), axis=1)
    found = near.sum(axis=1)
    middle = residual[np.arange(len(residual)), np.maximum(found - 1, 0) // 2]
    return np.where(2 * found >= count, middle, 0.0)


def _nearest(
    at_px: Float64[np.ndarray, "t 2"], xy_px: Float64[np.ndarray, "k 2"], count: int, radius_px: float
) -> tuple[Float64[np.ndarray, "k c"], Int64[np.ndarray, "k c"]]:
    """Distances to the nearest tracks and their rows; inf and one row beyond the last where there is none."""
    if not len(at_px):
        return np.full((len(xy_px), count), np.inf), np.zeros((len(xy_px), count), dtype=np.int64)
    distance_px, nearest = cKDTree(at_px).query(xy_px, k=range(1, count + 1), distance_upper_bound=radius_px)
    return np.asarray(distance_px), np.asarray(nearest, dtype=np.int64)
