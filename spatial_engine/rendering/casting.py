"""Rays against boxes and round bodies: exact depth along the viewing axis, and which face is hit first."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float32, Float64, Int16

from experts.intrinsics import Intrinsics
from spatial_engine.rendering.boxes import Box
from spatial_engine.rendering.round_bodies import RoundBody, entered

_NEAR_M = 0.02
_EDGES = [(a, b) for a in range(8) for b in range(8) if a < b and (a ^ b) in (1, 2, 4)]


@lru_cache(maxsize=8)
def camera_rays(camera: Intrinsics) -> Float32[np.ndarray, "h 3 w"]:
    """Viewing rays of all pixels in camera axes with z = 1, so that the ray parameter is depth."""
    x, y = np.meshgrid(np.arange(camera.width_px), np.arange(camera.height_px))
    rays = camera.rays(np.stack([x, y], axis=-1).astype(float))
    return np.ascontiguousarray(np.moveaxis(rays / rays[..., 2:], -1, 1), dtype=np.float32)


def cast(
    camera: Intrinsics,
    box_from_cam: Sequence[Float64[np.ndarray, "r 4 4"]],
    solids: Sequence[Box],
) -> tuple[Float32[np.ndarray, "h w"], Int16[np.ndarray, "h w"]]:
    """Depth and surface of what each pixel's centre sees first. Solid 0 is the room, seen from inside.

    A surface is 6 · solid + face (-x, +x, -y, +y, -z, +z; of a round body, the curved surface is the first). `r` is 1,
    or the number of rows where each row has a pose of its own (rolling shutter).
    """
    rays = camera_rays(camera)
    directions, _, high = _crossings(rays, box_from_cam[0], solids[0].half_m)
    depth, axis = _nearest(high)
    surface = _face(directions, axis, leaving=True)
    for number, (pose, solid) in enumerate(zip(box_from_cam[1:], solids[1:], strict=True), start=1):
        area = _area_seen(camera, pose, solid.half_m)
        if area is None:
            continue
        rows, columns = area
        enter, face = _entered(rays[rows, :, columns], pose if len(pose) == 1 else pose[rows], solid)
        hit = (enter > _NEAR_M) & (enter < depth[rows, columns])
        depth[rows, columns][hit] = enter[hit]
        surface[rows, columns][hit] = 6 * number + face[hit]
    return depth, surface


def _entered(
    rays: Float32[np.ndarray, "h 3 w"], box_from_cam: Float64[np.ndarray, "r 4 4"], solid: Box
) -> tuple[np.ndarray, Int16[np.ndarray, "h w"]]:
    """Depth at which rays enter a solid, inf where they miss it, and through which face."""
    if isinstance(solid, RoundBody):
        to_unit = box_from_cam[:, :3] / solid.half_m[:, None]
        return entered(solid.form, to_unit[:, :, 3:], to_unit[:, :, :3] @ rays.astype(float))
    directions, low, high = _crossings(rays, box_from_cam, solid.half_m)
    enter, axis = _nearest([-x for x in low])
    enter *= -1
    leave = np.minimum(np.minimum(high[0], high[1]), high[2])
    return np.where(enter <= leave, enter, np.inf), _face(directions, axis, leaving=False)


def _crossings(
    rays: Float32[np.ndarray, "h 3 w"], box_from_cam: Float64[np.ndarray, "r 4 4"], half: Float64[np.ndarray, "3"]
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Directions in box axes; per axis the depths at which rays enter and leave the slab between two faces."""
    pose, edge = box_from_cam.astype(np.float32), half.astype(np.float32)
    directions = pose[:, :3, :3] @ rays + np.float32(1e-12)
    low, high = [], []
    for axis in range(3):
        start, slope = pose[:, axis, 3, None], 1 / directions[:, axis]
        first, second = (-edge[axis] - start) * slope, (edge[axis] - start) * slope
        low.append(np.minimum(first, second))
        high.append(np.maximum(first, second))
    return directions, low, high


def _nearest(depths: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The least of three, and which it is."""
    axis = (depths[1] < depths[0]).astype(np.int8)
    least = np.minimum(depths[0], depths[1])
    axis[depths[2] < least] = 2
    return np.minimum(least, depths[2]), axis


def _face(directions: np.ndarray, axis: np.ndarray, *, leaving: bool) -> Int16[np.ndarray, "h w"]:
    """Face through which rays enter or leave."""
    along = np.where(axis == 0, directions[:, 0], np.where(axis == 1, directions[:, 1], directions[:, 2]))
    return (2 * axis + ((along > 0) == leaving)).astype(np.int16)


def _area_seen(
    camera: Intrinsics, box_from_cam: Float64[np.ndarray, "r 4 4"], half: Float64[np.ndarray, "3"]
) -> tuple[slice, slice] | None:
    """Rows and columns that a box can cover; None if it is out of view."""
    signs = np.array([[1 if k & bit else -1 for bit in (1, 2, 4)] for k in range(8)])
    seen = []
    for pose in (box_from_cam[0], box_from_cam[-1]):
        corners = (signs * half - pose[:3, 3]) @ pose[:3, :3]
        seen.append(_in_front(corners))
    points = np.concatenate(seen)
    if not len(points):
        return None
    if camera.k1:  # far outside the frame a radial term may fold points back in
        return slice(0, camera.height_px), slice(0, camera.width_px)
    xy = camera.project(points)
    low, high = np.floor(xy.min(axis=0)) - 2, np.ceil(xy.max(axis=0)) + 3
    x0, y0 = np.clip(low, 0, [camera.width_px, camera.height_px]).astype(int)
    x1, y1 = np.clip(high, 0, [camera.width_px, camera.height_px]).astype(int)
    return (slice(y0, y1), slice(x0, x1)) if x1 > x0 and y1 > y0 else None


def _in_front(corners: Float64[np.ndarray, "8 3"]) -> Float64[np.ndarray, "m 3"]:
    """Corners before the camera, and where edges pass the near plane."""
    ahead = corners[:, 2] > _NEAR_M
    if ahead.all() or (corners[:, 2] < _NEAR_M).all():
        return corners[ahead]
    points = list(corners[ahead])
    for a, b in _EDGES:
        za, zb = corners[a, 2] - _NEAR_M, corners[b, 2] - _NEAR_M
        if za * zb < 0:
            points.append(corners[a] + za / (za - zb) * (corners[b] - corners[a]) + [0, 0, 1e-6])
    return np.array(points).reshape(-1, 3)
