import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.gaussian import gaussian_score, mean_gaussian_score
from tests.spatial_engine.scoring.golden import cases

numbers = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("case", cases("gaussian_uncertainty"))
def test_golden_vectors(case):
    pred, gt, sigma, period = (case["input"][key] for key in ("pred", "gt", "sigma", "period"))
    flat = [gaussian_score(*part) for part in zip(pred, gt, sigma, strict=True)]
    wrapped = [gaussian_score(*part) for part in zip(pred, gt, sigma, period, strict=True)]
    assert flat == pytest.approx(case["output"]["reference"], rel=0, abs=1e-9)
    assert wrapped == pytest.approx(case["output"]["wrapped"], rel=0, abs=1e-9)
    assert mean_gaussian_score(pred, gt, sigma) == pytest.approx(case["output"]["reference_mean"], rel=0, abs=1e-9)
    assert mean_gaussian_score(pred, gt, sigma, period) == pytest.approx(
        case["output"]["wrapped_mean"], rel=0, abs=1e-9
    )


@given(said=numbers, true=numbers, sigma=st.floats(1e-3, 1e3), period=st.none() | st.floats(1, 1e3))
def test_from_zero_to_one_and_one_for_the_truth(said, true, sigma, period):
    assert 0 <= gaussian_score(said, true, sigma, period) <= 1
    assert gaussian_score(true, true, sigma, period) == 1


def test_nothing_else_counts():
    assert (
        gaussian_score(math.nan, 0, 1) == gaussian_score(math.inf, 0, 1, 360.0) == gaussian_score(0, 0, math.nan) == 0
    )
    assert gaussian_score(1e308, -1e308, 1) == gaussian_score(1e300, 0, 1e-300) == 0
    assert gaussian_score(1, 1, 0) == 0 and gaussian_score(1, 1, 0, exact_counts=True) == 1
    assert gaussian_score(1, 1.1, 0, exact_counts=True) == 0
    assert math.isnan(mean_gaussian_score([], [], []))
