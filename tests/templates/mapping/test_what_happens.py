"""Which object approaches or leaves which in a video."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.mapping.what_happens import WhatHappens, in_words
from templates.scene.encounters import encounter, meeting
from templates.scene.passing import passing
from tests.templates import worlds

HAPPENS = WhatHappens()
T = np.linspace(0, 1, len(worlds.FRAMES))


def stage(robot_y: np.ndarray, cart_y: np.ndarray | None = None) -> dict[str, Signal]:
    """A robot and a cart on a line away from the camera, between a lamp in front and a sofa behind."""
    signals = worlds.with_movers(worlds.signals(poses=np.tile(worlds.camera_poses()[:1], (len(T), 1, 1))))
    objects = signals["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    labels, poses = ("lamp", "sofa", "robot", "cart"), np.tile(np.eye(4), (len(T), 4, 1, 1))
    poses[:, :, 0, 3] = [-0.5, -0.5, -0.1, 0.8]
    poses[:, :2, 1, 3] = 2.5, 9.0
    poses[:, 2, 1, 3] = robot_y
    poses[:, 3, 1, 3] = np.full(len(T), 5.0) if cart_y is None else cart_y
    placed = replace(
        objects, labels=labels, world_from_object=poses, size=np.full((4, 3), 0.4), box_px=None, ids=worlds._no_masks(),
        centre_sigma=None, size_sigma=None, outlier_probability=None,
    )  # fmt: skip
    return worlds.detected({**signals, "objects": placed})


def told(signals: dict[str, Signal]) -> set[str]:
    found = worlds.drafts(worlds.ask(HAPPENS, signals))
    return {str(draft.options[draft.written].shown) for draft in found}  # type: ignore[index]


def test_the_robot_goes_from_the_lamp_to_the_sofa() -> None:
    found = told(stage(3.5 + 4 * T))
    assert {one for one in found if "lamp" in one and "sofa" in one} <= {
        "The robot approaches the sofa and moves away from the lamp.",
        "The robot moves away from the lamp and approaches the sofa.",
    }
    assert any("moves away from the lamp" in one for one in found)
    assert not any("approaches the lamp" in one or "approaches the cart and the lamp" in one for one in found)
    back = told(stage(7.5 - 4 * T))
    assert back and not any("approaches the sofa" in one or "moves away from the lamp" in one for one in back)


def test_of_two_that_move_in_the_clip_the_one_that_moves_in_the_video_is_the_agent() -> None:
    late = np.clip(2 * T - 1, 0, 1)
    found = told(stage(7.6 - 2.2 * np.clip(2 * T, 0, 1), 5.0 - 1.5 * late))
    assert {"The robot approaches the cart."} <= found
    assert not found & {"The cart approaches the robot.", "The robot moves away from the cart."}


@pytest.mark.parametrize(
    ("robot_y", "why"),
    [
        (3.5 + 0 * T, "neither object moves visibly"),
        (3.5 + 0.1 * T, "neither object moves visibly"),
        (3.5 + 3 * np.abs(np.sin(9 * T)), "the distance of the objects changes too little or too often"),
        (np.where(T > 0.5, np.nan, 3.5 + T), "the places of the objects are not known"),
    ],
)
def test_what_is_not_clear_is_not_told(robot_y: np.ndarray, why: str) -> None:
    scene = worlds.scene(stage(robot_y))
    assert encounter(scene, worlds.FRAMES, 2, 0).why == why


def test_first_nearer_and_then_away() -> None:
    scene = worlds.scene(stage(7.0 - 3 * np.sin(np.pi * T)))
    assert encounter(scene, worlds.FRAMES, 0, 2).phases == ("approaches", "leaves")
    assert encounter(scene, worlds.FRAMES, 0, 2).mover == 1
    assert encounter(scene, worlds.FRAMES, 2, 1).phases == ("leaves", "approaches")


def test_neither_world_nor_unit_matters() -> None:
    signals = stage(3.5 + 4 * T)
    objects, path = signals["objects"], signals["camera_path"]
    assert isinstance(objects, Objects) and objects.size is not None
    turned = np.diag([-2.0, -2.0, 2.0, 1.0])
    poses, cameras = turned @ objects.world_from_object, turned @ path.world_from_cam  # type: ignore[attr-defined]
    poses[..., :3, :3] /= 2
    cameras[..., :3, :3] /= 2
    moved = {**signals, "objects": replace(objects, world_from_object=poses, size=2 * objects.size)}
    assert told(worlds.with_path(moved, world_from_cam=cameras)) == told(signals)


def test_objects_that_may_be_different_ones_are_not_asked_about() -> None:
    signals = stage(3.5 + 4 * T)
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    assert not told({**signals, "objects": replace(objects, outlier_probability=np.full(4, 0.001))})


def test_where_another_object_of_the_name_may_be_there_nothing_is_asked() -> None:
    signals = stage(3.5 + 4 * T)
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    every = told(signals)
    assert every and told({**signals, "objects": replace(objects, complete=("robot", "cart", "lamp"))}) == every
    for complete in ((), ("robot", "cart")):
        assert not told({**signals, "objects": replace(objects, complete=complete)})


def test_words() -> None:
    assert in_words("2 approaches leaves", "robot", "cart", "") == (
        "First the cart approaches the robot, then it moves away from it."
    )
    assert in_words("1 leaves leaves", "robot", "lamp", "sofa") == "The robot moves away from the lamp and the sofa."


@pytest.mark.parametrize(
    ("robot_y", "cart_y", "code"),
    [
        (3.0 + 2.0 * T, 7.0 - 1.5 * T, "meet"),
        (5.0 - 2.0 * T, 5.5 + 1.5 * T, "part"),
        (2.5 + 1.0 * T, 8.0 - 1.5 * T, "come_nearer"),
        (3.5 - 1.0 * T, 6.5 + 1.5 * T, "go_farther"),
        (3.0 + 1.75 * T, 7.0 - 1.4 * T, ""),
        (3.0 + 2.5 * T, 5.9 + 0.0 * T, ""),
    ],
)
def test_two_that_move_meet_or_part_or_neither(robot_y: np.ndarray, cart_y: np.ndarray, code: str) -> None:
    """Cubes of 0.4 in one line: together with a gap of less than 0.2, apart with one of more than 0.6."""
    signals = stage(robot_y, cart_y)
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    poses = objects.world_from_object.copy()
    poses[:, 3, 0, 3] = -0.1
    in_line = replace(objects, world_from_object=poses)
    found = meeting(worlds.scene({**signals, "objects": in_line}), worlds.FRAMES, 2, 3)
    assert found.code == code, found.why
    unsure = replace(in_line, centre_sigma=np.full(4, 0.5))
    assert meeting(worlds.scene({**signals, "objects": unsure}), worlds.FRAMES, 2, 3).why


@pytest.mark.parametrize(
    ("x", "code"), [(0.5, "between"), (-1.4, "past_first"), (2.6, "past_second"), (-0.4, ""), (9.0, "")]
)
def test_one_passes_between_two_or_past_either(x: float, code: str) -> None:
    """The lamp stands at x = -0.5, the sofa at 1.5, both at y = 5; the robot goes from y = 3.5 to 6.5, or to 4."""
    for far, told in ((6.5, code), (4.2, "one_side")):
        signals = stage(3.5 + (far - 3.5) * T)
        objects = signals["objects"]
        assert isinstance(objects, Objects)
        poses = objects.world_from_object.copy()
        poses[:, :2, 0, 3], poses[:, :2, 1, 3], poses[:, 2, 0, 3] = (-0.5, 1.5), 5.0, x
        scene = worlds.scene({**signals, "objects": replace(objects, world_from_object=poses)})
        assert passing(scene, worlds.FRAMES, 2, 0, 1).code == told
        mirror = {"past_first": "past_second", "past_second": "past_first"}
        assert passing(scene, worlds.FRAMES, 2, 1, 0).code == mirror.get(told, told)
        unsure = replace(objects, world_from_object=poses, centre_sigma=np.full(4, 0.4))
        assert passing(worlds.scene({**signals, "objects": unsure}), worlds.FRAMES, 2, 0, 1).why
