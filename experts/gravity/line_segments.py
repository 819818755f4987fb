"""Straight line segments of frames: detected, and pooled over frames in one world.

A segment and the camera centre span a plane. The direction of the 3-D line lies in this plane.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath


@dataclass(frozen=True, kw_only=True)
class LineSegments:
    """Segments of several frames, in pixels."""

    ends_px: Float64[np.ndarray, "s 2 2"]
    """Both ends, full-size pixels."""
    length: Float64[np.ndarray, "s"]
    """Length as a share of the frame's diagonal."""
    frame: Int64[np.ndarray, "s"]
    """Frame index of each segment."""

    def of(self, chosen: Bool[np.ndarray, "s"]) -> "LineSegments":
        """The chosen segments."""
        return LineSegments(ends_px=self.ends_px[chosen], length=self.length[chosen], frame=self.frame[chosen])

    def longest(self, per_frame: int) -> "LineSegments":
        """At most `per_frame` segments of each frame, the longest."""
        chosen = np.zeros(len(self.length), dtype=bool)
        for frame in np.unique(self.frame):
            own = np.flatnonzero(self.frame == frame)
            chosen[own[np.argsort(-self.length[own], kind="stable")[:per_frame]]] = True
        return self.of(chosen)

    def planes(self, camera: Intrinsics) -> tuple[Float64[np.ndarray, "s 3"], Float64[np.ndarray, "s 3"]]:
        """(unit normal of the plane through the camera centre and each segment, unit ray to its midpoint), in camera
        axes."""
        ray = camera.rays(self.ends_px)
        return _unit(np.cross(ray[:, 0], ray[:, 1])), _unit(ray[:, 0] + ray[:, 1])


def _unit(v: Float64[np.ndarray, "s 3"]) -> Float64[np.ndarray, "s 3"]:
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def detect(clip: Clip, frames: Sequence[int], valid: Bool[np.ndarray, "h w"] | None, shortest: float) -> LineSegments:
    """LSD segments at working size that are at least `shortest` of the diagonal long, with their midpoint in the valid
    area."""
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


@dataclass(frozen=True, kw_only=True)
class PooledSegments:
    """Segments of all frames, rotated into one world."""

    normal: Float64[np.ndarray, "s 3"]
    middle: Float64[np.ndarray, "s 3"]
    """Ray to the midpoint."""
    weight: Float64[np.ndarray, "s"]
    """Length."""
    frame: Int64[np.ndarray, "s"]

    @classmethod
    def on_path(cls, segments: LineSegments, path: CameraPath, focal_factor: float) -> "PooledSegments":
        """Rotates segments of registered frames into the world of the path, with its focal length multiplied by
        `focal_factor`."""
        fx_px, fy_px = path.intrinsics.fx_px * focal_factor, path.intrinsics.fy_px * focal_factor
        normal, middle = segments.planes(replace(path.intrinsics, fx_px=fx_px, fy_px=fy_px))
        rotation = path.world_from_cam[np.searchsorted(path.frames, segments.frame)][:, :3, :3]
        return cls(
            normal=np.einsum("sij,sj->si", rotation, normal),
            middle=np.einsum("sij,sj->si", rotation, middle),
            weight=segments.length,
            frame=segments.frame,
        )

    def of(self, chosen: Bool[np.ndarray, "s"]) -> "PooledSegments":
        """The chosen segments."""
        return PooledSegments(
            normal=self.normal[chosen], middle=self.middle[chosen], weight=self.weight[chosen], frame=self.frame[chosen]
        )

    def error_rad(self, axes: Float64[np.ndarray, "*h 3 3"]) -> Float64[np.ndarray, "*h s 3"]:
        """Angle in the picture between each segment and the direction from its midpoint to the vanishing point of each
        axis (row)."""
        across = np.einsum("sk,...ak->...sa", self.normal, axes)
        along = np.einsum("sk,...ak->...sa", self.middle, axes)
        return np.arcsin(np.minimum(np.abs(across) / np.sqrt(np.maximum(1 - along**2, 1e-6)), 1.0))

    def refined(self, axes: Float64[np.ndarray, "3 3"], inlier_rad: float) -> Float64[np.ndarray, "3 3"]:
        """Rotates orthogonal axes to the robust least-squares optimum of their inliers."""
        for _ in range(2):
            error = self.error_rad(axes)
            near = error.min(axis=1) < 2 * inlier_rad
            inliers, owner = self.of(near), error.argmin(axis=1)[near]
            scale = inlier_rad * float(np.sqrt(np.median(inliers.weight)))
            found = least_squares(_residual, np.zeros(3), loss="soft_l1", f_scale=scale, args=(axes, inliers, owner))
            axes = _rotated(axes, found.x)
        return axes


def _rotated(axes: Float64[np.ndarray, "3 3"], by: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"]:
    return axes @ Rotation.from_rotvec(by).as_matrix().T


def _residual(
    by: Float64[np.ndarray, "3"], axes: Float64[np.ndarray, "3 3"], pool: PooledSegments, owner: Int64[np.ndarray, "s"]
) -> Float64[np.ndarray, "s"]:
    return np.sqrt(pool.weight) * pool.error_rad(_rotated(axes, by))[np.arange(len(owner)), owner]
