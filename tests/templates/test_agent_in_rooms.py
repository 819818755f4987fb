"""Navigation and exploration in rendered rooms, answered again from the true poses and from rays into the room."""

from collections.abc import Mapping

import numpy as np
import pytest

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, seeds

AXES = ("Truck Right", "Truck Left", "Pedestal Down", "Pedestal Up", "Dolly In", "Dolly Out")
ANGLES = ("Pan Right", "Pan Left", "Tilt Up", "Tilt Down", "Roll CW", "Roll CCW")


def amounts(scene: RenderedScene, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Right, down and forwards in m; pan, tilt and roll in rad: of the optical axis, and of the sensor's rows."""
    first, second = scene.world_from_cam[a], scene.world_from_cam[b]
    turn = first[:3, :3].T @ second[:3, :3]
    x, y, z = turn[:, 2]
    pan = np.arctan2(x, z)
    level = np.array([np.cos(pan), 0, -np.sin(pan)])
    roll = np.arctan2(np.cross(level, turn[:, 0]) @ turn[:, 2], level @ turn[:, 0])
    return first[:3, :3].T @ (second[:3, 3] - first[:3, 3]), np.array([pan, np.arcsin(-y), roll])


def largest(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """It exceeds both others by far; a turn is visible."""
    moved, turned = amounts(scene, fact["frame_from"], fact["frame_to"])
    each, names = (moved, AXES) if fact["kind"] == "move" else (turned, ANGLES)
    least, axis = np.sort(np.abs(each))[1] / 0.72, int(np.abs(each).argmax())
    clear = abs(each[axis]) > max(least, np.radians(9.8) if fact["kind"] == "turn" else 0.0)
    return bool(clear) and answer == names[2 * axis + int(each[axis] < 0)]


RIGHT = {"first_move": largest}


@seeds(1, 12)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=2), RIGHT, {*RIGHT})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, {"first_move"})


@pytest.mark.parametrize("wrong", ["Truck Left", "Dolly Out", "Pedestal Up"])
def test_the_evaluator_tells_moves_apart(wrong: str) -> None:
    scene = furnished_room(np.random.default_rng(0), frames=16, width_px=240, height_px=180)
    found = {name for name in AXES if largest(scene, {"frame_from": 0, "frame_to": 12, "kind": "move"}, name)}
    assert len(found) <= 1 and wrong not in found
