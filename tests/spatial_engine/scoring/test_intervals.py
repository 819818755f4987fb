import numpy as np
import pytest
from scipy.stats import binomtest

from spatial_engine.scoring.intervals import bootstrap_means, clip_interval, clopper_pearson


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
    monkeypatch.setattr("spatial_engine.scoring.intervals._AT_ONCE", 10)
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
    assert clopper_pearson(0, 0) == (0.0, 1.0)
