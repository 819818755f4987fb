"""Pixels of one point in two pictures, found without any ground truth: what truth is held against."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip

_RATIO = 0.75
_LEAST = 30
_FEATURES = 1200


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two frames and what is seen in both."""

    a: int
    b: int
    xy_a_px: Float64[np.ndarray, "m 2"]
    """Full-size pixels."""
    xy_b_px: Float64[np.ndarray, "m 2"]
    grain_px: float = 1.0
    """Full-size pixels to one of those that were looked at: the precision of a match."""


def pairs(clip: Clip, frames: Sequence[tuple[int, int]]) -> Iterator[Pair]:
    """SIFT matches that one fundamental matrix explains; frames with fewer than 30 of them are left out."""
    import cv2

    wanted = sorted({frame for pair in frames for frame in pair})
    sift = cv2.SIFT_create(nfeatures=_FEATURES)  # type: ignore[attr-defined]
    seen = {}
    for frame, grey in clip.read_grey(wanted):
        points, words = sift.detectAndCompute(grey, None)
        seen[frame] = np.array([point.pt for point in points], dtype=np.float64).reshape(-1, 2), words
    matcher = cv2.BFMatcher(cv2.NORM_L2)
    for a, b in frames:
        if any(seen[frame][1] is None or len(seen[frame][0]) < _LEAST for frame in (a, b)):
            continue
        nearest = [two for two in matcher.knnMatch(seen[a][1], seen[b][1], k=2) if len(two) == 2]
        kept = [first for first, second in nearest if first.distance < _RATIO * second.distance]
        if len(kept) < _LEAST:
            continue
        xy_a = seen[a][0][[match.queryIdx for match in kept]]
        xy_b = seen[b][0][[match.trainIdx for match in kept]]
        _, inlier = cv2.findFundamentalMat(xy_a, xy_b, cv2.USAC_MAGSAC, 1.5, 0.999, 5000)
        if inlier is None or inlier.sum() < _LEAST:
            continue
        keep = inlier.ravel().astype(bool)
        yield Pair(
            a=a,
            b=b,
            xy_a_px=clip.full_from_working(xy_a[keep]),
            xy_b_px=clip.full_from_working(xy_b[keep]),
            grain_px=clip.width_px / clip.working_size[0],
        )
