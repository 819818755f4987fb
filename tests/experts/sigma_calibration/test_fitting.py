"""σ factors: the fit, the sets that it uses, and when there is too little data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.sigma_calibration import NotCalibrated, SigmaFactor
from experts.sigma_calibration.fitting import ErrorSample, FitSettings, fit, fit_answers, fitted_factor

SETS = ("attic", "barn", "cellar", "dock")


def normal(true_over_stated: float, *, count: int = 3000, other: float = 0.0, seed: int = 0) -> ErrorSample:
    """Normal errors. Their true σ is `true_over_stated` times the stated one; `other` is added in quadrature."""
    rng = np.random.default_rng(seed)
    error = np.abs(rng.normal(size=count) * np.hypot(true_over_stated, other))
    return ErrorSample(error=error, other=np.full(count, other))


def by_set(true_over_stated: float, **more) -> dict[str, ErrorSample]:
    return {name: normal(true_over_stated, seed=seed, **more) for seed, name in enumerate(SETS)}


def fitted(samples, **more):
    return fit("colmap", "1", None, "camera_path", "rotation", samples, **more)


@pytest.mark.parametrize("factor", [1.0, 1.7, 2.5])
@pytest.mark.parametrize("other", [0.0, 0.8])
def test_a_known_factor_is_found_despite_other_contributions(factor, other):
    found = fitted(by_set(factor, other=other))
    assert isinstance(found, SigmaFactor) and found.factor == pytest.approx(factor, rel=0.06)
    assert found.sets == list(SETS) and found.samples == 12_000
    for one in found.held_out:
        assert one.within_1 == pytest.approx(0.683, abs=0.04) and one.within_2 == pytest.approx(0.954, abs=0.02)


def test_correct_and_too_large_sigma_have_factor_1():
    wide = fitted(by_set(0.3))
    assert wide.factor == 1 and all(one.fitted == pytest.approx(0.3, rel=0.06) for one in wide.held_out)
    assert all(one.within_1 > 0.99 for one in wide.held_out), "coverage after the factor that is applied"
    assert fitted(by_set(1.0)).factor == pytest.approx(1, abs=0.06)


def test_eight_sets_that_agree_narrow_sigma_and_one_that_does_not_prevents_it():
    many = {f"set {seed}": normal(0.6, seed=seed) for seed in range(8)}
    narrow = fitted(many)
    assert narrow.factor == pytest.approx(0.6, rel=0.06)
    assert all(one.within_1 == pytest.approx(0.683, abs=0.04) for one in narrow.held_out)
    assert fitted({name: many[name] for name in list(many)[:7]}).factor == 1, "seven sets are too few"
    blurred = fitted(many | {"set 7": normal(0.95, seed=7)})
    assert blurred.factor == 1 and min(one.within_1 for one in blurred.held_out) > 0.68, "σ as stated holds in each"


def test_sigma_is_at_most_halved():
    many = fitted({f"set {seed}": normal(0.2, seed=seed) for seed in range(8)})
    assert many.factor == 0.5 and all(one.fitted == pytest.approx(0.2, rel=0.06) for one in many.held_out)


def rendered(true_over_stated: float, count: int) -> dict[str, ErrorSample]:
    made = {f"room {seed}": normal(true_over_stated, seed=seed) for seed in range(count)}
    return {name: replace(each, rendered=True) for name, each in made.items()}


def test_rendered_sets_narrow_sigma_only_beside_filmed_ones():
    filmed = {name: normal(0.7, seed=seed) for seed, name in enumerate(SETS[:2])}
    assert fitted(rendered(0.6, 8)).factor == 1
    assert fitted(rendered(0.6, 8) | {"attic": filmed["attic"]}).factor == 1
    both = fitted(rendered(0.6, 8) | filmed)
    assert both.factor == pytest.approx(0.7, rel=0.06), "the larger of both fits"
    assert both.sets == ["attic", "barn", "8 rendered"]


def test_many_rendered_sets_do_not_outweigh_filmed_ones():
    filmed = {name: normal(1.5, seed=seed) for seed, name in enumerate(SETS)}
    assert fitted(filmed | rendered(0.3, 12)).factor == pytest.approx(1.5, rel=0.06)
    assert fitted(by_set(0.3) | rendered(1.5, 8)).factor == pytest.approx(1.5, rel=0.06)


def test_errors_that_other_contributions_explain_need_no_factor():
    from_truth = ErrorSample(error=np.abs(np.random.default_rng(0).normal(size=500)), other=np.full(500, 3.0))
    assert fitted_factor({"attic": from_truth}) == 0


def test_a_heavy_tail_increases_the_factor():
    error = np.r_[np.full(90, 0.1), np.full(10, 6.0)]
    assert fitted_factor({"attic": ErrorSample(error=error, other=np.zeros(100))}) == pytest.approx(3.0, rel=0.01)


def test_the_held_out_set_does_not_enter_its_fit():
    samples = by_set(1.4)
    before = fitted(samples)
    after = fitted(samples | {"barn": normal(9.0, seed=7)})
    fits = [{one.set: one.fitted for one in found.held_out} for found in (before, after)]
    assert fits[0]["barn"] == fits[1]["barn"]
    assert all(fits[1][name] > 2 * fits[0][name] for name in SETS if name != "barn")
    assert after.factor > 2 * before.factor and after.factor == max(fits[1].values()), "the largest fit is used"
    assert {one.set: one.within_2 for one in after.held_out}["barn"] < 0.5


def test_each_set_has_the_same_weight():
    small, large = normal(2.0, count=200, seed=1), normal(1.0, count=5000, seed=2)
    both = fitted_factor({"attic": small, "barn": large})
    again = fitted_factor({"attic": small, "barn": normal(1.0, count=500, seed=2)})
    assert both == pytest.approx(again, rel=0.05) and both > 1.3


def test_too_few_errors_give_no_factor_and_a_reason():
    one = fitted({"attic": normal(2.0)})
    assert isinstance(one, NotCalibrated) and one.why == "one set only" and one.sets == ("attic",)
    assert one.fitted == pytest.approx(2.0, rel=0.05) and one.within_1 < 0.45
    few = fitted({name: normal(1.0, count=5) for name in SETS})
    assert few.why == "20 samples, 30 are needed" and few.samples == 20
    empty = ErrorSample(error=np.empty(0), other=np.empty(0))
    assert fitted({"attic": empty}).why == "no ground truth for it"
    assert fitted({"attic": normal(1.0), "barn": empty}).why == "one set only"
    assert fitted(by_set(1.0), settings=FitSettings(min_sets=5)).why == "4 sets only"


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(SETS), seed=st.integers(0, 9), factor=st.floats(0.2, 5))
def test_the_order_of_sets_and_errors_does_not_matter(order, seed, factor):
    samples = by_set(factor, count=40, other=0.3)
    mixed = np.random.default_rng(seed).permutation(40)
    shuffled = {name: ErrorSample(error=samples[name].error[mixed], other=samples[name].other[mixed]) for name in order}
    assert fitted(shuffled) == fitted(samples)


def answers(samples, **more):
    return fit_answers("camera_turn", "3", {"klt": "5", "colmap": "24"}, samples, **more)


@pytest.mark.parametrize("factor", [0.4, 1.0, 1.6])
def test_sigma_of_answers_gets_the_factor_of_normal_errors(factor):
    found = answers(by_set(factor))
    assert found.factor == pytest.approx(factor, rel=0.06)
    assert list(found.experts.items()) == [("colmap", "24"), ("klt", "5")] and found.samples == 12_000
    for one in found.held_out:
        assert one.within_1 == pytest.approx(0.683, abs=0.04) and one.within_2 == pytest.approx(0.954, abs=0.02)


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_sigma_of_answers_lies_half_way_between_filmed_and_rendered_sets(ratio):
    found = answers(by_set(1.0) | rendered(ratio, 6))
    assert found.factor == pytest.approx(np.sqrt(ratio), rel=0.06)


def test_long_tails_give_the_geometric_mean():
    error = np.r_[np.full(70, 0.5), np.full(30, 4.0)]
    tailed = ErrorSample(error=error, other=np.zeros(100))
    assert answers(dict.fromkeys(SETS, tailed)).factor == pytest.approx(np.sqrt(0.5 * 2.0), rel=0.02)


def test_a_long_set_weighs_as_thirty_answers():
    few = {name: normal(1.0, count=30, seed=seed) for seed, name in enumerate(SETS)}
    same = answers(few | {"long": normal(3.0, count=30, seed=9)}).factor
    assert answers(few | {"long": normal(3.0, count=3000, seed=9)}).factor == pytest.approx(same, rel=0.3)


def test_too_few_sets_or_answers_give_no_factor():
    sets = by_set(0.5)
    assert answers({name: sets[name] for name in SETS[:3]}) is None
    assert answers({name: normal(0.5, count=7) for name in SETS}) is None
    assert answers({name: normal(0.5, count=8) for name in SETS}) is not None
    assert answers(sets | {"empty": normal(0.5, count=0)}) == answers(sets)
