"""Depth and camera path of a clip, carried from frame to frame: where a pixel goes, and how far that is known."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_reprojection import SeenAgain, sampled, seen_again, unprojected
from experts.signals import CameraPath, Depth


@dataclass(frozen=True, kw_only=True)
class CarriedDepth:
    """Frames that are asked for have depth and a pose."""

    depth: Depth
    path: CameraPath
    """In the depth's unit; "general", or "rotation_only" (then the centre rests at the origin)."""
    pose_sigma_px: float | None = None
    """σ per axis of what the poses are off by, in pixels of the frame, where tracks say so; None: by their own σ."""

    def row(self, frame: int) -> int:
        """Row of a frame in the depth."""
        return int(np.searchsorted(self.depth.frames, frame))

    def b_from_a(self, a: int, b: int) -> Float64[np.ndarray, "4 4"]:
        """Camera axes of frame b from those of frame a."""
        first, second = self.path.world_from_cam[np.searchsorted(self.path.frames, [a, b])]
        if self.path.motion == "rotation_only":
            first, second = _turned(first), _turned(second)
        return np.asarray(np.linalg.inv(second) @ first)

    def seen(self, a: int, b: int, xy_px: Float64[np.ndarray, "k 2"]) -> SeenAgain:
        """What frame b says of pixels of frame a."""
        z, camera = self.depth.z, self.path.intrinsics
        return seen_again(xy_px, z[self.row(a)], z[self.row(b)], self.b_from_a(a, b), camera, camera)

    def relative_sigma(self, frame: int, xy_px: Float64[np.ndarray, "k 2"]) -> Float64[np.ndarray, "k"]:
        """σ_z / z at pixels; the frame's median where the pixel's own is not known."""
        sigma = self.depth.relative_sigma[self.row(frame)]
        return np.nan_to_num(sampled(sigma, self.path.intrinsics, xy_px), nan=float(np.nanmedian(sigma)))

    def sigma_px(
        self, a: int, b: int, xy_a: Float64[np.ndarray, "k 2"], xy_b: Float64[np.ndarray, "k 2"]
    ) -> Float64[np.ndarray, "k"]:
        """σ per axis of where pixels of a lie in b: depth ⊕ poses ⊕ focal length, first order."""
        camera, b_from_a = self.path.intrinsics, self.b_from_a(a, b)
        z = sampled(self.depth.z[self.row(a)], camera, xy_a)

        def ends(factor: float, zoom: float) -> Float64[np.ndarray, "k 2"]:
            lens = replace(camera, fx_px=camera.fx_px * zoom, fy_px=camera.fy_px * zoom)
            return np.asarray(lens.project(unprojected(xy_a, z * factor, lens) @ b_from_a[:3, :3].T + b_from_a[:3, 3]))

        by_depth = np.linalg.norm(ends(1.01, 1.0) - xy_b, axis=1) / 0.01 * self.relative_sigma(a, xy_a)
        if self.pose_sigma_px is not None:
            return np.hypot(by_depth, self.pose_sigma_px)
        by_focal = np.linalg.norm(ends(1.0, 1.01) - xy_b, axis=1) / 0.01 * self.path.focal_relative_sigma
        return np.linalg.norm([by_depth, by_focal, self._by_poses(a, b, xy_a, z)], axis=0)

    def _by_poses(
        self, a: int, b: int, xy_a: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"]
    ) -> Float64[np.ndarray, "k"]:
        """What the σ of rotation, position and direction of the poses moves a pixel by."""
        path, b_from_a = self.path, self.b_from_a(a, b)
        rows = np.searchsorted(path.frames, [a, b])
        turned = float(path.rotation_sigma_rad[rows].max())
        if path.motion == "rotation_only":
            return np.full(len(z), path.intrinsics.fx_px * turned)
        z_b = unprojected(xy_a, z, path.intrinsics) @ b_from_a[2, :3] + b_from_a[2, 3]
        way = float(np.linalg.norm(b_from_a[:3, 3])) * path.direction_sigma_rad
        moved = np.hypot(way, np.linalg.norm(path.position_sigma[rows]))
        return np.asarray(path.intrinsics.fx_px * np.hypot(turned, moved / z_b))


def _turned(world_from_cam: Float64[np.ndarray, "4 4"]) -> Float64[np.ndarray, "4 4"]:
    out = np.eye(4)
    out[:3, :3] = world_from_cam[:3, :3]
    return out
