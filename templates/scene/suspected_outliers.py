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

    An object that moves along the epipolar lines gives consistent points at a wrong range.
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
    """Whether pixels, each of its frame, lie near moving tracks."""
    radius_px = settings.moving_radius_px * nearby.pixel_scale
    return np.asarray(nearby.moving.nearest(frames, xy_px, 1, radius_px)[:, 0] >= 0)
