"""Depth on a second path of the same footage: what one path matches is triangulated again with the other."""

from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float32, Float64, Int64

from experts.depth.depth_reprojection import pixel_grid, unprojected
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath

_MAX_RESIDUAL_PX = 1.5
"""Beyond this, in pixels of the depth map, the second path contradicts the matches."""
_STRIDE = 4
"""The ratio of both depths is computed at every fourth row and column: it varies slowly."""


@dataclass(frozen=True, kw_only=True)
class Cameras:
    """A frame's camera on one path, and those of the frames that it was matched with."""

    intrinsics: Intrinsics
    """Full size."""
    world_from_cam: Float64[np.ndarray, "4 4"]
    matched_world_from_cam: Float64[np.ndarray, "n 4 4"]

    @classmethod
    def of(cls, path: CameraPath, frame: int, matched: Int64[np.ndarray, "n"]) -> "Cameras":
        """Of registered frames."""
        poses = path.world_from_cam[np.searchsorted(path.frames, [frame, *matched])]
        return cls(intrinsics=path.intrinsics, world_from_cam=poses[0], matched_world_from_cam=poses[1:])


def on_second_path(z: Float32[np.ndarray, "h w"], first: Cameras, second: Cameras) -> Float32[np.ndarray, "h w"]:
    """Depth of a frame in the unit of a second path, from that on the first one; NaN where that is, or where the second
    path contradicts the matches.

    Args:
        z: along the viewing axis; pixel centres at integers, any size.
        first, second: the same frames on both paths.
    """
    height, width = z.shape
    cells = np.s_[_STRIDE // 2 :: _STRIDE, _STRIDE // 2 :: _STRIDE]
    grid_px, known = pixel_grid(height, width, first.intrinsics).reshape(height, width, 2)[cells], np.isfinite(z[cells])
    ratio = np.zeros(known.shape, dtype=np.float32)
    focal_px = second.intrinsics.fx_px * width / second.intrinsics.width_px
    ratio[known] = _ratio(grid_px[known], z[cells][known].astype(float), first, second, focal_px)
    with np.errstate(invalid="ignore", divide="ignore"):
        smooth = cv2.blur(ratio, (3, 3)) / cv2.blur((ratio > 0).astype(np.float32), (3, 3))
    row, column = (
        np.minimum(np.arange(side) // _STRIDE, count - 1) for side, count in zip(z.shape, known.shape, strict=True)
    )
    return z * smooth[np.ix_(row, column)]


def _ratio(
    xy_px: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"], first: Cameras, second: Cameras, focal_px: float
) -> Float64[np.ndarray, "k"]:
    """Depth on the second path over that on the first one; 0 where the second path contradicts."""
    world = unprojected(xy_px, z, first.intrinsics) @ first.world_from_cam[:3, :3].T + first.world_from_cam[:3, 3]
    ray = _of_depth_1(second.intrinsics.rays(xy_px))
    steps, offsets = [], []
    for there, there_2 in zip(first.matched_world_from_cam, second.matched_world_from_cam, strict=True):
        matched_px = first.intrinsics.project((world - there[:3, 3]) @ there[:3, :3])
        inside = first.intrinsics.contains(matched_px)[:, None]
        matched = _of_depth_1(second.intrinsics.rays(np.where(inside, matched_px, 0.0)))[:, :2]
        move = np.linalg.inv(there_2) @ second.world_from_cam
        turned, shift = ray @ move[:3, :3].T, move[:3, 3]
        # `turned + shift / z` projects to the matched pixel: linear in 1 / z
        steps.append(inside * (matched * shift[2] - shift[:2]) / turned[:, 2:])
        offsets.append(inside * (matched - turned[:, :2] / turned[:, 2:]))
    step, offset = np.concatenate(steps, axis=1), np.concatenate(offsets, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        inverse = -(step * offset).sum(axis=1) / (step**2).sum(axis=1)
        residual_px = focal_px * np.abs(offset + inverse[:, None] * step).max(axis=1)
        return np.where((inverse > 0) & (residual_px <= _MAX_RESIDUAL_PX), 1 / (inverse * z), 0.0)


def _of_depth_1(rays: Float64[np.ndarray, "k 3"]) -> Float64[np.ndarray, "k 3"]:
    return rays / rays[:, 2:]
