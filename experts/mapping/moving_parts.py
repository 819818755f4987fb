"""Parts of the pictures that move by themselves, from tracks, before there is a camera path.

The tracks that two frames share give an essential matrix. A point that overtakes the camera may well stay on its
epipolar lines; but it lies beyond infinity, where no static point does. (One that goes along with the camera looks like
a static point far away, one that comes towards it like one nearby: they are not found.)
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.intrinsics import Intrinsics
from experts.matching.frame_pairs import REFERENCE_WIDTH_PX


@dataclass(frozen=True, kw_only=True)
class MovingPartsSettings:
    """Thresholds, chosen on six rendered rooms and one video; "px" refer to a picture whose longer side is 640 px."""

    focal_share: float = 0.85
    """Focal length as a share of the longer side: a typical one."""
    starts: int = 24
    """Number of frames, evenly spaced, with which pairs begin."""
    shift_shares: tuple[float, float] = (0.05, 0.10)
    """Median displacements between the frames of the pairs that begin with one frame, as shares of the diagonal."""
    min_tracks: int = 40
    """Smallest number of tracks that the frames of a pair share."""
    grid: tuple[int, int] = (10, 8)
    """Cells across and down, ..."""
    per_cell: int = 6
    """... each with at most this many tracks for the essential matrix: else what has most texture decides."""
    inlier_px: float = 2.0
    """RANSAC threshold of the essential matrix."""
    beyond_px: float = 3.0
    """A point is beyond infinity if it stays behind it by more than this ..."""
    beyond_share: float = 0.5
    """... in at least this share of its pairs, ..."""
    min_pairs: int = 2
    """... of which there must be this many."""
    radius_share: float = 0.04
    """A disc of this radius around each such point moves, as a share of the diagonal, ..."""
    neighbours: int = 3
    """... if this many others, and no fewer than points that stay in front of infinity, lie within twice the radius."""
    min_share: float = 0.05
    """In at least half of the frames, at least this share of the picture moves: less does no harm (no static clip of
    ten real sets reaches it), ..."""
    max_share: float = 1 / 3
    """... and in no frame more than this: it may be the background."""


def moving_parts(
    xy_px: Float64[np.ndarray, "t n 2"], columns: Int64[np.ndarray, "k"], size: tuple[int, int], s: MovingPartsSettings
) -> Bool[np.ndarray, "k h w"] | None:
    """The pixels that move in the frames `columns`; None if too few or too many do. Tracks at working size `size`
    (width, height)."""
    votes, pairs = _beyond_infinity(xy_px, size, s)
    judged = pairs >= s.min_pairs
    beyond = judged & (votes >= s.beyond_share * pairs)
    parts = np.stack([_discs(xy_px[beyond, n], xy_px[judged & ~beyond, n], size, s) for n in columns])
    shares = parts.mean(axis=(1, 2))
    return parts if np.median(shares) >= s.min_share and shares.max() <= s.max_share else None


def _beyond_infinity(
    xy_px: Float64[np.ndarray, "t n 2"], size: tuple[int, int], s: MovingPartsSettings
) -> tuple[Int64[np.ndarray, "t"], Int64[np.ndarray, "t"]]:
    """Per track: number of pairs of frames in which it is beyond infinity, and of those that have it."""
    votes, pairs = np.zeros((2, len(xy_px)), dtype=np.int64)
    for a, b in _pairs(xy_px, float(np.hypot(*size)), s):
        rows = np.flatnonzero(np.isfinite(xy_px[:, [a, b], 0]).all(axis=1))
        shift = _shift_from_infinity_px(xy_px[rows, a], xy_px[rows, b], size, s)
        if shift is not None:
            pairs[rows] += 1
            votes[rows] += shift < -s.beyond_px * max(size) / REFERENCE_WIDTH_PX
    return votes, pairs


def _pairs(xy_px: Float64[np.ndarray, "t n 2"], diagonal_px: float, s: MovingPartsSettings) -> list[tuple[int, int]]:
    """From each start, the first frame that has moved by each of the displacements."""
    count = xy_px.shape[1]
    found = set()
    for a in np.unique(np.linspace(0, count - 1, s.starts).astype(int)).tolist():
        wanted = list(s.shift_shares)
        for b in range(a + 1, count):
            step = np.linalg.norm(xy_px[:, b] - xy_px[:, a], axis=1)
            step = step[np.isfinite(step)]
            if len(step) < s.min_tracks or not wanted:
                break
            if np.median(step) >= wanted[0] * diagonal_px:
                found.add((a, b))
                wanted.pop(0)
    return sorted(found)


def _shift_from_infinity_px(
    xy_a: Float64[np.ndarray, "m 2"], xy_b: Float64[np.ndarray, "m 2"], size: tuple[int, int], s: MovingPartsSettings
) -> Float64[np.ndarray, "m"] | None:
    """How far each point of the second frame is from where it would be at infinity, towards where nearer points are.
    None if no essential matrix is found."""
    import cv2

    camera, within_px = (
        Intrinsics.centred(*size, s.focal_share * max(size)),
        s.inlier_px * max(size) / REFERENCE_WIDTH_PX,
    )
    even = _evenly_spread(xy_a, size, s)
    try:
        essential, inlier = cv2.findEssentialMat(
            xy_a[even], xy_b[even], camera.matrix, method=cv2.USAC_ACCURATE, prob=0.999, threshold=within_px
        )
    except cv2.error:
        return None
    if essential is None or essential.shape != (3, 3) or inlier.sum() < s.min_tracks / 2:
        return None
    fitting = even[inlier.ravel() > 0]
    _, rotation, translation, _ = cv2.recoverPose(essential, xy_a[fitting], xy_b[fitting], camera.matrix)
    rays = camera.rays(xy_a) @ rotation.T
    at_infinity = camera.project(rays)
    nearer = camera.project(rays + 1e-3 * translation.ravel()) - at_infinity
    length = np.maximum(np.linalg.norm(nearer, axis=1), 1e-12)
    shift = np.einsum("mi,mi->m", xy_b - at_infinity, nearer) / length
    return np.nan_to_num(shift)


def _evenly_spread(
    xy: Float64[np.ndarray, "m 2"], size: tuple[int, int], s: MovingPartsSettings
) -> Int64[np.ndarray, "e"]:
    """Rows of which each cell of the picture has at most `per_cell`."""
    cell = np.floor(xy / size * s.grid).astype(int) @ [1, s.grid[0]]
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    rank = np.arange(len(cell)) - np.searchsorted(ordered, ordered)
    return np.sort(order[rank < s.per_cell])


def _discs(
    moving: Float64[np.ndarray, "m 2"], still: Float64[np.ndarray, "q 2"], size: tuple[int, int], s: MovingPartsSettings
) -> Bool[np.ndarray, "h w"]:
    """Discs around moving points among others of their kind; NaN are points that this frame does not have."""
    import cv2

    picture = np.zeros(size[::-1], np.uint8)
    moving, still = (xy[np.isfinite(xy[:, 0])] for xy in (moving, still))
    radius = s.radius_share * float(np.hypot(*size))
    if len(moving):
        alike, unlike = (_count_within(moving, of, 2 * radius) for of in (moving, still))
        alike -= 1  # the point itself
        for x, y in np.rint(moving[(alike >= s.neighbours) & (alike >= unlike)]).astype(int).tolist():
            cv2.circle(picture, (x, y), int(radius), 1, -1)
    return picture > 0


def _count_within(
    xy: Float64[np.ndarray, "m 2"], of: Float64[np.ndarray, "q 2"], radius_px: float
) -> Int64[np.ndarray, "m"]:
    if not len(of):
        return np.zeros(len(xy), dtype=np.int64)
    return np.asarray(cKDTree(of).query_ball_point(xy, radius_px, return_length=True), dtype=np.int64)
