"""Pairs of frames for matching: which pairs to use, and the robust two-view geometry of their matches."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float64, Int64

REFERENCE_WIDTH_PX = 640.0
"""Pixel thresholds of matching refer to a picture of this width."""


def evenly_spaced(frames: Int64[np.ndarray, "n"], count: int) -> list[int]:
    """At most `count` of the frames, evenly spaced, both ends included."""
    at = np.linspace(0, max(len(frames) - 1, 0), min(count, len(frames)))
    return [int(frame) for frame in frames[np.unique(np.round(at).astype(int))]]


def choose_pairs(
    frames: Sequence[int], shift_of: Callable[[int, int], float | None], count: int, shifts: tuple[float, float]
) -> list[tuple[int, int]]:
    """At most `count` pairs of overlapping frames, evenly spaced from small to large displacements.

    Args:
        frames: candidate frames, ascending.
        shift_of: median displacement between two frames as a share of the width; None: they do not overlap.
        count: largest number of pairs.
        shifts: smallest and largest displacement of a pair.
    """
    found = {}
    for i, a in enumerate(frames):
        for b in frames[i + 1 :]:
            shift = shift_of(a, b)
            if shift is not None and shifts[0] <= shift <= shifts[1]:
                found[a, b] = shift
    ordered = sorted(found, key=lambda pair: (found[pair], pair))
    at = np.linspace(0, len(ordered) - 1, min(count, len(ordered)))
    return sorted(ordered[k] for k in np.unique(np.round(at).astype(int)))


def find_homography(
    xy_a: np.ndarray, xy_b: np.ndarray, within_px: float, *, confidence: float = 0.995, max_iterations: int = 2000
) -> tuple[Float64[np.ndarray, "3 3"], Bool[np.ndarray, "m"]] | None:
    """The homography that maps most of the (m, 2) pixels a to b within `within_px`, and its inliers.

    None if there is none. (OpenCV 5.0 raises an assertion where no sample gives a model.)
    """
    import cv2

    try:
        h, inlier = cv2.findHomography(
            xy_a, xy_b, cv2.USAC_ACCURATE, within_px, maxIters=max_iterations, confidence=confidence
        )
    except cv2.error:
        return None
    return None if h is None else (np.asarray(h, dtype=np.float64), inlier.ravel() > 0)


def epipolar_inliers(
    xy_a: np.ndarray, xy_b: np.ndarray, within_px: float, *, confidence: float = 0.99, max_iterations: int = 1000
) -> Bool[np.ndarray, "m"] | None:
    """The (m, 2) pixels a and b that satisfy one fundamental matrix within `within_px`. None if there is none."""
    import cv2

    try:
        _, inlier = cv2.findFundamentalMat(xy_a, xy_b, cv2.USAC_ACCURATE, within_px, confidence, max_iterations)
    except cv2.error:
        return None
    return None if inlier is None else inlier.ravel() > 0


def epipolar_residual_px(xy_a: np.ndarray, xy_b: np.ndarray) -> float:
    """Median Sampson distance of the (m, 2) pixels a and b to the fundamental matrix that makes it smallest; NaN if
    there is none."""
    import cv2

    try:
        f, _ = cv2.findFundamentalMat(xy_a, xy_b, cv2.FM_LMEDS)
    except cv2.error:
        return np.nan
    if f is None or f.shape != (3, 3):
        return np.nan
    line_b, line_a = cv2.convertPointsToHomogeneous(xy_a)[:, 0] @ f.T, cv2.convertPointsToHomogeneous(xy_b)[:, 0] @ f
    slope = np.hypot(np.linalg.norm(line_a[:, :2], axis=1), np.linalg.norm(line_b[:, :2], axis=1))
    off = np.abs(np.sum(xy_b * line_b[:, :2], axis=1) + line_b[:, 2])
    return float(np.median(off / np.maximum(slope, 1e-12)))
