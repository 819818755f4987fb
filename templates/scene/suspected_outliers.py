"""Sparse points that come of something that moves: found by the tracks around them."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial import cKDTree

from experts.signals import PointTracks, SparsePoints
from templates.scene.surface import P_GROSS_DOUBTED, DoubtSettings


def suspected_outliers(
    points: SparsePoints, tracks: PointTracks, pixel_scale: float, doubts: DoubtSettings
) -> SparsePoints:
    """The points; those ever seen next to something that moves in the world are too doubtful to ask about.

    A thing that moves along the epipolar lines for a while makes points that fit, at a wrong range. While the camera
    travels steadily nothing but a small departure of its tracks betrays a thing that slides along with it.
    """
    radius_px = doubts.mover_radius_px * pixel_scale
    judged = np.isfinite(tracks.residual_px)
    restless_px = doubts.restless_px * pixel_scale
    if judged.any():
        restless_px = max(restless_px, doubts.restless_ratio * float(np.median(tracks.residual_px[judged])))
    doubtful = np.zeros(len(points.outlier_probability), dtype=bool)
    for column, frame in enumerate(tracks.frames):
        seen = np.flatnonzero(points.observation_frame == frame)
        followed = np.isfinite(tracks.xy_px[:, column]).all(axis=1)
        if len(seen):
            xy_px, at_px = points.observation_xy_px[seen], tracks.xy_px[:, column]
            moving, told = np.flatnonzero(followed & (tracks.motion == 1)), np.flatnonzero(followed & judged)
            near = np.isfinite(_nearest(at_px[moving], xy_px, 1, radius_px)[0]).any(axis=1)
            residual_px = _around(at_px[told], tracks.residual_px[told], xy_px, doubts.near_tracks, radius_px)
            doubtful[points.observation_point[seen[near | (residual_px > restless_px)]]] = True
    outlier_probability = np.where(
        doubtful, np.maximum(points.outlier_probability, P_GROSS_DOUBTED), points.outlier_probability
    )
    return replace(points, outlier_probability=outlier_probability)


def _around(
    at_px: Float64[np.ndarray, "t 2"],
    residual_px: Float64[np.ndarray, "t"],
    xy_px: Float64[np.ndarray, "k 2"],
    count: int,
    radius_px: float,
) -> Float64[np.ndarray, "k"]:
    """Median over the nearest tracks, of which at least half of `count` lie within the radius; 0 where fewer do."""
    apart, nearest = _nearest(at_px, xy_px, count, radius_px)
    near = np.isfinite(apart)
    residual = np.sort(np.where(near, np.append(residual_px, np.inf)[nearest], np.inf), axis=1)
    found = near.sum(axis=1)
    middle = residual[np.arange(len(residual)), np.maximum(found - 1, 0) // 2]
    return np.where(2 * found >= count, middle, 0.0)


def _nearest(
    at_px: Float64[np.ndarray, "t 2"], xy_px: Float64[np.ndarray, "k 2"], count: int, radius_px: float
) -> tuple[Float64[np.ndarray, "k c"], Int64[np.ndarray, "k c"]]:
    """Distance to the nearest tracks and which they are; inf, and one beyond the last, where there is none."""
    if not len(at_px):
        return np.full((len(xy_px), count), np.inf), np.zeros((len(xy_px), count), dtype=np.int64)
    apart, nearest = cKDTree(at_px).query(xy_px, k=range(1, count + 1), distance_upper_bound=radius_px)
    return np.asarray(apart), np.asarray(nearest, dtype=np.int64)
