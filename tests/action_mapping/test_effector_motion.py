"""Effector poses with known axes get the names of camera motion; events of fingers are found."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from action_mapping.effector_motion import (
    action_frame,
    closed_states,
    effector_actions,
    effector_events,
    effector_pose,
    view_path,
)
from action_mapping.reading import camera_motion
from action_mapping.rigid import PoseError
from tests.action_mapping.paths import posed, walk

FORWARD, BACK, STILL = [0, 0, 0, 0, 0, 0.2], [0, 0, 0, 0, 0, -0.2], [0] * 6


def test_axes_name_the_motion_of_a_tool_that_looks_along_x() -> None:
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[1, :3, 3] = 0.1, 0.2, 0.3  # x forward, y left, z up
    motion = camera_motion(*(view[None] for view in view_path(poses, axes="-y,-z,+x")))[0]
    assert motion[3:] == pytest.approx([-0.2, -0.3, 0.1])


def test_a_camera_on_the_wrist_gives_the_same_as_its_axes() -> None:
    poses, _ = walk(np.random.default_rng(0).normal(size=(5, 6)))
    cam_from_effector = np.eye(4)
    cam_from_effector[:3, :3] = [[0, -1, 0], [0, 0, -1], [1, 0, 0]]
    np.testing.assert_allclose(
        view_path(poses, cam_from_effector=cam_from_effector), view_path(poses, axes="-y,-z,+x"), atol=1e-12
    )


@pytest.mark.parametrize("axes", ["", "x,y,z", "+x,+y", "+x,+x,+z", "+y,+x,+z", "+x,+y,+z,+x"])
def test_axes_must_be_three_and_right_handed(axes: str) -> None:
    with pytest.raises(PoseError, match="axes must be"):
        view_path(np.eye(4)[None], axes=axes)


def test_axes_are_never_guessed() -> None:
    with pytest.raises(PoseError, match="give either"):
        view_path(np.eye(4)[None])


def test_events_of_a_grasp() -> None:
    poses, _ = walk([FORWARD] * 30 + [STILL] * 30 + [FORWARD] * 30 + [BACK] * 30 + [STILL] * 30)
    opening = np.r_[np.ones(40), np.linspace(1, 0, 11), np.zeros(80), np.linspace(0, 1, 11), np.ones(9)]
    opening = opening[: len(poses)]
    found = [event.primitive.name for event in effector_events(poses, opening, effector="gripper")]
    assert found == ["Gripper Close", "Push", "Pull", "Gripper Open"]
    hand = [event.primitive.name for event in effector_events(poses, opening, effector="hand")]
    assert hand == ["Grab", "Push", "Pull", "Release"]


def test_hysteresis_ignores_a_trembling_gripper() -> None:
    trembling = 0.5 + 0.15 * np.sin(np.arange(100))
    for start in (0.0, 1.0):
        closed = closed_states(np.append(start, trembling))
        assert set(closed.tolist()) == {start < 0.5}


@pytest.mark.parametrize("bad", [math.nan, 2.0, -1.0])
def test_an_opening_lies_between_0_and_1(bad: float) -> None:
    with pytest.raises(PoseError, match="opening"):
        closed_states(np.array([0.0, bad]))


def test_seven_numbers_lead_from_pose_to_pose() -> None:
    poses, _ = walk(np.random.default_rng(1).normal(size=(20, 6)) * 3)
    actions = effector_actions(poses, np.r_[np.ones(10), np.zeros(11)])
    assert actions[:, 6].tolist() == [0.0] * 9 + [1.0] * 11
    for start, end, action in zip(poses, poses[1:], actions, strict=False):
        np.testing.assert_allclose(effector_pose(start, action), end, atol=1e-9)


@pytest.mark.parametrize("frame", ["base delta", "effector delta", "base target"])
def test_the_frame_of_actions_is_found_from_data(frame: str) -> None:
    rng = np.random.default_rng(0)
    poses = np.stack(
        [posed(30 * k, 10 * k, 5 * k, 0.4 + 0.02 * np.cumsum(rng.normal(size=(20, 3)), 0)[k]) for k in range(20)]
    )
    ways = np.diff(poses[:, :3, 3], axis=0)
    commanded = {
        "base delta": ways,
        "effector delta": np.einsum("nji,nj->ni", poses[:-1, :3, :3], ways),
        "base target": poses[1:, :3, 3].copy(),
    }[frame]
    reading = action_frame(poses[:-1], poses[1:], commanded + 0.003 * rng.normal(size=ways.shape))
    assert reading.frame == frame


def test_the_frame_is_undecided_if_the_effector_does_not_rotate() -> None:
    poses, _ = walk([FORWARD] * 10)
    assert action_frame(poses[:-1], poses[1:], np.diff(poses[:, :3, 3], axis=0)).frame is None
    assert action_frame(poses[:-1], poses[1:], np.random.default_rng(0).normal(size=(10, 3))).frame is None
    assert Rotation.from_matrix(poses[-1, :3, :3]).magnitude() == 0.0
