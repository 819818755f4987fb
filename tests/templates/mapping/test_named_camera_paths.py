"""What is said of camera paths to which their authors gave names. Needs SPATIAL_ENGINE_DATA."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from action_mapping.primitives import COMPONENTS, PRIMITIVES
from experts.clip import Clip
from experts.signals import CameraPath, Gravity, Signal
from templates.mapping.camera_statement import holds
from templates.scene.camera_story import axes_of, camera_story
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from tests.templates import worlds

DATA = Path(os.environ.get("SPATIAL_ENGINE_DATA", "/nowhere")) / "named_camera_paths"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="SPATIAL_ENGINE_DATA names no folder")

MEANT = {
    "pan right": {"Pan Right"},
    "pan left": {"Pan Left"},
    "tilt up": {"Tilt Up"},
    "tilt down": {"Tilt Down"},
    "zoom in (moves forward)": {"Dolly In"},
    "zoom out (moves back)": {"Dolly Out"},
    "translate up, looking down": {"Pedestal Up", "Tilt Down"},
    "translate down, looking up": {"Pedestal Down", "Tilt Up"},
    "arc left": {"Truck Left", "Pan Right"},
    "arc right": {"Truck Right", "Pan Left"},
    "in (forward)": {"Dolly In"},
    "out (back)": {"Dolly Out"},
    "left": {"Truck Left"},
    "right": {"Truck Right"},
    "up": {"Pedestal Up"},
    "down": {"Pedestal Down"},
    "roll anticlockwise": {"Roll CCW"},
    "roll clockwise": {"Roll CW"},
    "arc to the right while turning left (orbit)": {"Truck Right", "Pan Left"},
}
"""The motions that a name means. One path, "turns left, then moves", says not how."""
UNREAL_TO_OPENCV = np.array([[0.0, 1, 0], [0, 0, -1], [1, 0, 0]])


def paths() -> Iterator[tuple[str, np.ndarray, float]]:
    """Name, world_from_cam in lengths of about a metre, world y down, and poses a second."""
    names = json.loads((DATA / "names.json").read_text())
    frames = json.loads((DATA / "recammaster/camera_extrinsics.json").read_text())
    for camera, name in names["recammaster"].items():
        rows = [re.findall(r"\[([^\]]*)\]", frames[f"frame{k}"][camera]) for k in range(len(frames))]
        matrix = np.array([[row.split() for row in each] for each in rows], dtype=float)
        poses = np.tile(np.eye(4), (len(matrix), 1, 1))
        poses[:, :3, :3] = UNREAL_TO_OPENCV @ matrix[:, :3, :3].swapaxes(1, 2) @ UNREAL_TO_OPENCV.T
        poses[:, :3, 3] = matrix[:, 3, :3] @ UNREAL_TO_OPENCV.T / 100
        yield name, poses, 48.0
    for path in sorted((DATA / "motionctrl").glob("*.json")):
        named = path.stem.removeprefix("test_camera_")
        name = names["motionctrl"][named if named in names["motionctrl"] else named.partition("_")[0]]
        matrix = np.array(json.loads(path.read_text()), dtype=float).reshape(-1, 3, 4)
        poses = np.tile(np.eye(4), (len(matrix), 1, 1))
        poses[:, :3] = matrix
        yield name, np.linalg.inv(poses), 10.0


def scene_of(poses: np.ndarray, fps: float, gravity: bool) -> Scene:
    """A clip on the path, which shows what is 2 to 6 units away."""
    signals, count = worlds.signals(), len(poses)
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    frames, every = np.arange(count), np.ones(count, dtype=bool)
    made: dict[str, Signal] = {
        "camera_path": replace(
            path, frames=frames, world_from_cam=poses, registered=every, keyframe=every,
            rotation_sigma_rad=np.full(count, 1e-3), position_sigma=np.full(count, 1e-4),
        ),
        "depth": worlds.slope(frames),
    }  # fmt: skip
    if gravity:
        up_cam = poses[:, :3, :3].swapaxes(1, 2) @ [0.0, -1.0, 0.0]
        known = signals["gravity"]
        assert isinstance(known, Gravity)
        made["gravity"] = replace(known, frames=frames, up_cam=up_cam, sigma_rad=np.full(count, 0.01))
    clip: Clip = replace(worlds.clip(), frames=frames, times_s=frames / fps)
    (only,) = scenes_of(clip, made)
    return only


@pytest.mark.parametrize("gravity", [True, False])
def test_statements_agree_with_the_names_of_paths(gravity: bool) -> None:
    """Of every path the motions that its name means are claimed, and no others."""
    told = 0
    moves = [primitive.name for primitive in PRIMITIVES if primitive.component in COMPONENTS]
    for name, poses, fps in paths():
        scene = scene_of(poses, fps, gravity)
        story = camera_story(scene, np.array([0, len(poses) - 1]), axes_of(scene))
        if name not in MEANT:
            continue
        told += not story.why
        if not story.why:
            assert {move for move in moves if holds(move, story.parts)} == MEANT[name], name
            for one, other in permutations(MEANT[name], 2):
                assert holds(f"{one} while {other}", story.parts), name
    assert told >= 20, "0.2 times the speed is hardly seen, and an arc with a way ahead has no simple name"
