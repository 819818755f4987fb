"""Matched pixels unprojected to points by the depth of one frame, and where the poses bring them in the other."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from experts.signals import CameraPath
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.epipolar import pose
from spatial_engine.sequences.seen_twice import Pair


@dataclass(frozen=True)
class Unprojected:
    """Matched pixels of a pair with a depth in the first frame."""

    pair: Pair
    points_cam: Float64[np.ndarray, "m 3"]
    """In camera a."""
    xy_b_px: Float64[np.ndarray, "m 2"]

    def with_other_length(self, is_range: bool) -> "Unprojected":
        """If depth were the other of z and range."""
        longer = np.linalg.norm(self.points_cam / self.points_cam[:, 2:], axis=1, keepdims=True)
        return replace(self, points_cam=self.points_cam * (longer if is_range else 1 / longer))


def unprojected(path: CameraPath, depth: DepthSource, pair: Pair) -> Unprojected | None:
    """None where no matched pixel of the first frame has depth."""
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


def offsets_px(path: CameraPath, points: Unprojected, scale: float = 1.0) -> Float64[np.ndarray, "m"]:
    """How far the points land from where they were matched; inf behind the camera."""
    b_from_a = np.linalg.inv(pose(path, points.pair.b)) @ pose(path, points.pair.a)
    xyz = scale * points.points_cam @ b_from_a[:3, :3].T + b_from_a[:3, 3]
    off = np.linalg.norm(path.intrinsics.project(xyz) - points.xy_b_px, axis=1)
    return np.asarray(np.where(np.isfinite(off), off, np.inf))
