import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.official_dialect import official_replay
from action_mapping.primitives import PRIMITIVES
from spatial_engine.scoring.official.steps import execute, rotation_between_rad, segment_keys, step_sizes, truth_path
from tests.spatial_engine.scoring.golden import cases

SYMBOLS = [p.symbol for p in PRIMITIVES]
START = [1.0, -2.0, 3.0, 0.1, -0.5, 0.3, 0.8]


def same_pose(ours: Any, theirs: Any) -> bool:
    """Quaternions up to sign."""
    sign = math.copysign(1, sum(a * b for a, b in zip(ours[3:], theirs[3:], strict=True)))
    return bool(np.allclose([*ours[:3], *(sign * q for q in ours[3:])], theirs, rtol=0, atol=1e-9))


@pytest.mark.parametrize("case", cases("actions"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    given = case["input"]
    if case["exception"]:
        with pytest.raises({"TypeError": TypeError, "ValueError": ValueError}[case["exception"]]):
            done = execute(given["initial_pose"], given, (given["translation_step_size"], given["rotation_step_size"]))
            rotation_between_rad(done.pose, given["initial_pose"])
    elif "plan" not in given:
        done = execute(given["initial_pose"], given, (given["translation_step_size"], given["rotation_step_size"]))
        assert same_pose(done.pose, case["final_pose_reference"])


@given(st.lists(st.tuples(st.sampled_from(SYMBOLS), st.integers(-20, 20)), max_size=6))
@settings(max_examples=25)
def test_it_is_the_official_dialect_of_our_actions(steps: list[tuple[str, int]]) -> None:
    plan = {"actions": [symbol for symbol, _ in steps], "step_nums": [count for _, count in steps]}
    start = RigidTransform.from_components(START[:3], Rotation.from_quat(START[3:])).as_matrix()
    theirs = RigidTransform.from_matrix(
        official_replay(start, *plan.values(), translation_step=0.1, rotation_step_rad=0.2)
    )
    assert same_pose(
        execute(START, plan, (0.1, 0.2)).pose, [*theirs.translation.tolist(), *theirs.rotation.as_quat().tolist()]
    )


def test_an_angle_is_between_orientations_however_long_the_quaternions() -> None:
    turned = [0.0, 0.0, 0.0, *(3 * Rotation.from_euler("y", 50, degrees=True).as_quat()).tolist()]
    assert rotation_between_rad([9, 9, 9, 0, 0, 0, -2], turned) == pytest.approx(math.radians(50))
    with pytest.raises(ValueError, match="length zero"):
        rotation_between_rad([0.0] * 7, turned)


@pytest.mark.parametrize(
    ("actions", "step_nums", "moved"),
    [
        ([], [], False), (["Q", "Dolly In"], [3, 3], False), (["W"], [0], False), (["STOP"], [0], False),
        (["STOP"], [2], True), (["W"], [], True), (["W", "S"], [2, 2], True), (["Q", "W"], [0, 1], True),
    ],
)  # fmt: skip
def test_executed_is_what_is_known_and_counts(actions: list[str], step_nums: list[int], moved: bool) -> None:
    assert execute(START, {"actions": actions, "step_nums": step_nums}, (0.1, 0.1)).moved is moved


@pytest.mark.parametrize(
    ("poses", "error"),
    [
        ([], IndexError), ([0.0] * 7, IndexError), ([[0.0] * 7, [0.0] * 6], ValueError), ([[0.0] * 6] * 2, ValueError),
        ([["0"] * 7] * 2, TypeError), ([[None] * 7] * 2, ValueError), ([[10**400] * 7] * 2, ValueError),
    ],
)  # fmt: skip
def test_a_path_must_be_numbers_seven_a_pose(poses: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        truth_path({"optimal_rel_pose": poses})


def test_segments_are_sorted_by_number_and_step_sizes_have_defaults() -> None:
    assert segment_keys({"10->11": {}, "2->3": {}, "id": 0}) == ["2->3", "10->11"]
    assert step_sizes({}) == (0.02, math.radians(0.5))
    assert step_sizes({"translation_step_size": 0.1}) == (0.1, math.radians(0.5))
