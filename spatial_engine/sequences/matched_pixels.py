"""Pixels of one point in two frames, found without ground truth, and how far camera poses and depth miss them.

Matches are held against the epipolar lines of the poses, and, with depth, against the place where the poses bring the
unprojected pixel in the other frame.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.signals import CameraPath
from spatial_engine.sequences.depth_images import DepthSource

_RATIO = 0.75
_LEAST = 30
_FEATURES = 1200
_STAYS_PX, _MOVES_PX = 1.0, 10.0
"""A match stays if it moves by less than the first, in working pixels; the rest of a picture moves if its median is
more than the second. Then what stays is carried along with the camera, ..."""
_NEAR_CARRIED_PX = 8.0
"""... and so are matches this near to it that stay in other pictures."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two frames and the pixels that match between them."""

    a: int
    b: int
    xy_a_px: Float64[np.ndarray, "m 2"]
    """Full-size pixels."""
    xy_b_px: Float64[np.ndarray, "m 2"]
    grain_px: float = 1.0
    """Full-size pixels per pixel of the working size: the precision of a match."""


def pairs(clip: Clip, frames: Sequence[tuple[int, int]]) -> Iterator[Pair]:
    """SIFT matches that are inliers of one fundamental matrix, without those of what is carried along with the camera;
    pairs with fewer than 30 are skipped."""
    import cv2

    matched = _matched(clip, frames)
    carried = _carried([xy for _, xy in matched])
    for (a, b), xy in matched:
        if carried is not None:
            xy = xy[~_stays(xy) | (carried.query(xy[:, 0])[0] > _NEAR_CARRIED_PX)]
        if len(xy) < _LEAST:
            continue
        try:
            _, inlier = cv2.findFundamentalMat(xy[:, 0], xy[:, 1], cv2.USAC_MAGSAC, 1.5, 0.999, 5000)
        except cv2.error:  # OpenCV 5.0 raises an assertion where no sample gives a model
            continue
        if inlier is None or inlier.sum() < _LEAST:
            continue
        xy_a, xy_b = np.moveaxis(xy[inlier.ravel().astype(bool)], 1, 0)
        yield Pair(
            a=a,
            b=b,
            xy_a_px=clip.full_from_working(xy_a),
            xy_b_px=clip.full_from_working(xy_b),
            grain_px=clip.width_px / clip.working_size[0],
        )


def _matched(
    clip: Clip, frames: Sequence[tuple[int, int]]
) -> list[tuple[tuple[int, int], Float64[np.ndarray, "m 2 2"]]]:
    """Pairs of frames with 30 matches or more, and the working pixels of each match in both."""
    import cv2

    wanted = sorted({frame for pair in frames for frame in pair})
    sift = cv2.SIFT_create(nfeatures=_FEATURES)  # type: ignore[attr-defined]
    seen = {}
    for frame, grey in clip.read_grey(wanted):
        points, words = sift.detectAndCompute(grey, None)
        seen[frame] = np.array([point.pt for point in points], dtype=np.float64).reshape(-1, 2), words
    matcher, found = cv2.BFMatcher(cv2.NORM_L2), []
    for a, b in frames:
        if any(seen[frame][1] is None or len(seen[frame][0]) < _LEAST for frame in (a, b)):
            continue
        nearest = [two for two in matcher.knnMatch(seen[a][1], seen[b][1], k=2) if len(two) == 2]
        kept = [first for first, second in nearest if first.distance < _RATIO * second.distance]
        if len(kept) >= _LEAST:
            at_a, at_b = ([getattr(match, index) for match in kept] for index in ("queryIdx", "trainIdx"))
            found.append(((a, b), np.stack([seen[a][0][at_a], seen[b][0][at_b]], axis=1)))
    return found


def _carried(matched: Sequence[Float64[np.ndarray, "m 2 2"]]) -> cKDTree | None:
    """Where matches stay while the rest of their picture moves: on a gripper, a dashboard, or a mark in the pictures.
    They say nothing about poses. None where no picture has many."""
    found = []
    for xy in matched:
        stays, moved_px = _stays(xy), np.linalg.norm(xy[:, 1] - xy[:, 0], axis=1)
        rest = moved_px[~stays]
        if stays.sum() >= _LEAST and len(rest) >= _LEAST and np.median(rest) >= _MOVES_PX:
            found.append(xy[stays, 0])
    return cKDTree(np.concatenate(found)) if found else None


