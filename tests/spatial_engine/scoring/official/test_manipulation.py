import json
import time
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.official import manipulateeval
from spatial_engine.scoring.official.steps import Pose, execute
from tests.spatial_engine.scoring.golden import agrees, cases

SIZES = {"translation_step_size": 0.05, "rotation_step_size": 0.1}
HOME = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
SYMBOLS = ("W", "S", "A", "D", "space", "shift", "←", "→", "↑", "↓", "↺", "↻", "STOP")
PAID_FOR_NOTHING = {f"manipulateeval-{n:03}" for n in (11, 12, 14, 17, 31, 45, 47, 58, 82)}
"""Vectors of which the reference pays a plan that did nothing, or steps that are not finite."""

PIECES = ('{"a": ', '{"1": {"actions": ["W"], "step_nums": [NaN]}', "{", "}", "[", "]", ",", "1", "'", "```")

Segment = dict[str, list[Any]]
segments = st.lists(
    st.lists(st.tuples(st.sampled_from(SYMBOLS), st.integers(1, 10)), min_size=1, max_size=3).map(
        lambda steps: {"actions": [symbol for symbol, _ in steps], "step_nums": [count for _, count in steps]}
    ),
    min_size=1,
    max_size=8,
)


def reply(segments: Sequence[Segment]) -> str:
    return json.dumps({f"step_{number}": segment for number, segment in enumerate(segments, 1)})


def hint(segments: Sequence[Segment]) -> dict[str, Any]:
    """Of a truth that is what the segments lead to."""

    def after(pose: Pose, segment: Segment) -> Pose:
        return execute(pose, segment, (0.05, 0.1)).pose

    path = [list(pose) for pose in accumulate(segments, after, initial=HOME)]
    return {"optimal_rel_pose": path, **{f"{i}->{i + 1}": SIZES for i in range(len(segments))}}


FORWARD: Segment = {"actions": ["W"], "step_nums": [10]}
TURN: Segment = {"actions": ["→"], "step_nums": [5]}


@pytest.mark.parametrize("case", cases("manipulateeval"))
def test_equals_the_reference_and_by_default_pays_nothing_for_nothing(case: dict[str, Any]) -> None:
    ours = manipulateeval(**case["input"], unsafe=True)
    assert agrees(ours["score"], case["pipeline_score"])
    assert agrees(ours, case["output"] or {})
    assert ours["detail"].get("reference_exception") == case["exception"]
    default = manipulateeval(**case["input"])
    if case["id"] in PAID_FOR_NOTHING:
        assert default["score"] == 0
        assert agrees(default["detail"]["reference_score"], case["pipeline_score"])
    else:
        assert agrees(default["score"], case["pipeline_score"])


@settings(max_examples=20)
@given(segments)
def test_the_plan_that_made_the_truth_scores_one(segments: list[Segment]) -> None:
    result = manipulateeval(reply(segments), "", hint(segments))
    assert result["score"] == pytest.approx(1)
    assert result["is_successful_binary"]
    assert result["predicted_segments"] == result["total_segments"] == len(segments)


def test_a_plan_cut_short_is_held_against_the_truth_that_far() -> None:
    result = manipulateeval(reply([FORWARD]), "", hint([FORWARD, FORWARD]))
    assert result["score"] == pytest.approx(1)
    assert not result["is_successful_binary"]


def test_penalties_for_standing_still_and_for_not_turning() -> None:
    stay: Segment = {"actions": ["STOP"], "step_nums": [1]}
    result = manipulateeval(reply([stay, stay]), "", hint([FORWARD, TURN]))
    plain = sum(
        w * result["scores"][f"{n}_score"] for n, w in (("direction", 0.4), ("position", 0.35), ("rotation", 0.25))
    )
    assert result["score"] == pytest.approx(0.35 * plain)


@pytest.mark.parametrize("text", ["{}", json.dumps(FORWARD), '{"steps": [1]}', '{"a": {"actions": ["Dolly In"]}}'])
def test_a_plan_of_which_nothing_was_executed_pays_nothing(text: str) -> None:
    truth = hint([FORWARD])
    assert manipulateeval(text, "", truth)["score"] == 0
    assert manipulateeval(text, "", truth)["detail"]["refused"] == "nothing was executed"
    assert manipulateeval(text, "", truth, unsafe=True)["score"] > 0


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_arbitrary_text_gives_a_number_from_0_to_1(text: str) -> None:
    for unsafe in (False, True):
        assert 0 <= manipulateeval(text, "", hint([FORWARD, TURN]), unsafe=unsafe)["score"] <= 1


def test_hostile_plans_cost_little() -> None:
    many = "{" + ",".join(f'"k{i}":{{"actions":["W"]}}' for i in range(50_000)) + "}"
    for response in (many, '{"1":' * 200_000, "{'1':" * 60 + "-" * 30_000, "```" + "\n" * 500_000):
        start = time.process_time()
        assert 0 <= manipulateeval(response, "", hint([FORWARD, TURN]))["score"] <= 1
        assert time.process_time() - start < 2
