"""The motion of a gripper between two photos in seven numbers, in a small exact world."""

import json
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Scale
from spatial_engine.dataset.question_line import question_of
from spatial_engine.scoring import own
from templates.agent.arm_vectors import NAMES, ArmVectors
from templates.agent.hand_does import TwoPhotosOfGrip
from tests.templates import worlds
from tests.templates.agent.test_arm_plan import signals

VECTORS = ArmVectors()


def vector(frames: list[int], known: Any) -> tuple[str, list[float]]:
    facts = TwoPhotosOfGrip(frames=np.array([frames]), effector=np.array(["gripper"]))
    found = VECTORS.measure(facts, worlds.scene(known))
    return str(found.why[0]), found.value[0].tolist()


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([0, 8], [30, 0, 0, 0, 0, 0, 0]),
        ([0, 14], [30, 0, 0, 0, 0, 0, 1]),
        ([14, 20], [0, -25, 0, 0, 0, 0, 1]),
        ([14, 24], [0, -25, 0, 0, 0, 30, 1]),
        ([40, 47], [0, 0, 30, 0, 0, 0, 0]),
    ],
)
def test_seven_numbers(frames: list[int], expected: list[float]) -> None:
    """The camera is tilted by 6°, so that up is a little ahead too, and the turn has a little roll."""
    why, found = vector(frames, signals())
    assert why == "" and np.abs(np.subtract(found, expected)).max() < 3.5
    assert found[6] == expected[6]


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ([20, 24], "hardly moves"),
        ([0, 9], "half open in a photo"),
        ([8, 0], "the photos are not in order of time"),
        ([0, 60], "pose of the gripper or hand in the camera's axes not known"),
    ],
)
def test_what_is_not_asked(frames: list[int], why: str) -> None:
    assert vector(frames, signals())[0] == why


def test_right_numbers_score_1_and_no_motion_or_a_wrong_state_0() -> None:
    drafts = worlds.drafts(worlds.ask(VECTORS, signals()))
    assert len(drafts) >= 10 and {worlds.written(draft)["gripper"] for draft in drafts} == {0, 1}
    for draft in drafts:
        question = question_of(draft, (), worlds.clip())
        assert [*question.answer] == [*NAMES]
        wrong = [dict.fromkeys(NAMES, 0), {**question.answer, "gripper": 1 - question.answer["gripper"]}, {}]
        for answer, score in ((question.answer, 1), *((each, 0) for each in wrong)):
            assert own.score(question, json.dumps(answer)).value == score  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": Scale(kind="relative")},
        {"cam_from_base": None},
        {"position_sigma": np.full(48, 0.1)},
        {"rotation_sigma_rad": np.full(48, 0.2)},
    ],
)
def test_silence(changes: dict[str, object]) -> None:
    assert not worlds.ask(VECTORS, signals(**changes)).asked


def test_yaw_and_roll_are_less_sure_the_steeper_the_pitch() -> None:
    path: Any = signals()["effector_path"]
    poses, axes = path.base_from_view.copy(), path.cam_from_base[0, :3, :3]
    poses[8:, :3, :3] = axes.T @ Rotation.from_euler("x", 60, degrees=True).as_matrix() @ axes @ poses[0, :3, :3]
    facts = TwoPhotosOfGrip(frames=np.array([[0, 8]]), effector=np.array(["gripper"]))
    level, steep = (VECTORS.measure(facts, worlds.scene(known)) for known in (signals(), signals(base_from_view=poses)))
    assert steep.value[0, NAMES.index("d_pitch")] == pytest.approx(60, abs=1)
    times = dict(zip(NAMES, (steep.sigma / np.maximum(level.sigma, 1e-9))[0].tolist(), strict=True))
    assert times["d_roll"] == pytest.approx(2, rel=0.02) and times["d_yaw"] == pytest.approx(2, rel=0.02)
    assert times["d_pitch"] == pytest.approx(1) and times["dx"] == pytest.approx(1)


def test_the_frame_of_the_base_changes_nothing() -> None:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.random(rng=np.random.default_rng(0)).as_matrix(), (3, -1, 2)
    path: Any = signals()["effector_path"]
    moved = {
        "base_from_view": turned @ path.base_from_view,
        "cam_from_base": path.cam_from_base @ np.linalg.inv(turned),
    }
    for frames in ([0, 8], [14, 24], [40, 47]):
        np.testing.assert_allclose(vector(frames, signals(**moved))[1], vector(frames, signals())[1], atol=1e-9)
