from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from spatial_engine.scoring.statistics import (
    bootstrap_means,
    clip_bootstrap_bound,
    clip_interval,
    clopper_pearson,
    cohens_kappa,
    compare,
    effective_size,
    holm,
    kappa_deviation,
    resampled_clips,
    sign_flip_p,
)


def made(clips, facts, between, rng):
    """Right and wrong, with clips that differ by `between`."""
    rates = np.clip(0.5 + rng.uniform(-between, between, clips), 0, 1)
    values = (rng.random((clips, facts)) < rates[:, None]).astype(float)
    return values.ravel().tolist(), np.repeat([f"clip {i}" for i in range(clips)], facts).tolist()


def test_same_seed_same_limits_in_any_order():
    values, clips = made(12, 7, 0.4, np.random.default_rng(0))
    once = clip_interval(values, clips, seed=3)
    order = np.random.default_rng(1).permutation(len(values))
    assert clip_interval([values[i] for i in order], [clips[i] for i in order], seed=3) == once
    assert clip_interval(values, clips, seed=4) != once
    assert once[0] < np.mean(values) < once[1]


def test_facts_of_one_clip_are_no_independent_evidence():
    values, clips = made(20, 12, 0.5, np.random.default_rng(0))
    low, high = clip_interval(values, clips, seed=0)
    alone = clip_interval(values, [str(i) for i in range(len(values))], seed=0)
    assert high - low > 1.3 * (alone[1] - alone[0])


def test_spread_is_that_of_both_stages():
    """Var = σ²_between / C + σ²_within / N, estimated from the same sample."""
    rng = np.random.default_rng(5)
    groups = rng.normal(rng.normal(size=(25, 1)), 2.0, (25, 8))
    clips = np.repeat([str(i) for i in range(25)], 8).tolist()
    means = bootstrap_means(groups.ravel().tolist(), clips, seed=0, draws=4000)
    expected = np.hypot(groups.mean(axis=1).std() / 5, np.sqrt(groups.var(axis=1).mean() / 200))
    assert means.std() == pytest.approx(expected, rel=0.05) and means.mean() == pytest.approx(groups.mean(), abs=0.03)


def test_limits_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held = 0
    for seed in range(80):
        values, clips = made(25, 6, 0.4, rng)
        low, high = clip_interval(values, clips, seed=seed, draws=200)
        held += low <= 0.5 <= high
    assert 0.88 <= held / 80 <= 1.0


def test_unequal_clips_and_chunks(monkeypatch):
    values, clips = [0.25, 0.5, 1.0, 0.0, 0.75], ["a", "a", "a", "b", "c"]
    monkeypatch.setattr("spatial_engine.scoring.statistics._AT_ONCE", 10)
    means = bootstrap_means(values, clips, seed=0, draws=50)
    assert means.shape == (50,) and means.min() >= 0 and means.max() <= 1


def test_too_little_and_too_odd():
    assert clip_interval([1.0, 0.0], ["a", "a"], seed=0) is None and clip_interval([], [], seed=0) is None
    assert clip_interval([1.0, 1.0], ["a", "b"], seed=0) == (1.0, 1.0)
    for values, clips in (([1.0], ["a", "b"]), ([float("nan"), 1.0], ["a", "b"])):
        with pytest.raises(ValueError, match="finite values"):
            clip_interval(values, clips, seed=0)


@pytest.mark.parametrize(("hits", "trials"), ((0, 10), (10, 10), (3, 17), (1, 1)))
def test_exact_limits_of_a_rate(hits, trials):
    theirs = binomtest(hits, trials).proportion_ci(method="exact")
    assert clopper_pearson(hits, trials) == pytest.approx((theirs.low, theirs.high))
    one_sided = binomtest(hits, trials, alternative="less").proportion_ci(method="exact")
    assert clopper_pearson(hits, trials, tail=0.05)[1] == pytest.approx(one_sided.high)


def test_no_trials_allow_every_rate():
    assert clopper_pearson(0, 0) == clopper_pearson(0, 0, clips=3) == (0.0, 1.0)


@settings(max_examples=30, deadline=None)
@given(trials=st.integers(1, 500), share=st.floats(0, 1), clips=st.integers(1, 500))
def test_limits_hold_the_rate_and_fewer_clips_widen_them(trials, share, clips):
    clips, hits = min(clips, trials), round(share * trials)
    low, high = clopper_pearson(hits, trials, clips=clips)
    narrow_low, narrow_high = clopper_pearson(hits, trials, clips=trials)
    assert 0 <= low <= narrow_low + 1e-9 and narrow_high <= high + 1e-9 and high <= 1
    assert low <= hits / trials <= high


def test_twenty_facts_a_clip_are_worth_about_four():
    assert effective_size(3000, 150) == pytest.approx(3000 / 4.8) and effective_size(7, 7) == 7


def test_the_bound_over_clips_sees_errors_that_sit_in_one():
    def bound(hits):
        return clip_bootstrap_bound(hits, [20] * 20, np.random.default_rng(0))

    assert bound([20] + [0] * 19) > bound([1] * 20) + 0.02
    assert bound([0] * 20) == 0 and bound([20] * 20) == 1


def test_each_resample_holds_as_many_clips():
    chosen = resampled_clips(7, 50, np.random.default_rng(0))
    assert chosen.shape == (50, 7) and (chosen.sum(axis=1) == 7).all() and (chosen > 1).any()


WORDS = ("right", "wrong", "undecided", "bad")


