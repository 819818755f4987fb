"""How far pixels of one point lie from the lines that the poses draw for each other."""

import numpy as np
from jaxtyping import Float64

from experts.signals import CameraPath
from spatial_engine.sequences.seen_twice import Pair

NEAR_PX = 2.0


def pose(path: CameraPath, frame: int) -> Float64[np.ndarray, "4 4"]:
    """World from camera of a frame of the path."""
    return path.world_from_cam[int(np.searchsorted(path.frames, frame))]


def off_lines_px(path: CameraPath, pair: Pair) -> Float64[np.ndarray, "m"]:
    """Distance of matched pixels to their epipolar line, the larger of both ways."""
    b_from_a = np.linalg.inv(pose(path, pair.b)) @ pose(path, pair.a)
    x, y, z = b_from_a[:3, 3]
    essential = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ b_from_a[:3, :3]
    a, b = (_flat(path, xy) for xy in (pair.xy_a_px, pair.xy_b_px))
    return np.asarray(np.maximum(_off_line(essential, a, b), _off_line(essential.T, b, a)) * path.intrinsics.fx_px)


def share_on_lines(path: CameraPath, pair: Pair) -> float:
    """Share of matched pixels within 2 px (of the pictures as looked at) of their line."""
    return float(np.mean(off_lines_px(path, pair) < NEAR_PX * pair.grain_px))


def parallax_px(path: CameraPath, pair: Pair) -> float:
    """Median shift of matched pixels that the rotation does not explain."""
    turned = _flat(path, pair.xy_a_px) @ (pose(path, pair.b)[:3, :3].T @ pose(path, pair.a)[:3, :3]).T
    off = np.linalg.norm(path.intrinsics.project(turned) - pair.xy_b_px, axis=1)
    return float(np.median(off[np.isfinite(off)])) if np.isfinite(off).any() else np.inf


def _flat(path: CameraPath, xy_px: Float64[np.ndarray, "m 2"]) -> Float64[np.ndarray, "m 3"]:
    """Rays of z = 1, without the lens's bend."""
    rays = path.intrinsics.rays(xy_px)
    return np.asarray(rays / rays[:, 2:])


def _off_line(
    essential: Float64[np.ndarray, "3 3"], a: Float64[np.ndarray, "m 3"], b: Float64[np.ndarray, "m 3"]
) -> Float64[np.ndarray, "m"]:
    lines = a @ essential.T
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(np.sum(lines * b, axis=1)) / np.linalg.norm(lines[:, :2], axis=1)
    return np.where(np.isfinite(off), off, np.inf)
