import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import gpteval
from tests.spatial_engine.scoring.golden import agrees, cases


@pytest.mark.parametrize("case", cases("gpteval_parse"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    result = gpteval(case["input"]["judge_reply"], unsafe=True)
    assert agrees(result, case["output"])


@given(st.floats(0, 1), st.integers(0, 3))
def test_what_the_judge_gave_is_what_is_scored(score: float, depth: int) -> None:
    nested: Any = score
    for _ in range(depth):
        nested = [nested]
    reply = json.dumps({"answer_score": nested, "reason": "2 of 3"})
    for text in (reply, f"```json\n{reply}\n```", f"Here: {reply}"):
        assert gpteval(text)["score"] == score
        assert gpteval(text)["details"] == {"reason": "2 of 3"}


@pytest.mark.parametrize("said", ["Infinity", "-Infinity", "NaN"])
def test_what_is_not_finite_is_refused_unless_unsafe(said: str) -> None:
    reply = f'{{"answer_score": {said}}}'
    result = gpteval(reply)
    assert result["score"] == 0
    assert agrees(result["detail"]["reference_score"], gpteval(reply, unsafe=True)["score"])
    assert agrees(float(said), gpteval(reply, unsafe=True)["score"])


def test_what_is_out_of_range_passes_and_is_marked() -> None:
    result = gpteval('{"answer_score": 85}')
    assert result["score"] == 85
    assert result["detail"] == {"out_of_range": True}


def test_a_list_in_the_fence_costs_the_item() -> None:
    assert gpteval("```json\n[0.5]\n```") == {"score": 0, "detail": {"reference_exception": "AttributeError"}}
