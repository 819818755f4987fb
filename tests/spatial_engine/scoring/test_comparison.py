from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import permutation_test

from spatial_engine.scoring.comparison import compare, sign_flip_p

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
    monkeypatch.setattr("spatial_engine.scoring.comparison._ENUMERATED", 3)
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
