"""Strict metrics: the right answer scores 1, worse answers less, and nothing raises or leaves 0..1."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring import strict

METRICS = ("gravityeval", "multichoiceeval", "meanrelativeacc", "judgemodel", "aff_mask_metric", "cogmapeval",
           "gpteval", "agenticnaveval", "manipulateeval")  # fmt: skip
OPTIONS = {"option": ["A. chair", "B. table", "C. desk", "D. sofa"]}
TRUE = {"roll": 2.5, "pitch": -10.0, "vfov": 60.0}
SIGMA = {"roll_unc": 1.0, "pitch_unc": 2.0, "vfov_unc": 10.0}
STEP = {"translation_step_size": 0.05, "rotation_step_size": 0.05}
MOVES = ("W", "S", "A", "D", "space", "shift", "→", "←", "↑", "↓", "↻", "↺")


def reply(actions: list[str], counts: list[int]) -> str:
    return json.dumps({"actions": actions, "step_nums": counts})


def reached(*segments: tuple[list[str], list[int]]) -> list[list[float]]:
    """Poses that the segments lead to, as rows have them."""
    from scipy.spatial.transform import Rotation

    from action_mapping.plan import read_plan
    from action_mapping.replay import replay

    pose = np.eye(4)
    poses = [pose]
    for actions, counts in segments:
        pose = replay(pose, read_plan(actions, counts, translation_step=0.05, rotation_step_rad=0.05))
        poses.append(pose)
    return [[*pose[:3, 3].tolist(), *Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()] for pose in poses]


def row(poses: list[list[float]], **more: Any) -> dict[str, Any]:
    return {"optimal_rel_pose": poses, **{f"{i}->{i + 1}": STEP for i in range(len(poses) - 1)}, **more}


segments = st.lists(st.sampled_from(MOVES), min_size=1, max_size=4).flatmap(
    lambda actions: st.tuples(
        st.just(actions), st.lists(st.integers(0, 10), min_size=len(actions), max_size=len(actions))
    )
)


@settings(max_examples=50, deadline=None)
@given(segments)
def test_a_navigation_plan_that_leads_to_the_goal_scores_1(segment: tuple[list[str], list[int]]) -> None:
    poses = reached(([], []), segment)
    still = np.allclose(poses[1], poses[2], atol=1e-9)
    score = strict.agenticnaveval(reply(*segment), "", row(poses))["score"]
    assert score == pytest.approx(1.0) or still


@settings(max_examples=40, deadline=None)
@given(st.lists(segments, min_size=1, max_size=3))
def test_a_manipulation_plan_that_leads_to_the_goal_scores_1(steps: list[tuple[list[str], list[int]]]) -> None:
    plan = {
        f"step_{place + 1}": {"actions": a, "step_nums": n, "gripper": place % 2} for place, (a, n) in enumerate(steps)
    }
    extra = row(reached(*steps), gripper=[place % 2 for place in range(len(steps))])
    result = strict.manipulateeval(json.dumps(plan), "", extra)
    assert result["score"] == pytest.approx(1.0) or not result["detail"]["moved"]


def test_the_nearer_a_plan_ends_the_better() -> None:
    extra = row(reached((["W"], [10])))
    scores = [strict.manipulateeval(reply(["W"], [count]), "", extra)["score"] for count in range(11)]
    assert scores == sorted(scores)
    assert scores[0] == 0.0
    turned = row(reached((["W", "→"], [5, 10])))
    scores = [strict.manipulateeval(reply(["W", "→"], [5, count]), "", turned)["score"] for count in range(11)]
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "response",
    ["", "{}", "[]", "null", reply([], []), reply(["STOP"], [3]), reply(["W"], [0]), '{"actions": ["W"]}',
     '{"actions": ["W"], "step_nums": [NaN]}', '{"actions": ["W"], "step_nums": [Infinity]}',
     reply(["fly"], [3]), reply(["W"], [11]), reply(["W"], [-1]), '{"actions": ["W"], "step_nums": [1.5]}',
     '{"step_1": {"actions": ["W"]}}', "I cannot see the goal."],
)  # fmt: skip
@pytest.mark.parametrize("metric", ["agenticnaveval", "manipulateeval"])
def test_no_plan_no_score(metric: str, response: str) -> None:
    assert getattr(strict, metric)(response, "", row(reached(([], []), (["W"], [5]))))["score"] == 0.0


def test_staying_is_right_where_the_goal_is_the_start() -> None:
    extra = row(reached(([], []), ([], [])))
    assert strict.agenticnaveval(reply(["STOP"], [1]), "", extra)["score"] == 1.0
    assert strict.agenticnaveval("{}", "", extra)["score"] == 0.0


def test_gravity_is_right_at_the_truth_and_falls_with_the_error() -> None:
    answer = json.dumps(TRUE)
    assert strict.gravityeval(answer, answer, SIGMA)["score"] == 1.0
    scores = [strict.gravityeval(json.dumps({**TRUE, "roll": 2.5 + off}), answer, SIGMA)["score"] for off in range(9)]
    assert scores == sorted(scores, reverse=True)


@settings(deadline=None)
@given(st.floats(-1e6, 1e6), st.integers(-3, 3))
def test_full_turns_change_nothing(roll: float, turns: int) -> None:
    answer = json.dumps({**TRUE, "roll": 10.0})
    once, again = (
        strict.gravityeval(json.dumps({**TRUE, "roll": said}), answer, SIGMA)["score"]
        for said in (roll, roll + 360.0 * turns)
    )
    assert once == pytest.approx(again, abs=1e-6)


@settings(deadline=None)
@given(st.floats(0.01, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_relative_accuracy_falls_with_the_error(true: float, first: float, second: float) -> None:
    near, far = sorted((first, second), key=lambda said: abs(said - true))
    scores = [strict.meanrelativeacc(f"{said!r}", true, {})["score"] for said in (near, far)]
    assert scores[0] >= scores[1]
    assert strict.meanrelativeacc(f"{true!r}", true, {})["score"] == 1.0


def test_a_row_at_fault_is_named() -> None:
    for result in (
        strict.multichoiceeval("B", "F", OPTIONS),
        strict.multichoiceeval("B", None, OPTIONS),
        strict.meanrelativeacc("5", "nan", {}),
        strict.judgemodel("yes", "maybe", {}),
        strict.gravityeval("{}", json.dumps(TRUE), {}),
        strict.aff_mask_metric("[1, 1]", "no picture", {}),
        strict.cogmapeval("B", "B", {"cogmap": "{}"}),
        strict.agenticnaveval("{}", "", {}),
        strict.agenticnaveval("{}", "", row([[0, 0, 0, 0, 0, 0, 0]] * 2)),
        strict.manipulateeval("{}", "", {"optimal_rel_pose": reached((["W"], [1]))}),
    ):
        assert result["score"] == 0.0
        assert result["detail"]["fault"]


def test_what_was_not_read_is_named() -> None:
    assert strict.multichoiceeval("I don't know", "B", OPTIONS)["detail"] == {"unread": "refused"}
    assert strict.multichoiceeval(None, "B", OPTIONS)["detail"] == {"unread": "empty"}


def test_a_judge_is_kept_to_its_scale() -> None:
    assert strict.gpteval('```json\n{"answer_score": [[0.85]], "reason": "ok"}\n```')["score"] == 0.85
    assert strict.gpteval("0.7")["score"] == 0.7
    assert strict.gpteval('{"answer_score": -0.5}')["score"] == 0.0
    assert strict.gpteval('{"answer_score": NaN}')["score"] == 0.0


def test_cognitive_map() -> None:
    true = {name: {"position": at} for name, at in {"a": [0, 0], "b": [4, 0], "c": [4, 5], "d": [0, 9]}.items()}
    extra = {"cogmap": true}
    assert strict.cogmapeval(f"{json.dumps(true)}\nAnswer: B", "B", extra)["score"] == pytest.approx(1.0)
    turned = {name: {"position": [-thing["position"][1], thing["position"][0]]} for name, thing in true.items()}
    assert strict.cogmapeval(f"{json.dumps(turned)}\nAnswer: B", "B", extra)["score"] == pytest.approx(1.0)
    half = {name: true[name] for name in ("a", "b")}
    assert strict.cogmapeval(f"{json.dumps(half)}\nAnswer: B", "B", extra)["score"] == pytest.approx(0.2 + 0.6 * 0.5)


junk = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["roll", "roll_unc", "option", "cogmap", "optimal_rel_pose", "0->1", "gripper", "objects", "a"]
            )
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=30, deadline=None)
@given(response=junk | junk.map(json.dumps), answer=junk, extra=junk)
def test_anything_is_borne(metric: str, response: Any, answer: Any, extra: Any) -> None:
    result = getattr(strict, metric)(response, answer, extra)
    assert 0.0 <= result["score"] <= 1.0
    assert math.isfinite(result["score"])
    json.dumps(result, allow_nan=False)