def _stays(xy: Float64[np.ndarray, "m 2 2"]) -> Bool[np.ndarray, "m"]:
    return np.asarray(np.linalg.norm(xy[:, 1] - xy[:, 0], axis=1) < _STAYS_PX)


NEAR_PX = 2.0


def pose(path: CameraPath, frame: int) -> Float64[np.ndarray, "4 4"]:
    """World from camera of a frame of the path."""
    return path.world_from_cam[int(np.searchsorted(path.frames, frame))]


def epipolar_errors_px(path: CameraPath, pair: Pair) -> Float64[np.ndarray, "m"]:
    """Distance of matched pixels to their epipolar lines, full-size pixels; the larger of both directions."""
    b_from_a = np.linalg.inv(pose(path, pair.b)) @ pose(path, pair.a)
    x, y, z = b_from_a[:3, 3]
    essential = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ b_from_a[:3, :3]
    a, b = (_flat(path, xy) for xy in (pair.xy_a_px, pair.xy_b_px))
    return np.asarray(np.maximum(_off_line(essential, a, b), _off_line(essential.T, b, a)) * path.intrinsics.fx_px)


def parallax_px(path: CameraPath, pair: Pair) -> float:
    """Median displacement of matched pixels after the rotation is compensated, full-size pixels."""
    rotated = _flat(path, pair.xy_a_px) @ (pose(path, pair.b)[:3, :3].T @ pose(path, pair.a)[:3, :3]).T
    off = np.linalg.norm(path.intrinsics.project(rotated) - pair.xy_b_px, axis=1)
    return float(np.median(off[np.isfinite(off)])) if np.isfinite(off).any() else np.inf


def _flat(path: CameraPath, xy_px: Float64[np.ndarray, "m 2"]) -> Float64[np.ndarray, "m 3"]:
    """Undistorted rays with z = 1."""
    rays = path.intrinsics.rays(xy_px)
    return np.asarray(rays / rays[:, 2:])


def _off_line(
    essential: Float64[np.ndarray, "3 3"], a: Float64[np.ndarray, "m 3"], b: Float64[np.ndarray, "m 3"]
) -> Float64[np.ndarray, "m"]:
    lines = a @ essential.T
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.sum(lines * b, axis=1)) / np.linalg.norm(lines[:, :2], axis=1)
    return np.where(np.isfinite(off), off, np.inf)


@dataclass(frozen=True)
class Unprojected:
    """Matched pixels of a pair with a depth in the first frame."""

    pair: Pair
    points_cam: Float64[np.ndarray, "m 3"]
    """In camera a."""
    xy_b_px: Float64[np.ndarray, "m 2"]

    def with_other_length(self, is_range: bool) -> "Unprojected":
        """The points if the depth values were range instead of z, or z instead of range."""
        range_over_z = np.linalg.norm(self.points_cam / self.points_cam[:, 2:], axis=1, keepdims=True)
        return replace(self, points_cam=self.points_cam * (range_over_z if is_range else 1 / range_over_z))


def unprojected(path: CameraPath, depth: DepthSource, pair: Pair) -> Unprojected | None:
    """Matched pixels of the first frame as points; None if none of them has depth."""
    if not depth.has(pair.a):
        return None
    z, camera = depth.read(pair.a), path.intrinsics
    scale = np.array([z.shape[1] / camera.width_px, z.shape[0] / camera.height_px])
    xy = np.rint((pair.xy_a_px + 0.5) * scale - 0.5).astype(int)
    inside = np.all((xy >= 0) & (xy < [z.shape[1], z.shape[0]]), axis=1)
    at = np.full(len(xy), np.nan)
    at[inside] = z[xy[inside, 1], xy[inside, 0]]
    known = np.isfinite(at)
    if not known.any():
        return None
    rays = camera.rays(pair.xy_a_px[known])
    return Unprojected(pair, np.asarray(rays / rays[:, 2:] * at[known, None]), pair.xy_b_px[known])


def reprojection_errors_px(path: CameraPath, points: Unprojected, scale: float = 1.0) -> Float64[np.ndarray, "m"]:
    """Reprojection errors of the points in frame b, full-size pixels; inf behind the camera."""
    b_from_a = np.linalg.inv(pose(path, points.pair.b)) @ pose(path, points.pair.a)
    xyz = scale * points.points_cam @ b_from_a[:3, :3].T + b_from_a[:3, 3]
    off = np.linalg.norm(path.intrinsics.project(xyz) - points.xy_b_px, axis=1)
    return np.asarray(np.where(np.isfinite(off), off, np.inf))
