"""Straight ways from photo to photo, seen from above: how long they are, and by how much one turns between them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Complex128, Float64, Int64

from templates.scene.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Legs:
    """Of n routes through the places of cameras. NaN where a pose or gravity is unknown, and where a row ends."""

    length: Float64[np.ndarray, "n s"]
    """On the level, in path units."""
    length_sigma: Float64[np.ndarray, "n s"]
    slope: Float64[np.ndarray, "n s"]
    """Rise over length, without its sign."""
    turn_rad: Float64[np.ndarray, "n s"]
    """To the right, before each leg: the first from the heading of the first photo, the others from the leg before."""
    turn_sigma_rad: Float64[np.ndarray, "n s"]


def legs(scene: Scene, frames: Int64[np.ndarray, "n k"]) -> Legs:
    """The legs of routes; -1 ends a shorter one."""
    poses = scene.world_from_cam(frames)
    plan, height = on_level(scene, poses[..., :3, 3])
    heading, _ = on_level(scene, poses[:, :1, :3, 2])
    way, length = np.diff(plan, axis=1), np.abs(np.diff(plan, axis=1))
    pairs = np.stack([frames[:, :-1], frames[:, 1:]], axis=2)
    positions = scene.offset_sigma(pairs)
    turned_rad = scene.relative_rotation_sigma_rad(frames)
    known = np.concatenate([heading, way], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.abs(np.diff(height, axis=1)) / length
        up_sigma_rad = np.fmax.reduce(scene.up_cam(frames)[1], axis=1, initial=0.0)[:, None]
        own = np.sqrt(scene.direction_sigma_rad**2 + (positions / length) ** 2 + (up_sigma_rad * slope) ** 2)
        before = np.concatenate([turned_rad[:, None], own[:, :-1]], axis=1)
        turn = -np.angle(known[:, 1:] / known[:, :-1])
    return Legs(
        length=length,
        length_sigma=np.hypot(positions, scene.direction_sigma_rad * length),
        slope=slope,
        turn_rad=turn,
        turn_sigma_rad=np.hypot(own, before),
    )


def on_level(
    scene: Scene, xyz_world: Float64[np.ndarray, "*n 3"]
) -> tuple[Complex128[np.ndarray, "*n"], Float64[np.ndarray, "*n"]]:
    """Positions or directions from above, anticlockwise, and their heights; NaN where gravity is unknown."""
    up = scene.up_world
    if up is None:
        return np.full(xyz_world.shape[:-1], np.nan + 0j), np.full(xyz_world.shape[:-1], np.nan)
    up = up / np.linalg.norm(up)
    first = np.cross(up, np.eye(3)[np.abs(up).argmin()])
    first = first / np.linalg.norm(first)
    return xyz_world @ first + 1j * (xyz_world @ np.cross(up, first)), xyz_world @ up


def random_routes(
    follows: Bool[np.ndarray, "f f"], photos: int, rng: np.random.Generator, count: int
) -> Int64[np.ndarray, "n k"]:
    """Different rows of `photos` different places, each of which may follow the one before; at most `count`."""
    if len(follows) < photos:
        return np.empty((0, photos), dtype=np.int64)
    routes = rng.integers(len(follows), size=(count, 1))
    for _ in range(photos - 1):
        open_ = follows[routes[:, -1]].copy()
        np.put_along_axis(open_, routes, False, axis=1)
        kept = open_.any(axis=1)
        keys = np.where(open_, rng.random(open_.shape), -1.0)
        routes = np.column_stack([routes, keys.argmax(axis=1)])[kept]
    return rng.permutation(np.unique(routes, axis=0))
