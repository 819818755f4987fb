"""Rooms in which something special is arranged: small objects that lean, crates that slide about, a camera that follows
a crate, or one that comes out from behind a board, crates that meet or pass between others,
and crates that carry others."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, MovingBox, sliding, standing
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.furniture import crate
from spatial_engine.rendering.random_materials import random_colour
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import RenderedScene


def leaning(scene: RenderedScene, seed: int) -> RenderedScene:
    """The room with its small objects tipped over, some a little, some wholly."""
    rng, boxes = np.random.default_rng(seed), []
    for box in scene.boxes:
        tilt, way = rng.choice([0, 10, 30, 45, 60, 90]), rng.uniform(0, 2 * np.pi)
        pose = box.world_from_box.copy()
        pose[:3, :3] = (
            Rotation.from_rotvec(np.radians(tilt) * np.array([np.cos(way), np.sin(way), 0])).as_matrix()
            @ (pose[:3, :3])
        )
        boxes.append(replace(box, world_from_box=pose) if box.of is None else box)
    return replace(scene, boxes=tuple(boxes))


def busy_room(seed: int, frames: int = 24, width_px: int = 240) -> RenderedScene:
    """A room with five crates that slide about before the camera, along one leg or two. Three of them turn."""
    rng = np.random.default_rng(seed)
    height_px = 3 * width_px // 4
    scene = random_room(rng, frames=frames, width_px=width_px, height_px=height_px, moving_object=True, vfov_deg=60)
    camera, t = scene.world_from_cam[0], np.linspace(0, 1, frames)
    ahead, right = (camera[:2, axis] / np.linalg.norm(camera[:2, axis]) for axis in (2, 0))
    moving = []
    for k, name in enumerate(("robot", "cart", "crate", "car", "ball")):
        depth = rng.uniform(1.6, 3.4)
        start = camera[:2, 3] + depth * (ahead + rng.uniform(-0.5, 0.5) * right)
        heading = rng.uniform(0, 2 * np.pi) + np.array([0, rng.choice([-1, 1]) * rng.uniform(1, 2)])
        steps = rng.uniform(0.3, 0.9, 2)[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
        steps[1] = steps[0] if k % 2 else steps[1]
        feet = start + np.clip(2 * t, 0, 1)[:, None] * steps[0] + np.clip(2 * t - 1, 0, 1)[:, None] * steps[1]
        feet = np.clip(feet, 0.4, np.array(scene.room.size_m)[:2] - 0.4)
        box = _crate(name, rng)
        turn = rng.uniform(-110, 110) * (k % 2 or k == 4)
        moving.append(sliding(box, np.c_[feet, np.full(frames, 0.01)], rng.uniform(0, 360) + turn * t))
    return replace(scene, moving_boxes=tuple(moving))


def crossing_room(seed: int, frames: int = 40, width_px: int = 240, *, racing: bool = False) -> RenderedScene:
    """A room before a camera on a tripod, in which crates slide straight on, each at one speed; one turns back.

    `racing`: all go the same way.
    """
    rng, height_px, path = np.random.default_rng(seed), 3 * width_px // 4, camera_paths.static
    scene = random_room(
        rng, frames=frames, width_px=width_px, height_px=height_px, moving_object=True, vfov_deg=60, path=path
    )
    camera, t = scene.world_from_cam[0], np.linspace(-1, 1, frames)
    ahead, right = (camera[:2, axis] / np.linalg.norm(camera[:2, axis]) for axis in (2, 0))
    moving = []
    for k, name in enumerate(("robot", "cart", "crate", "car", "ball")):
        depth = rng.uniform(2.0, 3.4)
        speed = rng.uniform(0.4, 1.7) if racing else rng.choice([-1, 1]) * rng.uniform(0.9, 1.5)
        way = speed * right + rng.uniform(-0.3, 0.3) * ahead
        feet = camera[:2, 3] + depth * ahead + rng.uniform(-0.4, 0.4) * right + np.outer(-abs(t) if k == 4 else t, way)
        box, height = _crate(name, rng), np.full(frames, rng.uniform(0.0, 1.2))
        moving.append(sliding(box, np.c_[feet, height], np.full(frames, rng.uniform(0, 360))))
    return replace(scene, moving_boxes=tuple(moving))


def _crate(name: str, rng: np.random.Generator) -> Box:
    side, front = (crate(int(rng.integers(1 << 31)), random_colour(rng), random_colour(rng)) for _ in "sf")
    return standing(name, rng.uniform(0.2, 0.4, 3).tolist(), (0, 0, 0), side=side, front=front)


def staged(seed: int, width_px: int = 160) -> RenderedScene:
    """A room in which crates move one after the other, or some of them at a time."""
    scene, rng, n = busy_room(seed, 48, width_px), np.random.default_rng(seed), 48
    boxes = []
    for box in scene.moving_boxes:
        start, length = rng.choice([0, 16, 32]), rng.integers(12, 17)
        at = np.round(np.clip((np.arange(n) - start) / length, 0, 1) * (n - 1)).astype(int)
        boxes.append(replace(box, world_from_box=box.world_from_box[at]))
    return replace(scene, moving_boxes=tuple(boxes))


def following_room(seed: int, frames: int = 48, width_px: int = 160) -> RenderedScene:
    """A room in which the camera goes along with a crate, at its side, behind it or before it."""
    rng = np.random.default_rng(seed)
    aside, ahead = rng.uniform(0.7, 1.1) * np.array([(1, 0), (-1, 0), (0, 1), (0.7, 0.7)][seed % 4])
    away = rng.uniform(1.5, 2.0)
    scene = _travelled(rng, {"truck": aside, "dolly": ahead}, frames, width_px, away)
    cameras = scene.world_from_cam
    heading = cameras[:, :2, 2] / np.linalg.norm(cameras[:, :2, 2], axis=1, keepdims=True)
    sway = 0.05 * np.sin(np.linspace(0, 2 * np.pi, frames))
    feet = cameras[:, :2, 3] + (away + sway)[:, None] * heading
    box = replace(_crate("robot", rng), size_m=(0.35, 0.35, rng.uniform(0.8, 1.2)))
    robot = sliding(box, np.c_[feet, np.full(frames, 0.01)], np.full(frames, rng.uniform(0, 90)))
    return replace(scene, moving_boxes=(robot,))


def revealing_room(seed: int, frames: int = 48, width_px: int = 160) -> RenderedScene:
    """A room in which a board stands before the camera, which goes sideways past it."""
    rng = np.random.default_rng(seed)
    scene = _travelled(rng, {"truck": rng.choice([-1, 1]) * rng.uniform(1.1, 1.3)}, frames, width_px)
    camera = scene.world_from_cam[0]
    ahead, yaw = camera[:2, 2] / np.linalg.norm(camera[:2, 2]), np.degrees(np.arctan2(-camera[0, 2], camera[1, 2]))
    feet = np.append(camera[:2, 3] + rng.uniform(0.7, 0.8) * ahead, 0.0)
    side = crate(int(rng.integers(1 << 31)), random_colour(rng), random_colour(rng))
    board = standing("board", (1.2, 0.06, 2.1), feet.tolist(), side=side, yaw_deg=float(yaw))
    return replace(scene, boxes=(*scene.boxes, board), moving_boxes=())


def _travelled(
    rng: np.random.Generator, amounts: dict[str, float], frames: int, width_px: int, away_m: float | None = None
) -> RenderedScene:
    """A room with a free middle, through which the camera goes straight; level, or looking at half a metre above the
    floor at a distance."""

    def path(n: int, start: Stance) -> Poses:
        pitch_rad = -float(np.arctan2(start.at_m[2] - 0.5, away_m)) if away_m else 0.0
        return camera_paths.performed([(n, amounts)], replace(start, pitch_rad=pitch_rad))

    height_px = 3 * width_px // 4
    return random_room(
        rng, frames=frames, width_px=width_px, height_px=height_px, moving_object=True, vfov_deg=50, path=path
    )


def meeting_room(seed: int, frames: int = 48, width_px: int = 160) -> RenderedScene:
    """A room before a camera on a tripod in which two crates meet, come nearer, part or go farther apart; or in which
    one passes two others: between them, past either, or before both."""
    rng, kind = np.random.default_rng(seed), seed // 2 % 4
    scene = _travelled(rng, {}, frames, width_px, 2.4)
    camera, t = scene.world_from_cam[0], np.clip(np.linspace(-0.15, 1.15, frames), 0, 1)[:, None]
    ahead, right = (camera[:2, axis] / np.linalg.norm(camera[:2, axis]) for axis in (2, 0))

    def crate_along(name: str, start: tuple[float, float], end: tuple[float, float]) -> MovingBox:
        size = rng.uniform([0.24, 0.24, 0.3], [0.28, 0.28, 0.5]).tolist()
        way = (1 - t) * start + t * end
        feet = camera[:2, 3] + way[:, :1] * right + way[:, 1:] * ahead
        box, yaw_deg = replace(_crate(name, rng), size_m=tuple(size)), np.degrees(np.arctan2(right[1], right[0]))
        return sliding(box, np.c_[feet, np.full(frames, 0.01)], np.full(frames, yaw_deg))

    depth = rng.uniform(2.3, 2.6)
    if seed % 2:
        far, near = rng.uniform(1.0, 1.15), (0.18, 0.6)[kind % 2]
        ends = ((far, near), (near, far))[kind // 2]
        moving = [
            crate_along(name, (x * ends[0], depth), (x * ends[1], depth)) for name, x in (("cart", -1), ("car", 1))
        ]
    else:
        x, left = ((0.55, -0.55), (-0.6, -0.25), (1.7, -0.85), (0.0, -0.55))[kind]
        shift = rng.uniform(-0.04, 0.04) + left + x
        ways = ((shift, depth - 0.75), (shift, depth + 0.75)) if kind < 3 else ((-0.5, depth - 0.7), (0.5, depth - 0.7))
        moving = [crate_along("robot", *ways[:: rng.choice([-1, 1])])]
        moving += [
            crate_along(name, (at, depth), (at, depth)) for name, at in (("stool", left), ("speaker", left + 1.1))
        ]
    return replace(scene, moving_boxes=tuple(moving))


def carrying_room(seed: int, frames: int = 48, width_px: int = 160) -> RenderedScene:
    """A room before a camera on a tripod in which a cart carries a crate along; or drives beside another one, or past
    it."""
    rng, kind = np.random.default_rng(seed), seed % 4
    scene = _travelled(rng, {}, frames, width_px, 2.4)
    camera, t = scene.world_from_cam[0], np.clip(np.linspace(-0.1, 1.1, frames), 0, 1)
    ahead, right = (camera[:2, axis] / np.linalg.norm(camera[:2, axis]) for axis in (2, 0))
    way = rng.choice([-1, 1]) * rng.uniform(0.9, 1.2) * (t - 0.5)
    bend = rng.uniform(-0.4, 0.4) * t**2
    yaw_deg = np.degrees(np.arctan2(right[1], right[0])) + rng.uniform(-40, 40) * t
    depth = rng.uniform(2.1, 2.5)

    def moved(name: str, size: tuple[float, float, float], aside: np.ndarray, away: np.ndarray, z: float) -> MovingBox:
        feet = camera[:2, 3] + np.outer(aside, right) + np.outer(away, ahead)
        return sliding(replace(_crate(name, rng), size_m=size), np.c_[feet, np.full(frames, z)], yaw_deg)

    height = rng.uniform(0.25, 0.35)
    cart = moved("cart", (0.5, 0.4, height), way, depth + bend, 0.01)
    load, still = (0.25, 0.25, rng.uniform(0.2, 0.3)), np.zeros(frames)
    if kind == 2:
        other = moved("box", load, way + rng.choice([-0.55, 0.55]), depth + bend, 0.01)
        other = replace(other, world_from_box=_beside(cart, other))
    elif kind == 3:
        other = moved("box", load, -way, depth + 0.6 + still, 0.01)
    else:
        other = moved("box", load, way, depth + bend, 0.01 + height)
    return replace(scene, moving_boxes=(cart, other))


def _beside(cart: MovingBox, other: MovingBox) -> Poses:
    """The poses of another box that keeps its first place before the axes of a cart."""
    inside = np.linalg.inv(cart.world_from_box[0]) @ other.world_from_box[0]
    return cart.world_from_box @ inside
