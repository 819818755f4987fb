"""Robust models between two pictures. OpenCV 5.0 asserts where no sample gives a model; here that is None."""

import numpy as np
from jaxtyping import Bool, Float64


def find_homography(
    xy_a: np.ndarray, xy_b: np.ndarray, within_px: float, *, confidence: float = 0.995, max_iterations: int = 2000
) -> tuple[Float64[np.ndarray, "3 3"], Bool[np.ndarray, "m"]] | None:
    """The homography that takes most of (m, 2) pixels a to b within `within_px`, and which; None if there is none."""
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
    """Which of (m, 2) pixels a and b one fundamental matrix joins within `within_px`; None if there is none."""
    import cv2

    try:
        _, inlier = cv2.findFundamentalMat(xy_a, xy_b, cv2.USAC_ACCURATE, within_px, confidence, max_iterations)
    except cv2.error:
        return None
    return None if inlier is None else inlier.ravel() > 0
