"""Rooms in which something special is arranged: small objects that lean, and crates that slide about."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, sliding, standing
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
