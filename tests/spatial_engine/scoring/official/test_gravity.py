import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import gravityeval
from tests.spatial_engine.scoring.golden import assert_agrees, cases

SIGMAS = {"roll_unc": 2.0, "pitch_unc": 2.0, "vfov_unc": 5.0}
angles = st.floats(-360, 360)


def angles_text(roll: float, pitch: float, vfov: float) -> str:
    return json.dumps({"roll": roll, "pitch": pitch, "vfov": vfov})


@pytest.mark.parametrize("case", cases("gravityeval"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(gravityeval, case)


@given(angles, angles, angles)
def test_the_truth_scores_one(roll: float, pitch: float, vfov: float) -> None:
    truth = angles_text(roll, pitch, vfov)
    for said in (truth, f"```json\n{truth}\n```", f"It is {truth}.", truth[:-1] + ",}"):
        assert gravityeval(said, truth, SIGMAS)["score"] == 1


@given(angles, st.floats(0, 90), st.floats(0, 90))
def test_further_off_is_never_better(roll: float, near: float, far: float) -> None:
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
