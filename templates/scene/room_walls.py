"""How much of the walls and of the floor of a room photos show."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import Room
from templates.scene.scene import Scene

_POINTS = 120
"""Points along all walls, ..."""
_HEIGHTS = (0.1, 0.5, 0.9)
"""... each at these shares of the height of the room."""
_SQUARES = 40
"""Squares along each side of the floor."""
_USUAL_HEIGHT_M = 2.4
"""Of a room whose ceiling is not known."""
_ON_WALL = 0.1
"""A photo shows the wall where its surface is as far as the wall, within this share."""


@dataclass(frozen=True, kw_only=True)
class WallPoints:
    """Points along the walls of a room."""

    wall: Int64[np.ndarray, "p"]
    """The wall from corner k to the next."""
    xyz_world: Float64[np.ndarray, "p h 3"]
    """At several heights."""


def area_of(outline: Float64[np.ndarray, "m 2"]) -> float:
    """Of a polygon; 0 for fewer than three corners."""
    (x, y), (x_next, y_next) = outline.T, np.roll(outline, -1, axis=0).T
    return abs(float(np.sum(x * y_next - x_next * y))) / 2


def lengths(room: Room) -> Float64[np.ndarray, "m"]:
    """Of the walls."""
    return np.asarray(np.linalg.norm(np.roll(room.outline, -1, axis=0) - room.outline, axis=1))


def inside(outline: Float64[np.ndarray, "m 2"], xy: Float64[np.ndarray, "p 2"]) -> Bool[np.ndarray, "p"]:
    """Whether points lie in a polygon."""
    start, end = outline[:, None], np.roll(outline, -1, axis=0)[:, None]
    crosses = (start[..., 1] > xy[:, 1]) != (end[..., 1] > xy[:, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        x = start[..., 0] + (xy[:, 1] - start[..., 1]) * (end - start)[..., 0] / (end - start)[..., 1]
    return np.asarray((crosses & (xy[:, 0] < x)).sum(axis=0) % 2 == 1)


def on_floor_plan(room: Room, xyz_world: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n 2"]:
    """Places in the world, on the plan of the room."""
    floor_from_world = np.linalg.inv(room.world_from_floor)
    return np.asarray((xyz_world @ floor_from_world[:3, :3].T + floor_from_world[:3, 3])[..., :2])


def wall_points(room: Room) -> WallPoints:
    """Evenly spaced along all walls."""
    ends = np.cumsum(lengths(room))
    at = (np.arange(_POINTS) + 0.5) / _POINTS * ends[-1]
    wall = np.searchsorted(ends, at).clip(0, len(ends) - 1)
    share = (at - (ends - lengths(room))[wall]) / lengths(room)[wall]
    start, end = room.outline[wall], np.roll(room.outline, -1, axis=0)[wall]
    xy = start + share[:, None] * (end - start)
    height = room.height if np.isfinite(room.height) else _USUAL_HEIGHT_M
    z = height * np.array(_HEIGHTS)
    plan = np.concatenate([np.repeat(xy[:, None], len(z), axis=1), np.tile(z[:, None], (len(xy), 1, 1))], axis=2)
    return WallPoints(wall=wall, xyz_world=plan @ room.world_from_floor[:3, :3].T + room.world_from_floor[:3, 3])


def shown_walls(scene: Scene, points: WallPoints, frame: int) -> Bool[np.ndarray, "p"]:
    """Which of the points a photo shows at any height: the surface there is the wall, by the depth of the photo;
    computed once per scene and photo."""
    return scene.once(("shown walls", frame), lambda: _shown(scene, points, frame))


def _shown(scene: Scene, points: WallPoints, frame: int) -> Bool[np.ndarray, "p"]:
    pose = scene.world_from_cam(frame)
    if scene.path is None or not np.isfinite(pose).all():
        return np.zeros(len(points.wall), dtype=bool)
    xyz_cam = (points.xyz_world - pose[:3, 3]) @ pose[:3, :3]
    xy_px, distance = scene.path.intrinsics.project(xyz_cam), np.linalg.norm(xyz_cam, axis=2)
    seen = scene.path.intrinsics.contains(xy_px)
    surface = np.full(seen.shape, np.nan)
    surface[seen] = scene.surface(frame, xy_px[seen]).range
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(surface / distance - 1) <= _ON_WALL).any(axis=1))


def shown_floor(scene: Scene, room: Room, frame: int) -> Bool[np.ndarray, "g"]:
    """Which squares of the floor lie in the directions of a photo, at the height of the camera; computed once per scene
    and photo."""
    return scene.once(("shown floor", frame), lambda: _in_direction(scene, room, frame))


def _in_direction(scene: Scene, room: Room, frame: int) -> Bool[np.ndarray, "g"]:
    sides = np.linspace(room.outline.min(axis=0), room.outline.max(axis=0), _SQUARES).T
    grid = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    grid = grid[inside(room.outline, grid)]
    pose = scene.world_from_cam(frame)
    if scene.path is None or not np.isfinite(pose).all():
        return np.zeros(len(grid), dtype=bool)
    height = (np.linalg.inv(room.world_from_floor) @ pose[:, 3])[2]
    plan = np.column_stack([grid, np.full(len(grid), height)])
    world = plan @ room.world_from_floor[:3, :3].T + room.world_from_floor[:3, 3]
    xy_px = scene.path.intrinsics.project((world - pose[:3, 3]) @ pose[:3, :3])
    with np.errstate(invalid="ignore"):
        return np.asarray((xy_px[:, 0] >= 0) & (xy_px[:, 0] <= scene.clip.width_px - 1))
