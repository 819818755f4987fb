"""Draws depend on the fact, the use and the seed alone, and are uniform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from templates.chance import Chance

IDS = [f"{k * 0x9E3779B97F4A7C15 % 2**64:016x}" for k in range(4000)]
SEQUENTIAL = [f"{k:016x}" for k in range(4000)]


@given(st.lists(st.sampled_from(IDS), max_size=8), st.integers(0, 2**31), st.data())
def test_a_draw_is_the_same_in_any_batch_and_order(ids: list[str], seed: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(ids))))
    chance, other = Chance.of(ids, seed), Chance.of([ids[k] for k in order], seed)
    np.testing.assert_array_equal(other.uniform("use", 3), chance.uniform("use", 3)[order])
    np.testing.assert_array_equal(other.order("use", 4), chance.order("use", 4)[order])
    np.testing.assert_array_equal(other.index("use", 5), chance.index("use", 5)[order])
    for k, id in enumerate(ids):
        np.testing.assert_array_equal(Chance.of([id], seed).uniform("use", 3)[0], chance.uniform("use", 3)[k])


@pytest.mark.parametrize("ids", [IDS, SEQUENTIAL], ids=["spread", "sequential"])
def test_draws_are_uniform_and_independent_of_each_other(ids: list[str]) -> None:
    first = Chance.of(ids, 0)
    draws = np.column_stack([
        first.uniform("mark", 3), first.uniform("map", 1), Chance.of(ids, 1).uniform("mark", 1), first.uniform("0", 1),
    ])  # fmt: skip
    assert (draws >= 0).all() and (draws < 1).all()
    assert all(kstest(column, "uniform").pvalue > 1e-3 for column in draws.T)
    assert np.abs(np.corrcoef(draws.T) - np.eye(draws.shape[1])).max() < 0.06
    assert np.abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 0.06  # of one fact and the next


def test_orders_and_indices_are_uniform() -> None:
    chance = Chance.of(IDS, 3)
    orders = chance.order("letters", 3)
    assert (np.sort(orders, axis=1) == np.arange(3)).all()
    assert chisquare(np.unique(orders, axis=0, return_counts=True)[1]).pvalue > 1e-3
    assert chisquare(np.bincount(chance.index("coin", 2), minlength=2)).pvalue > 1e-3
    below = np.arange(1, len(IDS) + 1)
    assert ((chance.index("any", below) >= 0) & (chance.index("any", below) < below)).all()


def test_more_draws_of_one_use_begin_alike() -> None:
    chance = Chance.of(IDS[:5], 0)
    np.testing.assert_array_equal(chance.uniform("use", 2), chance.uniform("use", 9)[:, :2])


def test_no_facts_have_no_draws() -> None:
    none = Chance.of([], 0)
    assert none.uniform("a", 3).shape == none.order("a", 3).shape == (0, 3) and none.index("a", 2).shape == (0,)
