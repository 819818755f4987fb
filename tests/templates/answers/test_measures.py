import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from templates.answers.measures import (
    gaussian_score,
    kendall_tau,
    mean_relative_accuracy,
    pairs_right,
    progress,
    signed_difference,
    spl,
)
from tests.spatial_engine.scoring.golden import cases

numbers = st.floats(-1e6, 1e6)


@given(a=st.floats(-1e4, 1e4), b=st.floats(-1e4, 1e4), turns=st.integers(-5, 5))
def test_periodic_quantities_differ_by_half_a_period_at_most(a, b, turns):
    assert -180 <= signed_difference(a, b, 360) <= 180
    assert abs(signed_difference(a, b, 360)) == pytest.approx(abs(signed_difference(b, a + 360 * turns, 360)), abs=1e-9)


def test_signed_difference():
    assert signed_difference(-179, 179, 360) == pytest.approx(2)
    assert signed_difference(179, -179, 360) == pytest.approx(-2)
    assert signed_difference(3, 5) == -2 and math.isnan(signed_difference(math.nan, 1, 360))
    assert math.isinf(signed_difference(math.inf, 1, 360))


@pytest.mark.parametrize("case", cases("mra_variants"))
def test_relative_accuracy_equals_the_golden_vectors(case):
    ours = mean_relative_accuracy(case["input"]["pred"], case["input"]["gt"])
    expected = case["output"].get("paper_le_exact", case["output"]["code_vlmevalkit"])
    assert ours == pytest.approx(expected, rel=0, abs=1e-9)


def test_relative_accuracy_of_signs_zero_and_values_that_are_not_finite():
    assert mean_relative_accuracy(-1000, -10) == 0 and mean_relative_accuracy(-10, -10) == 1
    assert mean_relative_accuracy(0, 0) == 1 and mean_relative_accuracy(0.3, 0) == 0.5
    assert mean_relative_accuracy(math.nan, 1) == mean_relative_accuracy(1, math.inf) == 0


@given(target=st.floats(0.01, 1e6), a=st.floats(0, 2), b=st.floats(0, 2))
def test_relative_accuracy_never_grows_with_the_error(target, a, b):
    near, far = sorted((a, b))
    assert mean_relative_accuracy(target * (1 + near), target) >= mean_relative_accuracy(target * (1 + far), target)


@pytest.mark.parametrize("case", cases("gaussian_uncertainty"))
def test_gaussian_score_equals_the_golden_vectors(case):
    prediction, target, sigma, period = (case["input"][key] for key in ("pred", "gt", "sigma", "period"))
    flat = [gaussian_score(*part) for part in zip(prediction, target, sigma, strict=True)]
    wrapped = [gaussian_score(*part) for part in zip(prediction, target, sigma, period, strict=True)]
    assert flat == pytest.approx(case["output"]["reference"], rel=0, abs=1e-9)
    assert wrapped == pytest.approx(case["output"]["wrapped"], rel=0, abs=1e-9)
    assert sum(flat) / len(flat) == pytest.approx(case["output"]["reference_mean"], rel=0, abs=1e-9)
    assert sum(wrapped) / len(wrapped) == pytest.approx(case["output"]["wrapped_mean"], rel=0, abs=1e-9)


@given(prediction=numbers, target=numbers, sigma=st.floats(1e-3, 1e3), period=st.none() | st.floats(1, 1e3))
def test_gaussian_score_is_1_at_the_target_and_never_leaves_0_to_1(prediction, target, sigma, period):
    assert 0 <= gaussian_score(prediction, target, sigma, period) <= 1
    assert gaussian_score(target, target, sigma, period) == 1


def test_gaussian_score_of_odd_values():
    assert (
        gaussian_score(math.nan, 0, 1) == gaussian_score(math.inf, 0, 1, 360.0) == gaussian_score(0, 0, math.nan) == 0
    )
    assert gaussian_score(1e308, -1e308, 1) == gaussian_score(1e300, 0, 1e-300) == 0
    assert gaussian_score(1, 1, 0) == 0 and gaussian_score(1, 1, 0, exact_counts=True) == 1
    assert gaussian_score(1, 1.1, 0, exact_counts=True) == 0


@settings(max_examples=30)
@given(target=st.permutations(range(6)), prediction=st.permutations(range(6)))
def test_rank_correlation_is_scipys(target, prediction):
    ranks = [[order.index(element) for element in range(6)] for order in (prediction, target)]
    assert kendall_tau(prediction, target) == pytest.approx(kendalltau(*ranks).statistic)


def test_pairs_right():
    assert pairs_right([3, 2, 1], [1, 2, 3]) == 0 and pairs_right(["a"], ["a"]) == 1 and pairs_right([], []) == 1
    assert pairs_right([2, 1, 3], [1, 2, 3]) == pytest.approx(2 / 3)
    for prediction in ([1, 2], [1, 2, 2], [1, 2, 4]):
        with pytest.raises(ValueError, match="same distinct elements"):
            pairs_right(prediction, [1, 2, 3])


def test_success_weighted_by_path_length():
    assert spl(True, 4, 8) == 0.5 and spl(True, 8, 4) == 1 and spl(True, 0, 0) == 1 and spl(False, 4, 4) == 0


def test_progress():
    assert progress(4, 1) == pytest.approx(0.75) and progress(4, 9) == 0 and progress(4, 0) == 1
    assert progress(0, 0) == 1 and progress(0, 2) == 0
