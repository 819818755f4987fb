"""RootSIFT keypoints of a frame, and the unambiguous matches between two frames.

Repeated texture (tiles, windows) causes wrong matches. A match is unambiguous only if no other keypoint of either
frame, including those next to it in the same picture, has a similar descriptor.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.spatial import cKDTree

from experts.clip import Clip, GreyPicture

_PATCH_SHARE = 10 / 640
"""Size of a keypoint at a given place, as a share of the width: its descriptor covers about six times as much."""


@dataclass(frozen=True)
class Features:
    """Keypoints of one frame."""

    xy_px: Float64[np.ndarray, "k 2"]
    """Full-size pixels."""
    descriptor: Float32[np.ndarray, "k 128"]
    nearest_other: Float64[np.ndarray, "k"]
    """Distance to the most similar descriptor elsewhere in the same frame."""


@dataclass(frozen=True)
class Candidates:
    """Tentative matches of two frames: row of `a`, row of `b`, and how unambiguous they are."""

    i: Int64[np.ndarray, "m"]
    j: Int64[np.ndarray, "m"]
    ratio: Float64[np.ndarray, "m"]
    """Best descriptor distance over that of the most similar other keypoint in either frame."""


def features_of(clip: Clip, grey: GreyPicture, mask: np.ndarray | None, count: int, same_px: float) -> Features:
    """At most `count` keypoints of a working-size picture. Keypoints within `same_px` are the same point.

    RootSIFT (Arandjelović & Zisserman 2012): the Euclidean distance equals Hellinger's.
    """
    import cv2

    keypoints, raw = cv2.SIFT.create(nfeatures=count).detectAndCompute(grey, mask)
    if raw is None or not len(keypoints):
        return Features(np.zeros((0, 2)), np.zeros((0, 128), np.float32), np.zeros(0))
    descriptor = np.sqrt(raw / np.maximum(raw.sum(axis=1, keepdims=True), 1e-9)).astype(np.float32)
    xy = clip.full_from_working(np.array([k.pt for k in keypoints], dtype=np.float64))
    distance = _distances(descriptor, descriptor)
    distance[_same_point(xy, same_px)] = np.inf
    return Features(xy, descriptor, distance.min(axis=1).astype(np.float64))


def descriptors_at(clip: Clip, grey: GreyPicture, xy_px: Float64[np.ndarray, "k 2"]) -> Float32[np.ndarray, "k 128"]:
    """Upright RootSIFT descriptors of given places."""
    import cv2

    working = clip.working_size[0] / clip.width_px
    size = _PATCH_SHARE * clip.working_size[0]
    points = [cv2.KeyPoint(float(x), float(y), size, 0.0) for x, y in xy_px * working]
    if not points:
        return np.zeros((0, 128), np.float32)
    raw = cv2.SIFT.create().compute(grey, points)[1]
    return np.sqrt(raw / np.maximum(raw.sum(axis=1, keepdims=True), 1e-9)).astype(np.float32)


def relative_distance(
    a: Float32[np.ndarray, "k d"],
    b: Float32[np.ndarray, "k d"],
    others: Float32[np.ndarray, "m d"],
    far: Bool[np.ndarray, "k m"],
) -> Float64[np.ndarray, "k"]:
    """Distance of each descriptor of `a` to that of `b` in its row, over the smallest to the `far` ones of `others`."""
    own = np.sqrt(np.maximum(2 - 2 * np.sum(a * b, axis=1), 0))
    nearest = np.where(far, _distances(a, others), np.inf).min(axis=1, initial=np.inf)
    return (own / np.maximum(nearest, 1e-9)).astype(np.float64)


def candidates(a: Features, b: Features, max_ratio: float, same_px: float) -> Candidates:
    """Mutual nearest neighbours that pass the ratio test in both directions (Lowe 2004)."""
    distance = _distances(a.descriptor, b.descriptor)
    forward, backward = distance.argmin(axis=1), distance.argmin(axis=0)
    i = np.flatnonzero(backward[forward] == np.arange(len(forward)))
    j = forward[i]
    best = distance[i, j]
    second = np.minimum(_next_best(distance[i], b.xy_px, j, same_px), _next_best(distance[:, j].T, a.xy_px, i, same_px))
    kept = best <= max_ratio * second
    i, j, best, second = i[kept], j[kept], best[kept], second[kept]
    ratio = best / np.maximum(np.minimum.reduce([second, a.nearest_other[i], b.nearest_other[j]]), 1e-9)
    return Candidates(i, j, ratio)


def without_duplicates(
    xy_a: Float64[np.ndarray, "m 2"],
    xy_b: Float64[np.ndarray, "m 2"],
    ratio: Float64[np.ndarray, "m"],
    good: Bool[np.ndarray, "m"],
) -> Int64[np.ndarray, "g"]:
    """Good matches, each position once (SIFT describes a point at several orientations): the least ambiguous one."""
    chosen: dict[tuple[int, ...], int] = {}
    for k in sorted(np.flatnonzero(good), key=lambda k: (ratio[k], k)):
        chosen.setdefault(tuple(int(v) for v in np.rint(np.concatenate([xy_a[k], xy_b[k]]) / 2)), int(k))
    return np.array(sorted(chosen.values()), dtype=np.int64)


def _same_point(xy: Float64[np.ndarray, "k 2"], same_px: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of all pairs of keypoints at the same point, each keypoint with itself included."""
    near = cKDTree(xy).query_pairs(same_px, output_type="ndarray")
    own = np.arange(len(xy))
    return np.concatenate([own, near[:, 0], near[:, 1]]), np.concatenate([own, near[:, 1], near[:, 0]])


def _distances(a: Float32[np.ndarray, "k d"], b: Float32[np.ndarray, "l d"]) -> Float32[np.ndarray, "k l"]:
    return np.sqrt(np.maximum(2 - 2 * (a @ b.T), 0))


def _next_best(
    distance: Float32[np.ndarray, "m k"], xy: Float64[np.ndarray, "k 2"], best: Int64[np.ndarray, "m"], same_px: float
) -> Float64[np.ndarray, "m"]:
    """Smallest distance to a keypoint at another point than the best one."""
    order = np.argpartition(distance, min(8, distance.shape[1] - 1), axis=1)[:, :9]
    near = np.linalg.norm(xy[order] - xy[best][:, None], axis=-1) <= same_px
    among = np.where(near, np.inf, np.take_along_axis(distance, order, axis=1)).min(axis=1)
    farthest = np.take_along_axis(distance, order, axis=1).max(axis=1)
    return np.where(np.isfinite(among), among, farthest).astype(np.float64)
