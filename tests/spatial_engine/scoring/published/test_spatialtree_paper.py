"""The paper's own score of plans: 1 for the true steps, less for each step that is wrong, missing or one too many."""

import json
from typing import Any

import numpy as np
import pytest

from spatial_engine.scoring import strict
from spatial_engine.scoring.published import spatialtree_paper

STEP = {"translation_step_size": 0.1, "rotation_step_size": 0.1}
START = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def row(*poses: list[float], **more: Any) -> dict[str, Any]:
    return {"optimal_rel_pose": [START, *poses], **{f"{i}->{i + 1}": STEP for i in range(len(poses))}, **more}


def at(x: float, y: float, z: float, pan_rad: float = 0.0) -> list[float]:
    return [x, y, z, 0.0, float(np.sin(pan_rad / 2)), 0.0, float(np.cos(pan_rad / 2))]


def plan(*steps: tuple[str, int], **more: Any) -> dict[str, Any]:
    return {"actions": [action for action, _ in steps], "step_nums": [count for _, count in steps], **more}


def manipulation(extra: dict[str, Any], *steps: dict[str, Any]) -> dict[str, Any]:
    response = json.dumps({f"step_{place}": step for place, step in enumerate(steps, 1)})
    return spatialtree_paper.manipulateeval(response, "", extra)


def test_thirty_degrees_off_at_full_length() -> None:
    extra = row(at(0.25, 0, 0.5 * np.sqrt(0.75)))
    s_d, cosine = 1 - 2 * np.sin(np.radians(15)), np.cos(np.radians(30))
    response = json.dumps(plan(("W", 5)))
    assert s_d * cosine == pytest.approx(0.418, abs=5e-4)
    assert spatialtree_paper.agenticnaveval(response, "", extra)["score"] == pytest.approx(s_d * cosine)
    assert strict.agenticnaveval(response, "", extra)["detail"]["s_step"] == pytest.approx(s_d * cosine)


def test_navigation_is_the_one_step_to_the_last_pose() -> None:
    extra = row(at(3, 3, 3, 1.0), at(3 + 0.5 * np.sin(1.0), 3, 3 + 0.5 * np.cos(1.0), 1.0))
    assert spatialtree_paper.agenticnaveval(json.dumps(plan(("W", 5))), "", extra)["score"] == pytest.approx(1)
    assert spatialtree_paper.agenticnaveval(json.dumps(plan(("W", 4))), "", extra)["score"] == pytest.approx(0.8)
    assert spatialtree_paper.agenticnaveval(json.dumps(plan(("S", 5))), "", extra)["score"] == 0


PATH = row(at(0, 0, 0.5), at(0, 0, 0.5, 0.5), at(0.5 * np.sin(0.5), 0, 0.5 + 0.5 * np.cos(0.5), 0.5))
TRUE = (plan(("W", 5)), plan(("→", 5)), plan(("W", 5)))


def test_the_true_steps_score_1() -> None:
    assert manipulation(PATH, *TRUE)["score"] == pytest.approx(1)


def test_each_step_counts_the_same_and_in_its_own_frame() -> None:
    backwards = manipulation(PATH, TRUE[0], TRUE[1], plan(("S", 5)))
    assert (backwards["detail"]["s_step"], backwards["detail"]["s_rot"]) == pytest.approx((2 / 3, 1))
    unturned = manipulation(PATH, TRUE[0], plan(("STOP", 1)), TRUE[2])  # the last step is right, whatever came before
    assert (unturned["detail"]["s_step"], unturned["detail"]["s_rot"]) == pytest.approx((1, 1 - 0.5 / np.pi / 3))


def test_steps_missing_and_steps_too_many_score_0() -> None:
    assert manipulation(PATH, *TRUE[:2])["score"] == pytest.approx(2 / 3)
    assert manipulation(PATH, *TRUE, plan(("W", 1)))["score"] == pytest.approx(3 / 4)


def test_the_gripper_is_a_third_term() -> None:
    extra = row(at(0, 0, 0.5), at(0, 0, 1.0), gripper=[0, 1])
    right = [plan(("W", 5), gripper=state) for state in (0, 1)]
    assert manipulation(extra, *right)["score"] == pytest.approx(1)
    assert manipulation(extra, right[0], right[0])["score"] == pytest.approx((1 + 1 + 0.5) / 3)


@pytest.mark.parametrize("response", ["", "{}", '{"actions": ["W"], "step_nums": [NaN]}', "I cannot tell."])
def test_no_plan_no_score(response: str) -> None:
    for metric in (spatialtree_paper.agenticnaveval, spatialtree_paper.manipulateeval):
        result = metric(response, "", PATH)
        assert result["score"] == 0 and result["detail"]["unread"]
