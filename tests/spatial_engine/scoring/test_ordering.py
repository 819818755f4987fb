import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from spatial_engine.scoring.ordering import exact, kendall_tau, pairs_right


@settings(max_examples=30)
@given(true=st.permutations(range(6)), said=st.permutations(range(6)))
def test_rank_correlation_is_scipys(true, said):
    places = [[order.index(thing) for thing in range(6)] for order in (said, true)]
    assert kendall_tau(said, true) == pytest.approx(kendalltau(*places).statistic)
    assert exact(said, true) == (kendall_tau(said, true) == 1)


def test_borders():
    assert pairs_right([3, 2, 1], [1, 2, 3]) == 0 and pairs_right(["a"], ["a"]) == 1 and pairs_right([], []) == 1
    assert pairs_right([2, 1, 3], [1, 2, 3]) == pytest.approx(2 / 3)
    for said in ([1, 2], [1, 2, 2], [1, 2, 4]):
        with pytest.raises(ValueError, match="same distinct things"):
            pairs_right(said, [1, 2, 3])
