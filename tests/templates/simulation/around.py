"""A room with four objects around a camera that turns, for questions about what its photos leave out."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Depth, Objects, Scale, Signal
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.boxes import standing
from spatial_engine.rendering.camera_paths import poses
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.scene import camera
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

AZIMUTHS_DEG = {"stand": -3.0, "crate": 20.0, "chest": 56.0, "board": 82.0}
"""To the right of ahead of the first photo."""
TURNS_DEG = (0.0, 12.0, 24.0, 36.0)
"""How far the camera has turned to the right in each photo."""


@cache
def turning_room(mirrored: bool = False) -> RenderedScene:
    """Photos are 90° wide. `mirrored`: all is on the other side."""
    side, boxes = -1 if mirrored else 1, []
    for name, azimuth in AZIMUTHS_DEG.items():
        at = 2.5 * np.array([np.sin(np.radians(side * azimuth)), np.cos(np.radians(azimuth))]) + [4.0, 1.0]
        boxes.append(standing(name, (0.3, 0.3, 0.6), (*at.tolist(), 1.2), yaw_deg=-side * azimuth, side=OAK))
    yaw = -side * np.radians(TURNS_DEG)
    at_m = np.array([4.0, 1.0, 1.5]) + 0.02 * np.arange(len(yaw))[:, None] * [side, 0, 0]
    return RenderedScene(
        intrinsics=camera(320, 240, vfov_deg=2 * np.degrees(np.arctan(0.75))), boxes=tuple(boxes), fps=10,
        room=room((8.0, 5.0, 3.0), OAK, (OAK,) * 4, CEILING), texel_m=0.05,
        world_from_cam=poses(at_m, yaw, 0 * yaw, 0 * yaw),
    )  # fmt: skip


def signals(mirrored: bool = False) -> dict[str, Signal]:
    return true_signals(turning_room(mirrored), as_clip(turning_room(mirrored)))


def scene(known: dict[str, Signal]) -> Scene:
    (only,) = scenes_of(as_clip(turning_room()), known)
    return only


def elsewhere(known: dict[str, Signal], unit: float) -> dict[str, Signal]:
    """The same in another world frame and another unit."""
    turned = np.eye(4)
    turned[:3] = np.column_stack([Rotation.random(rng=np.random.default_rng(0)).as_matrix(), [1.0, 2, 3]])
    path, objects, depth = known["camera_path"], known["objects"], known["depth"]
    assert isinstance(path, CameraPath) and isinstance(objects, Objects) and isinstance(depth, Depth)
    assert objects.size is not None
    cameras, boxes = turned @ path.world_from_cam, turned @ objects.world_from_object
    cameras[..., :3, 3] *= unit
    boxes[..., :3, 3] *= unit
    return {
        **known,
        "camera_path": replace(path, world_from_cam=cameras, scale=Scale(kind="relative")),
        "objects": replace(objects, world_from_object=boxes, size=objects.size * unit),
        "depth": replace(depth, z=depth.z * np.float32(unit)),
    }
