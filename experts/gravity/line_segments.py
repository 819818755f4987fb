"""Straight line segments of frames, as the planes in which their 3-D lines lie."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.clip import Clip
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class LineSegments:
    """Segments of several frames, in camera axes."""

    ends_px: Float64[np.ndarray, "s 2 2"]
    """Both ends, full-size pixels."""
    length: Float64[np.ndarray, "s"]
    """Length as a share of the frame's diagonal."""
    frame: Int64[np.ndarray, "s"]
    """Frame index of each segment."""

    def of(self, chosen: Bool[np.ndarray, "s"]) -> "LineSegments":
        """Some of the segments."""
        return LineSegments(ends_px=self.ends_px[chosen], length=self.length[chosen], frame=self.frame[chosen])

    def planes(self, camera: Intrinsics) -> tuple[Float64[np.ndarray, "s 3"], Float64[np.ndarray, "s 3"]]:
        """(unit normals of the planes through the camera and each segment, unit rays to the middles)."""
        ray = camera.rays(self.ends_px)
        normal = np.cross(ray[:, 0], ray[:, 1])
        middle = ray[:, 0] + ray[:, 1]
        return _unit(normal), _unit(middle)


def _unit(v: Float64[np.ndarray, "s 3"]) -> Float64[np.ndarray, "s 3"]:
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def detect(clip: Clip, frames: Sequence[int], valid: Bool[np.ndarray, "h w"] | None, shortest: float) -> LineSegments:
    """LSD segments at working size, at least `shortest` of the diagonal long, with their middle in the valid area."""
    import cv2

    cv2.setNumThreads(1)
    ends, lengths, owners = [np.zeros((0, 2, 2))], [np.zeros(0)], [np.zeros(0, np.int64)]
    for frame, grey in clip.read_grey(frames):
        found = cv2.createLineSegmentDetector().detect(grey)[0]
        if found is None:
            continue
        xy = np.asarray(found, dtype=np.float64).reshape(-1, 2, 2)
        length = np.linalg.norm(xy[:, 1] - xy[:, 0], axis=1) / np.hypot(*grey.shape)
        kept = length >= shortest
        if valid is not None:
            column, row = np.clip(np.rint(xy.mean(axis=1)).astype(int), 0, np.array(grey.shape[::-1]) - 1).T
            kept &= valid[row, column]
        ends.append(clip.full_from_working(xy[kept]))
        lengths.append(length[kept])
        owners.append(np.full(int(kept.sum()), frame, dtype=np.int64))
    return LineSegments(ends_px=np.concatenate(ends), length=np.concatenate(lengths), frame=np.concatenate(owners))
