"""One body in any pose in a large room, and which shape objects of rendered scenes really have."""

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import RenderedScene, camera_paths
from spatial_engine.rendering.boxes import Box, standing
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.round_bodies import RoundBody, standing_body
from spatial_engine.rendering.scene import camera

_FILLED = {"cuboid": 1.0, "cylinder": np.pi / 4, "ball": np.pi / 6, "cone": np.pi / 12}
"""Share of its box that a shape fills."""


def alone(shape: str, seed: int, turned: Rotation | None = None) -> RenderedScene:
    """A body of random size, 1.2 to 2.2 m ahead of the camera; by default turned at random."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(0.25, 0.7, 3)
    body: Box
    if shape in ("cuboid", "flat plate"):
        body = standing("body", (a, b, 0.02 if shape == "flat plate" else c), (0, 0, 0), side=OAK)
    else:
        body = standing_body(shape, "body", (a, a if shape == "ball" else max(c, 0.7 * a)), (0, 0, 0), side=OAK)  # type: ignore[arg-type]
    pose = np.eye(4)
    pose[:3, :3] = (turned or Rotation.random(rng=rng)).as_matrix()
    pose[:3, 3] = 3 + rng.uniform([-0.4, 1.2, -1.8], [0.4, 2.2, -1.2])
    return RenderedScene(
        intrinsics=camera(320, 240, vfov_deg=60),
        room=room((6.0, 8.0, 3.0), OAK, (OAK,) * 4, CEILING),
        boxes=(type(body)(**{**vars(body), "world_from_box": pose}),),
        world_from_cam=camera_paths.static(1, Stance(at_m=(3, 3, 1.5))),
        fps=10,
        texel_m=0.04,
    )


def true_shape(scene: RenderedScene, k: int, frame: int) -> str:
    """By the share of its box that an object fills, from points drawn there; "" if it is none of the five.

    Of objects of several parts the outer faces count, without the outermost points: a handle makes no difference, nor
    does the inside of a crate.
    """
    item, pose = scene.objects[k], scene.world_from_objects(frame)[k]
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (20_000, 3)) * item.size_m
    world, poses = points @ pose[:3, :3].T + pose[:3, 3], scene.world_from_boxes(frame)
    hit = np.any([_inside(scene.furniture[row], poses[row], world) for row in item.boxes], axis=0)
    size, share = item.size_m, hit.mean()
    if len(item.boxes) > 1:
        low, high = np.percentile(points[hit], [2, 98], axis=0)
        size, out = high - low, np.abs((2 * points - low - high) / (high - low)).max(axis=1)
        share = 1.0 if hit[(out > 0.96) & (out < 1)].mean() > 0.75 else 0.0
    thin, middle, _ = np.sort(size)
    if thin < 0.15 * middle:
        return "flat plate" if share > 0.9 else ""
    shapes = _FILLED if len(item.boxes) == 1 else {"cuboid": 1.0}
    return next((name for name, filled in shapes.items() if abs(share - filled) < 0.02 + 0.02 * filled), "")


def _inside(box: Box, world_from_box: np.ndarray, points: np.ndarray) -> np.ndarray:
    x, y, z = ((points - world_from_box[:3, 3]) @ world_from_box[:3, :3] / box.half_m).T
    if not isinstance(box, RoundBody):
        return np.max(np.abs([x, y, z]), axis=0) <= 1.001
    across = np.hypot(x, y)
    radius = {"ball": np.sqrt(np.maximum(1 - z**2, 0)), "cylinder": np.ones_like(z), "cone": (1 - z) / 2}[box.form]
    return (np.abs(z) <= 1) & (across <= radius)
