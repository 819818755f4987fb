"""Sparse points that are suspected outliers: on moving objects, found from tracks; contradicted by dense depth."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.depth.depth_on_points import log_ratio
from experts.signals import CameraPath, Depth, PointTracks, SparsePoints
from templates.scene.surface import SUSPECTED_PROBABILITY, OutlierSettings


def suspected_outliers(
    points: SparsePoints, tracks: PointTracks, pixel_scale: float, settings: OutlierSettings
) -> SparsePoints:
    """The points; those ever observed near a moving object have the outlier probability of suspected outliers.

    An object that moves along the epipolar lines gives consistent points at a wrong range. If it slides along with a
    steadily moving camera, only small residuals of its tracks reveal it.
    """
    suspected = [np.empty(0, dtype=np.int64)]
    for frame in tracks.frames:
        seen = np.flatnonzero(points.observation_frame == frame)
        moving = near_moving(int(frame), points.observation_xy_px[seen], tracks, pixel_scale, settings)
        suspected.append(points.observation_point[seen[moving]])
    return _suspected(points, np.concatenate(suspected))


def contradicted_points(
    points: SparsePoints, patches: Depth, path: CameraPath, settings: OutlierSettings
) -> SparsePoints:
    """The points; those that differ from patches of depth in any frame have the outlier probability of suspected
    outliers. In rendered rooms the patches are right and the points wrong."""
    with np.errstate(invalid="ignore"):
        differs = np.abs(log_ratio(patches, points, path)) > settings.same_range
    return _suspected(points, points.observation_point[differs])


def _suspected(points: SparsePoints, rows: Int64[np.ndarray, "k"]) -> SparsePoints:
    outlier_probability = points.outlier_probability.copy()
    outlier_probability[rows] = np.maximum(outlier_probability[rows], SUSPECTED_PROBABILITY)
    return replace(points, outlier_probability=outlier_probability)


def near_moving(
    frame: int, xy_px: Float64[np.ndarray, "k 2"], tracks: PointTracks, pixel_scale: float, settings: OutlierSettings
) -> Bool[np.ndarray, "k"]:
    """Whether pixels of a frame lie near moving tracks, or among tracks whose residuals are those of moving objects."""
    at = np.flatnonzero(tracks.frames == frame)
    if not len(at) or not len(xy_px):
        return np.zeros(len(xy_px), dtype=bool)
    radius_px, column = settings.moving_radius_px * pixel_scale, at[0]
    known, max_residual_px = np.isfinite(tracks.residual_px), settings.max_residual_px * pixel_scale
    if known.any():
        ratio = settings.max_residual_ratio
        max_residual_px = max(max_residual_px, ratio * float(np.median(tracks.residual_px[known])))
    followed, at_px = np.isfinite(tracks.xy_px[:, column]).all(axis=1), tracks.xy_px[:, column]
    moving, others = np.flatnonzero(followed & (tracks.motion == 1)), np.flatnonzero(followed & known)
    near = np.isfinite(_nearest(at_px[moving], xy_px, 1, radius_px)[0]).any(axis=1)
    residual_px = _median_residual_px(at_px[others], tracks.residual_px[others], xy_px, settings.near_tracks, radius_px)
    return np.asarray(near | (residual_px > max_residual_px))


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