def pairs_of(table):
    return [(str(i), str(j)) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


def test_the_example_of_fleiss_levin_and_paik():
    pairs = pairs_of([[75, 1, 4], [5, 4, 1], [0, 0, 10]])  # Statistical Methods for Rates and Proportions, table 18.1
    found = cohens_kappa(pairs, clips=100)
    assert found.agreement == pytest.approx(0.89) and found.kappa == pytest.approx(0.676, abs=5e-4)
    table = np.array([[75, 1, 4], [5, 4, 1], [0, 0, 10]]) / 100
    assert kappa_deviation(table, found.kappa) / 10 == pytest.approx(0.088, abs=1e-3)
    assert found.low < 0.676 - 1.96 * 0.087 and found.high > 0.676 + 1.95 * 0.087


def test_what_says_nothing_of_chance_has_no_kappa():
    found = cohens_kappa([("right", "right")] * 20, clips=2)
    assert (found.agreement, found.kappa, found.low, found.high) == (1.0, None, None, None)
    assert cohens_kappa([], clips=0) is None


def test_full_agreement_has_an_interval_all_the_same():
    found = cohens_kappa([("right", "right")] * 30 + [("wrong", "wrong")] * 10, clips=40)
    assert found.kappa == pytest.approx(1.0) and found.high == 1.0 and 0.5 < found.low < 0.95


def test_fewer_clips_make_a_wider_interval():
    pairs = pairs_of([[40, 5], [5, 20]])
    wide, narrow = cohens_kappa(pairs, clips=3), cohens_kappa(pairs, clips=70)
    assert wide.kappa == narrow.kappa and wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_the_interval_covers_the_true_kappa():
    rng = np.random.default_rng(0)
    p = np.array([[0.6, 0.08, 0.02], [0.05, 0.15, 0.02], [0.02, 0.02, 0.04]])
    chance = p.sum(0) @ p.sum(1)
    true = (np.trace(p) - chance) / (1 - chance)
    covered = []
    for _ in range(200):
        found = cohens_kappa(pairs_of(rng.multinomial(80, p.ravel()).reshape(3, 3)), clips=80)
        covered.append(found.low <= true <= found.high)
    assert np.mean(covered) > 0.92


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=30), st.integers(1, 30))
def test_any_words(pairs, clips):
    found = cohens_kappa(pairs, clips)
    mirrored = cohens_kappa([(b, a) for a, b in pairs], clips)
    assert found.questions == len(pairs) and 0 <= found.agreement <= 1 + 1e-12
    if found.kappa is not None:
        assert -1 - 1e-9 <= found.low <= found.kappa + 1e-9 and found.kappa <= found.high + 1e-9 <= 1 + 2e-9
        assert mirrored.kappa == pytest.approx(found.kappa) and mirrored.low == pytest.approx(found.low)


CLIPS = np.repeat([f"clip {i}" for i in range(20)], 10).tolist()


def scores(rate, seed):
    return (np.random.default_rng(seed).random(len(CLIPS)) < rate).astype(float).tolist()


def test_a_clear_difference_and_none():
    clear = compare(scores(0.8, 1), scores(0.5, 2), CLIPS, seed=0)
    assert clear.p < 0.01 and clear.interval[0] > 0 and clear.difference == pytest.approx(0.3, abs=0.1)
    none = compare(scores(0.5, 3), scores(0.5, 4), CLIPS, seed=0)
    assert none.p > 0.05 and none.interval[0] < 0 < none.interval[1]


def test_both_ways_round():
    a, b = scores(0.7, 1), scores(0.5, 2)
    there, back = compare(a, b, CLIPS, seed=0), compare(b, a, CLIPS, seed=0)
    assert back.difference == pytest.approx(-there.difference) and back.p == there.p
    assert (back.a_better, back.b_better) == (there.b_better, there.a_better)
    assert there.a_better - there.b_better == pytest.approx(there.difference * len(CLIPS))


def test_a_model_and_itself():
    a = scores(0.5, 0)
    same = compare(a, a, CLIPS, seed=0)
    assert same == replace(same, difference=0.0, interval=(0.0, 0.0), p=1.0, a_better=0, b_better=0)
    assert (same.facts, same.clips) == (200, 20)


def test_few_clips_are_enumerated():
    sums = np.array([1.0, 2.0, 0.5, 1.5])
    assert sign_flip_p(sums, seed=0) == 2 / 16
    theirs = permutation_test((np.array([1.0, 2, -0.5, 1.5, 3]),), np.sum, permutation_type="samples")
    assert sign_flip_p(np.array([1.0, 2, -0.5, 1.5, 3]), seed=0) == pytest.approx(theirs.pvalue)


def test_flips_drawn_come_near_to_all_flips(monkeypatch):
    sums = np.random.default_rng(0).normal(0.5, 1, 12)
    exact = sign_flip_p(sums, seed=0)
    monkeypatch.setattr("spatial_engine.scoring.statistics._ENUMERATED", 3)
    assert sign_flip_p(sums, seed=0) == pytest.approx(exact, abs=0.01)


def test_p_is_even_where_nothing_differs():
    rng = np.random.default_rng(0)
    ps = [sign_flip_p(rng.normal(size=12), seed=0) for _ in range(200)]
    assert np.mean(np.array(ps) < 0.1) == pytest.approx(0.1, abs=0.05)


def test_odd_input():
    assert compare([1.0], [0.0], ["a"], seed=0).interval is None
    for a, b, clips in (([], [], []), ([1.0], [1.0, 0.0], ["a"])):
        with pytest.raises(ValueError, match="equally many"):
            compare(a, b, clips, seed=0)


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # of Holm's own paper's kind
    assert holm([0.9, 0.6]) == [1.0, 1.0] and holm([0.2]) == [0.2] and holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrected_values_keep_their_order_and_never_fall(values):
    corrected = holm(values)
    assert all(value <= after <= 1 for value, after in zip(values, corrected, strict=True))
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()
