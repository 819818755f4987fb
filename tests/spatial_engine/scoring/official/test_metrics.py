import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import gpteval, gravityeval, judgemodel, meanrelativeacc
from tests.spatial_engine.scoring.golden import agrees, assert_agrees, cases

SIGMAS = {"roll_unc": 2.0, "pitch_unc": 2.0, "vfov_unc": 5.0}
angles = st.floats(-360, 360)


def angles_text(roll: float, pitch: float, vfov: float) -> str:
    return json.dumps({"roll": roll, "pitch": pitch, "vfov": vfov})


@pytest.mark.parametrize("case", cases("gravityeval"))
def test_gravity_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(gravityeval, case)


@given(angles, angles, angles)
def test_true_angles_score_one(roll: float, pitch: float, vfov: float) -> None:
    truth = angles_text(roll, pitch, vfov)
    for said in (truth, f"```json\n{truth}\n```", f"It is {truth}.", truth[:-1] + ",}"):
        assert gravityeval(said, truth, SIGMAS)["score"] == 1


@given(angles, st.floats(0, 90), st.floats(0, 90))
def test_a_larger_angle_error_is_never_better(roll: float, near: float, far: float) -> None:
    near, far = sorted((near, far))
    truth = angles_text(roll, 0, 50)
    scores = [gravityeval(angles_text(roll + off, 0, 50), truth, SIGMAS)["score"] for off in (near, far)]
    assert scores[0] >= scores[1]


def test_numbers_in_words_are_found_by_name_however_it_ends_other_words() -> None:
    truth = angles_text(7, -10, 60)
    assert gravityeval("controll: 7, Pitch = -10, 'vfov': 60", truth, SIGMAS)["score"] == 1
    assert gravityeval("roll: .7, pitch: -10, vfov: 60", truth, SIGMAS)["score"] == 0


@pytest.mark.parametrize("said", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_are_not_finite_cost_their_own_term_only(said: str) -> None:
    text = f'{{"roll": {said}, "pitch": -10, "vfov": 60}}'
    assert gravityeval(text, angles_text(2, -10, 60), SIGMAS)["score"] == pytest.approx(2 / 3)


def test_a_huge_finite_number_costs_the_item() -> None:
    result = gravityeval('{"roll": 2e154, "pitch": -10, "vfov": 60}', angles_text(2, -10, 60), SIGMAS)
    assert result == {"score": 0, "detail": {"reference_exception": "OverflowError"}}


@pytest.mark.parametrize("case", cases("meanrelativeacc"))
def test_relative_accuracy_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(meanrelativeacc, case)


@given(st.integers(1, 10**6))
def test_the_true_number_scores_one(number: int) -> None:
    for said in (f"{number}", f"about {number:,} mm", f"**{number}**"):
        assert meanrelativeacc(said, str(number), {})["score"] == 1


@given(st.integers(100, 10**6), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_relative_error_is_never_better(truth: int, near: float, far: float) -> None:
    near, far = sorted((near, far))
    scores = [meanrelativeacc(f"{truth * (1 + off):f}", str(truth), {})["score"] for off in (near, far)]
    assert scores[0] >= scores[1]


@pytest.mark.parametrize(("percent", "score"), [(5, 1), (10, 0.9), (20, 0.6), (30, 0.5), (45, 0.1), (50, 0.1)])
def test_errors_on_a_threshold_fall_as_its_float_does(percent: int, score: float) -> None:
    assert meanrelativeacc(f"{100 + percent}", "100", {})["score"] == score


def test_zero_is_never_met_and_negative_truths_always() -> None:
    assert meanrelativeacc("0", "0", {}) == {"score": 0, "detail": {"reference_exception": "ZeroDivisionError"}}
    assert meanrelativeacc("-1000", "-10", {})["score"] == 1


@pytest.mark.parametrize("case", cases("judgemodel"))
def test_yes_no_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(judgemodel, case)


@given(st.text(alphabet="yesnoYESNO k", max_size=20))
def test_every_response_is_one_of_three(response: str) -> None:
    assert sum(judgemodel(response, answer, {})["score"] for answer in ("yes", "no", "other")) == 1


@pytest.mark.parametrize("response", [None, ""])
def test_nothing_is_neither(response: str | None) -> None:
    assert judgemodel(response, "Other", {})["details"] == {"predict": "other", "gt": "other"}


@pytest.mark.parametrize("case", cases("gpteval_parse"))
def test_judge_equals_the_reference(case: dict[str, Any]) -> None:
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
