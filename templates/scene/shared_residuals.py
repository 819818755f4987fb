"""Residuals that neighbouring sparse points share.

An object that moves evenly along with the camera, or against it, is triangulated at a wrong range. No single point
shows it: what is left of the motion, a pixel in some frames, is as small as errors of keypoints. But these are
independent, and its points err together.
"""

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.matching.frame_pairs import evenly_spaced
from experts.signals import SparsePoints

_FRAMES = 24
"""Number of frames, evenly spaced, in which residuals are compared."""
_FIELD_POINTS = 40
"""A frame with fewer points has the same error everywhere."""
_REWEIGHTINGS = 3
"""Of the least squares, towards least absolute values: the points of an object must not shape the field."""


def shared_residuals(
    points: SparsePoints,
    counted: Bool[np.ndarray, "o"],
    predicted_px: Float64[np.ndarray, "o 2"],
    ranges: Float64[np.ndarray, "o"],
    neighbours: int,
    reach_px: float,
    same_range: float,
) -> Float64[np.ndarray, "p"]:
    """Per point: the mean residual of it and its neighbours at its range, RMS over frames, as a multiple of the median
    over points (no unit). NaN where it has none.

    Only `counted` observations are used. Errors of a pose, of the camera and of a rolling shutter vary smoothly over a
    picture: a quadratic field per frame is subtracted first. Neighbours: at most so many other points within `reach_px`
    whose ranges differ by at most `same_range` (|ln| of their ratio).
    """
    rows = _in_some_frames(points.observation_frame, counted & np.isfinite(predicted_px).all(axis=1))
    if not len(rows):
        return np.full(len(points.xyz_world), np.nan)
    frames, xy_px, own = (
        column[rows] for column in (points.observation_frame, points.observation_xy_px, points.observation_point)
    )
    residual_px = xy_px - predicted_px[rows]
    for here in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(frames)) + 1):
        residual_px[here] -= _smooth_field_px(xy_px[here], residual_px[here])
    apart = 2 * (np.ptp(xy_px) + reach_px)  # no search crosses frames
    tree = cKDTree(np.column_stack([frames * apart, xy_px]))
    distance_px, found = tree.query(tree.data, k=neighbours + 1, distance_upper_bound=reach_px)
    at = np.minimum(found, tree.n - 1)
    similar = np.isfinite(distance_px) & (np.abs(np.log(ranges[rows][at] / ranges[rows][:, None])) < same_range)
    mean_px = np.einsum("kc,kcd->kd", similar, residual_px[at]) / similar.sum(axis=1)[:, None]
    count = np.bincount(own, minlength=len(points.xyz_world))
    with np.errstate(invalid="ignore"):
        rms_px = np.sqrt(np.bincount(own, np.sum(mean_px**2, axis=1), len(count)) / count)
    return np.asarray(rms_px / np.maximum(np.nanmedian(rms_px), 1e-9))


def _in_some_frames(frames: Int64[np.ndarray, "o"], which: Bool[np.ndarray, "o"]) -> Int64[np.ndarray, "k"]:
    """Rows of the observations in evenly spaced frames, by frame."""
    rows = np.flatnonzero(which & np.isin(frames, evenly_spaced(np.unique(frames[which]), _FRAMES)))
    return rows[np.argsort(frames[rows], kind="stable")]


def _smooth_field_px(
    xy_px: Float64[np.ndarray, "k 2"], residual_px: Float64[np.ndarray, "k 2"]
) -> Float64[np.ndarray, "k 2"]:
    """The quadratic function of the pixel that most residuals of a frame follow."""
    field_px = np.broadcast_to(np.median(residual_px, axis=0), residual_px.shape)
    if len(xy_px) < _FIELD_POINTS:
        return field_px
    x, y = ((xy_px - xy_px.mean(axis=0)) / xy_px.std(axis=0).max()).T
    terms = np.column_stack([np.ones(len(x)), x, y, x * x, x * y, y * y])
    for _ in range(_REWEIGHTINGS):
        left_px = np.linalg.norm(residual_px - field_px, axis=1)
        weighted = terms.T / np.maximum(left_px, np.median(left_px) / 2 + 1e-9)
        field_px = terms @ np.linalg.lstsq(weighted @ terms, weighted @ residual_px, rcond=None)[0]
    return field_px
