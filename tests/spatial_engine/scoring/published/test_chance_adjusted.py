from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.chance_adjusted import by_category, chance_adjusted, macro
from tests.spatial_engine.scoring.golden import agrees, cases

answered = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9), st.sampled_from("ab")), max_size=20)


@pytest.mark.parametrize("case", cases("caa"))
def test_equals_the_formula(case: dict[str, Any]) -> None:
    ours = chance_adjusted(case["input"]["hit"], case["input"]["n_options"])
    assert agrees({"caa": ours.value, "acc": ours.accuracy, "chance": ours.chance}, case["output"])


@pytest.mark.parametrize("case", cases("caa_by_category"))
def test_equals_the_formula_by_category(case: dict[str, Any]) -> None:
    given = case["input"]
    found = by_category(given["hit"], given["n_options"], given["category"])
    ours = {
        "overall": chance_adjusted(given["hit"], given["n_options"]).value,
        "per_category": {name: own.value for name, own in found.items()},
        "macro_mean_of_categories": macro(found.values()),
    }
    assert agrees(ours, case["output"])
    assert list(found) == sorted(found)


@settings(max_examples=40)
@given(answered)
def test_all_right_is_one_and_a_guesser_is_at_zero(rows: list[tuple[int, int, str]]) -> None:
    options = [n for _, n, _ in rows]
    best = chance_adjusted([1] * len(rows), options)
    guesser = chance_adjusted([1 / n for n in options], options)
    assert best.value in (0.0, pytest.approx(1)) and guesser.value == pytest.approx(0)
    assert (
        sum(own.count for own in by_category(*map(list, zip(*rows, strict=True))).values()) == len(rows)
        if rows
        else True
    )


def test_unknown_numbers_of_options_are_four_or_dropped() -> None:
    assert chance_adjusted([1, 0], [None, 0]) == chance_adjusted([1, 0], [4, 4])
    assert chance_adjusted([1, 0], [None, 2], drop_unknown=True) == chance_adjusted([0], [2])


def test_nothing_asked() -> None:
    assert chance_adjusted([], []).value == macro([]) == 0
