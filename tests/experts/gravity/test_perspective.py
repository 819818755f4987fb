"""Perspective is seen in a room, and not before a wall that the camera faces."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.gravity.perspective import PerspectiveSettings, shows_perspective
from spatial_engine.rendering import as_clip, camera_paths
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import RenderedScene

SETTINGS = PerspectiveSettings()
FACING = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
"""Towards the wall opposite, in the room's axes."""


def room(yaw_deg: float, *, empty: bool = False) -> RenderedScene:
    scene = random_room(np.random.default_rng(5), frames=1, width_px=480, height_px=360, path=camera_paths.static)
    poses = scene.world_from_cam.copy()
    poses[:, :3, :3] = FACING @ Rotation.from_euler("y", yaw_deg, degrees=True).as_matrix()
    return replace(scene, world_from_cam=poses, boxes=() if empty else scene.boxes)


@pytest.mark.parametrize("yaw_deg", [-20.0, 15.0])
def test_a_room_seen_aslant_shows_perspective(yaw_deg: float) -> None:
    assert shows_perspective(as_clip(room(yaw_deg)), [0], None, SETTINGS)


def test_a_wall_that_the_camera_faces_shows_none() -> None:
    assert not shows_perspective(as_clip(room(0.0, empty=True)), [0], None, SETTINGS)


def test_a_blank_picture_shows_none() -> None:
    scene = room(15.0)
    hidden = np.zeros((360, 480), dtype=bool)
    assert not shows_perspective(as_clip(scene), [0], hidden, SETTINGS)
