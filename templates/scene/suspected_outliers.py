"""Sparse points that are suspected outliers: on moving objects, found from tracks; contradicted by dense depth."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.depth.depth_on_points import log_ratio
from experts.signals import CameraPath, Depth, SparsePoints
from templates.scene.nearby_tracks import NearbyTracks
from templates.scene.surface import SUSPECTED_PROBABILITY, OutlierSettings


def suspected_outliers(points: SparsePoints, nearby: NearbyTracks, settings: OutlierSettings) -> SparsePoints:
    """The points; those ever observed near a moving object have the outlier probability of suspected outliers.

    An object that moves along the epipolar lines gives consistent points at a wrong range. If it slides along with a
    steadily moving camera, only small residuals of its tracks reveal it.
    """
    near = near_moving(points.observation_frame, points.observation_xy_px, nearby, settings)
    return _suspected(points, points.observation_point[near])


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
    frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"], nearby: NearbyTracks, settings: OutlierSettings
) -> Bool[np.ndarray, "k"]:
    """Whether pixels, each of its frame, lie near moving tracks, or among tracks whose residuals are those of moving
    objects."""
    residual_px, radius_px = nearby.tracks.residual_px, settings.moving_radius_px * nearby.pixel_scale
    known, max_residual_px = np.isfinite(residual_px), settings.max_residual_px * nearby.pixel_scale
    if known.any():
        max_residual_px = max(max_residual_px, settings.max_residual_ratio * float(np.median(residual_px[known])))
    near = nearby.moving.nearest(frames, xy_px, 1, radius_px)[:, 0] >= 0
    around = nearby.measured.nearest(frames, xy_px, settings.near_tracks, radius_px)
    return near | (_median_residual_px(around, residual_px) > max_residual_px)


def _median_residual_px(
    around: Int64[np.ndarray, "k c"], residual_px: Float64[np.ndarray, "t"]
) -> Float64[np.ndarray, "k"]:
    """Median residual of the tracks around each pixel; 0 where fewer than half of `c` are there."""
    residual = np.sort(np.append(residual_px, np.inf)[around], axis=1)
    found = (around >= 0).sum(axis=1)
    middle = residual[np.arange(len(residual)), np.maximum(found - 1, 0) // 2]
    return np.where(2 * found >= around.shape[1], middle, 0.0)
