import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.adjudication.kappa import _deviation, _table, cohens_kappa

WORDS = ("right", "wrong", "undecided", "bad")


def pairs_of(table):
    return [(str(i), str(j)) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


def test_the_example_of_fleiss_levin_and_paik():
    pairs = pairs_of([[75, 1, 4], [5, 4, 1], [0, 0, 10]])  # Statistical Methods for Rates and Proportions, table 18.1
    found = cohens_kappa(pairs, clips=100)
    assert found.agreement == pytest.approx(0.89) and found.kappa == pytest.approx(0.676, abs=5e-4)
    p = _table(pairs)
    assert _deviation(p, p.sum(1), p.sum(0), found.kappa, 0.66) / 10 == pytest.approx(0.088, abs=1e-3)
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
