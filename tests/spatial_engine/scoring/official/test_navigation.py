import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.official import agenticnaveval
from spatial_engine.scoring.official.steps import execute
from tests.spatial_engine.scoring.golden import agrees, cases

SIZES = {"translation_step_size": 0.05, "rotation_step_size": 0.1}
START = [0.1, 0.2, 0.3, 0.0, 0.1, 0.0, 1.0]
SYMBOLS = ("W", "S", "A", "D", "space", "shift", "←", "→", "↑", "↓", "↺", "↻", "STOP")
PAID_FOR_NOTHING = {f"agenticnaveval-{n:03}" for n in (7, 13, 17, 18, 19, 47, 49, 51, 52, 78, 95, 121, 123, 127)}
"""Vectors of which the reference pays a plan that did nothing, or steps that are not finite."""

steps = st.lists(st.tuples(st.sampled_from(SYMBOLS), st.integers(1, 10)), min_size=1, max_size=5)
pieces = st.lists(
    st.sampled_from(('{"actions": ', '["W"]', '"step_nums": ', "[3]", "[NaN]", "{", "}", "[", "]", ",", "```json",
                     "```", "'", '"', "null", "1e999", "W", "\\", "(1,)", "1j")),
    max_size=12,
).map("".join)  # fmt: skip


def plan(steps: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
    return {"actions": [symbol for symbol, _ in steps], "step_nums": [count for _, count in steps]}


def hint(goal: Sequence[float]) -> dict[str, Any]:
    return {"optimal_rel_pose": [[0, 0, 0, 0, 0, 0, 1], START, list(goal)], "0->1": {}, "1->2": SIZES}


def goal_of(steps: Sequence[tuple[str, Any]]) -> Sequence[float]:
    return execute(START, plan(steps), (0.05, 0.1)).pose


FAR = hint(goal_of([("W", 10), ("D", 3), ("→", 2)]))


@pytest.mark.parametrize("case", cases("agenticnaveval"))
def test_equals_the_reference_and_by_default_pays_nothing_for_nothing(case: dict[str, Any]) -> None:
    ours = agenticnaveval(**case["input"], unsafe=True)
    assert agrees(ours["score"], case["pipeline_score"])
    assert agrees(ours, case["output"] or {})
    assert ours["detail"].get("reference_exception") == case["exception"]
    default = agenticnaveval(**case["input"])
    if case["id"] in PAID_FOR_NOTHING:
        assert default["score"] == 0
        assert agrees(default["detail"]["reference_score"], case["pipeline_score"])
        assert default["detail"]["refused"] in ("nothing was executed", "a step is not finite")
    else:
        assert agrees(default["score"], case["pipeline_score"])


@settings(max_examples=25)
@given(steps)
def test_the_plan_that_made_the_goal_scores_one(steps: list[tuple[str, int]]) -> None:
    for text in (json.dumps(plan(steps)), f"So:\n```json\n{json.dumps(plan(steps))}\n```", str(plan(steps))):
        assert agenticnaveval(text, "", hint(goal_of(steps)))["score"] == pytest.approx(1)


@given(st.integers(0, 10), st.integers(0, 10))
def test_overshooting_further_is_never_better(a: int, b: int) -> None:
    near, far = sorted((a, b))
    goal = hint(goal_of([("W", 3)]))
    scores = [agenticnaveval(json.dumps(plan([("W", 3 + more)])), "", goal)["score"] for more in (near, far)]
    assert scores[0] >= scores[1]


@given(st.text() | pieces)
def test_arbitrary_text_gives_a_number_from_0_to_1(text: str) -> None:
    for unsafe in (False, True):
        assert 0 <= agenticnaveval(text, "", FAR, unsafe=unsafe)["score"] <= 1


@pytest.mark.parametrize("count", [float("nan"), float("inf"), float("-inf")])
def test_steps_that_are_not_finite_pay_nothing(count: float) -> None:
    text = json.dumps(plan([("W", count), ("S", count)]))
    assert agenticnaveval(text, "", FAR)["score"] == 0
    assert agenticnaveval(text, "", FAR, unsafe=True)["score"] > 0
    many = json.dumps(plan([("W", 1e308)] * 100 + [("S", 1e308)] * 100))  # finite, each of them
    assert agenticnaveval(many, "", FAR)["detail"]["refused"] == "a step is not finite"


def test_what_is_not_used_need_not_be_finite() -> None:
    text = json.dumps(plan([("Q", float("nan")), ("W", 3)]))
    assert agenticnaveval(text, "", FAR) == agenticnaveval(text, "", FAR, unsafe=True)


def test_staying_is_a_plan_but_an_empty_one_is_not() -> None:
    here = hint(START)
    assert agenticnaveval(json.dumps(plan([("STOP", 1)])), "", here)["score"] == pytest.approx(1)
    assert agenticnaveval("{}", "", here)["score"] == 0
    assert agenticnaveval("{}", "", here, unsafe=True)["score"] == pytest.approx(1)


def test_a_truth_that_is_not_a_number_pays_nobody() -> None:
    text = json.dumps(plan([("W", 3)]))
    truth = hint([float("nan"), 0, 0, 0, 0, 0, 1])
    assert agenticnaveval(text, "", truth)["detail"]["refused"] == "the score is not a number"
    assert agenticnaveval(text, "", truth, unsafe=True)["score"] == 1


def test_numbers_of_python_literals_are_numbers() -> None:
    assert agenticnaveval("{'actions': ('W',), 'step_nums': {0: 3}}", "", FAR)["score"] > 0.3
    assert agenticnaveval("{'actions': ['W'], 'step_nums': [3+1j]}", "", FAR)["score"] > 0.3


MILLION = 1_000_000 // 4
HOSTILE = {
    "nested": '{"actions":' + "[" * MILLION + "]" * MILLION + "}",
    "keys": "{" + ",".join(f'"k{i}":1' for i in range(MILLION // 4)) + "}",
    "digits": '{"actions":["W"],"step_nums":[' + "9" * MILLION + "]}",
    "large integer": '{"actions":["W"],"step_nums":[' + "9" * 4000 + "]}",
    "actions": json.dumps(plan([("W", 1)] * MILLION)),
    "blanks": "```json" + " " * 3 * MILLION,
    "fences": "```json " * MILLION,
    "literal": "{'a': [" + "1," * 3 * MILLION + "]}",
    "nested literal": "{'a':" * 60 + "-" * 30_000,
}


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_plans_cost_little(response: str) -> None:
    start = time.process_time()
    assert 0 <= agenticnaveval(response, "", FAR)["score"] <= 1
    assert time.process_time() - start < 2
