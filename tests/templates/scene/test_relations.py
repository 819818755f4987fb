"""Relations between measured objects: yes, no, or maybe."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templates.scene.relations import MAYBE, NO, YES, RelationMargins, Relations, positive, ranked, towards

MARGINS = RelationMargins()
ALL = np.ones((1, 3), dtype=bool)


def in_order(lengths: list[float], rank: int, sigma: float = 0.0, is_metric: bool = True) -> list[int]:
    length = np.array([lengths])
    present = np.isfinite(length)
    found = ranked(length, np.full(length.shape, sigma), np.array([rank]), present, is_metric, MARGINS)
    return found.verdict[0].tolist()


@pytest.mark.parametrize(
    ("angle_deg", "sigma_deg", "verdict"),
    [
        *((0, 0, YES), (29, 0, YES), (31, 0, MAYBE), (59, 0, MAYBE), (61, 0, NO), (180, 0, NO)),
        *((20, 8, YES), (29, 8, MAYBE), (61, 8, MAYBE)),
    ],
)
def test_a_direction_ends_at_a_border_that_is_as_wide_as_the_sigma(
    angle_deg: float, sigma_deg: float, verdict: int
) -> None:
    found = towards(np.radians([[angle_deg]]), np.radians([[sigma_deg]]), MARGINS)
    assert found.verdict.tolist() == [[verdict]]


@pytest.mark.parametrize(
    ("lengths", "rank", "expected"),
    [
        ([1.0, 2.0, 3.0], 0, [YES, NO, NO]),
        ([1.0, 2.0, 3.0], 1, [NO, YES, NO]),
        ([1.0, 2.0, 3.0], 2, [NO, NO, YES]),
        ([2.0, 1.98, 3.0], 0, [MAYBE, MAYBE, NO]),
        ([2.0, 1.98, 3.0], 2, [NO, NO, YES]),
        ([2.0, 1.98, 3.0], 1, [MAYBE, MAYBE, NO]),
        ([0.03, 0.0, 3.0], 0, [MAYBE, MAYBE, NO]),
        ([1.0, np.nan, 3.0], 1, [NO, NO, YES]),
    ],
)
def test_a_rank_needs_gaps_to_both_neighbours(lengths: list[float], rank: int, expected: list[int]) -> None:
    assert in_order(lengths, rank) == expected


def test_a_rank_needs_gaps_beyond_the_sigma_and_without_metres_a_share_of_the_length() -> None:
    assert in_order([1.0, 2.0, 3.0], 0, sigma=0.2) == [YES, NO, NO]
    assert in_order([1.0, 2.0, 3.0], 0, sigma=0.5) == [MAYBE, MAYBE, NO]
    assert in_order([0.01, 0.02, 0.03], 0, is_metric=False) == [YES, NO, NO]
    assert in_order([0.01, 0.02, 0.03], 0) == [MAYBE, MAYBE, MAYBE]


@given(st.lists(st.floats(0, 10), min_size=1, max_size=5), st.integers(0, 4))
def test_what_is_certain_is_true_and_at_most_one_has_a_rank(lengths: list[float], rank: int) -> None:
    verdict = in_order(lengths, rank)
    order = np.argsort(lengths, kind="stable")
    for k, each in enumerate(verdict):
        if each != MAYBE:
            assert (each == YES) == (rank < len(lengths) and order[rank] == k)


def test_one_object_is_singled_out_if_it_alone_may_be_meant() -> None:
    verdict = np.array([[YES, NO, NO], [YES, MAYBE, NO], [YES, YES, NO], [NO, NO, NO], [NO, NO, YES]])
    found = Relations(verdict=verdict, p_wrong=np.full((5, 3), 0.001))
    index, p_wrong = found.singled_out()
    assert index.tolist() == [0, -1, -1, -1, 2] and p_wrong == pytest.approx(0.003)
    present = np.array([[True, False, True]]).repeat(5, axis=0)
    assert found.among(present).singled_out()[0].tolist() == [0, 0, 0, -1, 2]


def test_the_stated_probability_is_that_of_normal_errors() -> None:
    rng = np.random.default_rng(0)
    true, sigma = np.array([1.0, 1.5, 2.5]), np.array([0.15, 0.2, 0.2])
    measured = true + sigma * rng.normal(size=(4000, 3))
    close = in_order(true.tolist(), 0)
    assert close == [YES, NO, NO]
    found = ranked(true[None], sigma[None], np.array([0]), ALL, True, RelationMargins(sigmas=0.0))
    wrong = (measured.argmin(axis=1) != 0).mean()
    assert wrong <= found.singled_out()[1][0] <= 2 * wrong + 0.01


def test_unknown_differences_may_be_positive() -> None:
    verdict, p_wrong = positive(np.array([np.nan, 0.0, 1.0]), np.zeros(3), np.zeros(3), MARGINS)
    assert verdict[0] == MAYBE and p_wrong.tolist() == [0.5, 0.5, 0.0]
