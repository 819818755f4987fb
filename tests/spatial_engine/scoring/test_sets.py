from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.sets import set_scores

sets = st.frozensets(st.integers(0, 5))


def test_an_example():
    found = set_scores("abca", "bcd")
    assert astuple(found) == pytest.approx((0, 2 / 3, 2 / 3, 2 / 3, 0.5))
    assert set(astuple(set_scores([], []))) == {1.0} and set(astuple(set_scores([], [1]))) == {0.0}


@given(said=sets, true=sets)
def test_from_zero_to_one_and_one_only_for_the_same(said, true):
    found = set_scores(said, true)
    assert all(0 <= score <= 1 for score in astuple(found))
    assert (found.exact == 1) == (said == true) == (found.jaccard == 1) == (found.f1 == 1)
