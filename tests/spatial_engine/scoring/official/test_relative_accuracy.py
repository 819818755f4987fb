from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import meanrelativeacc
from tests.spatial_engine.scoring.golden import assert_agrees, cases


@pytest.mark.parametrize("case", cases("meanrelativeacc"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(meanrelativeacc, case)


@given(st.integers(1, 10**6))
def test_the_truth_scores_one(number: int) -> None:
    for said in (f"{number}", f"about {number:,} mm", f"**{number}**"):
        assert meanrelativeacc(said, str(number), {})["score"] == 1


@given(st.integers(100, 10**6), st.floats(0, 1), st.floats(0, 1))
def test_further_off_is_never_better(truth: int, near: float, far: float) -> None:
    near, far = sorted((near, far))
    scores = [meanrelativeacc(f"{truth * (1 + off):f}", str(truth), {})["score"] for off in (near, far)]
    assert scores[0] >= scores[1]


@pytest.mark.parametrize(("percent", "score"), [(5, 1), (10, 0.9), (20, 0.6), (30, 0.5), (45, 0.1), (50, 0.1)])
def test_errors_on_a_threshold_fall_as_its_float_does(percent: int, score: float) -> None:
    assert meanrelativeacc(f"{100 + percent}", "100", {})["score"] == score


def test_zero_is_never_met_and_negative_truths_always() -> None:
    assert meanrelativeacc("0", "0", {}) == {"score": 0, "detail": {"reference_exception": "ZeroDivisionError"}}
    assert meanrelativeacc("-1000", "-10", {})["score"] == 1
