"""An order of facts in which a mistake is often wrong, whatever number of first ones is taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templates.scene.misleading import misleading_first


@given(misled=st.lists(st.booleans(), max_size=40), share=st.sampled_from([0.4, 0.5, 0.6]))
def test_every_first_rows_have_the_share_and_no_misled_row_is_left_out(misled: list[bool], share: float) -> None:
    marked = np.array(misled, dtype=bool)
    rows = misleading_first(marked, np.random.default_rng(0), share)
    assert len({*rows.tolist()}) == len(rows) and marked[rows].sum() == marked.sum()
    for count in range(1, len(rows) + 1):
        assert marked[rows[:count]].mean() >= share - 1e-9


def test_other_rows_are_used_as_far_as_the_share_allows() -> None:
    rows = misleading_first(np.array([True] * 6 + [False] * 20), np.random.default_rng(0), 0.6)
    assert len(rows) == 10
    assert not len(misleading_first(np.zeros(5, dtype=bool), np.random.default_rng(0), 0.6))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_random(seed: int) -> None:
    marked = np.arange(40) < 20
    one, other = (misleading_first(marked, np.random.default_rng(s), 0.5).tolist() for s in (seed, seed + 1))
    assert one != other and sorted(one) == sorted(other)
