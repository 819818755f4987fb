"""Answers to many facts: rows, stacks of several types, the gate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templates.answers import Label, Plan, Point
from templates.answers.answers import NOT_CONFIRMED, Answers

WHICH = np.array([True, False, True, True, False])


def points(x: np.ndarray, outlier_probability: float = 0.0) -> Point:
    n = len(x)
    return Point(
        xy_px=np.column_stack([x, np.zeros(n)]), sigma_px=np.where(x > 2, 9.0, 1.0), tolerance_px=np.full(n, 9.0),
        outlier_probability=np.full(n, outlier_probability),
    )  # fmt: skip


def labels(count: int) -> Label:
    return Label(text=np.array([f"word {k}" for k in range(count)]), margin=np.where(np.arange(count) == 4, 1.0, 9.0))


def mixed(why: list[str] | None = None) -> Answers:
    """Points and labels; row 3 has a large σ, row 4 a small margin."""
    return Answers.either(WHICH, points(np.arange(5.0)), labels(5), np.array(why or [""] * 5))


def test_a_row_is_the_answer_of_its_stack() -> None:
    for k, is_point in enumerate(WHICH):
        row = mixed().row(k)
        assert isinstance(row, Point if is_point else Label)
        assert row.to_json().value == ([float(k), 0.0] if is_point else f"word {k}")
    assert mixed().labels().tolist() == ["", "word 1", "", "", "word 4"]


def test_a_row_without_an_answer_is_named() -> None:
    with pytest.raises(IndexError, match="row 3 has no answer: hidden"):
        Answers(why=np.array([""] * 3 + ["hidden"]), stacks=((np.arange(3), labels(3)),)).row(3)


@given(st.lists(st.integers(0, 4), max_size=7))
def test_rows_taken_keep_answers_reasons_and_probabilities(rows: list[int]) -> None:
    every = mixed(["", "hidden", "", "", ""])
    some = every.take(np.array(rows, dtype=int))
    assert some.why.tolist() == every.why[rows].tolist() and len(some) == len(rows)
    np.testing.assert_array_equal(some.p_right, every.p_right[rows])
    assert some.labels().tolist() == every.labels()[rows].tolist()
    for k, row in enumerate(rows):
        assert some.row(k).to_json() == every.row(row).to_json()


def test_the_gate_passes_what_is_likely_right_and_says_why_it_refuses_the_rest() -> None:
    gated = mixed(["", "hidden", "", "", ""]).gated(0.99)
    assert gated.why.tolist() == ["", "hidden", "", Point.refusal, Label.refusal]
    assert gated.p_right.tolist()[1:2] == [0.0] and gated.p_right[0] > 0.99
    for k in (0, 2):
        assert gated.p_right[k] == mixed().row(k).p_right()
    suspected = Answers.of(points(np.zeros(2), outlier_probability=0.05), np.array(["", ""]))
    assert suspected.gated(0.99).why.tolist() == [NOT_CONFIRMED] * 2
    assert suspected.gated(0.9).why.tolist() == ["", ""]


def test_a_gate_never_takes_back_a_reason() -> None:
    assert mixed(["a"] * 5).gated(0.0).why.tolist() == ["a"] * 5
    assert mixed(["a", "", "", "", ""]).refused(np.array(["b", "c", "", "", ""])).why.tolist() == ["a", "c", "", "", ""]


def test_numbers_of_refused_rows_are_never_read() -> None:
    plans = Plan(
        counts=np.zeros((2, 6)), translation_step=np.ones(2), rotation_step_rad=np.array([0.1, np.nan]),
        amounts=np.zeros((2, 6)), sigma=np.full((2, 6), 0.001),
    )  # fmt: skip
    right = Answers.of(plans, np.array(["", "no step fits"])).p_right
    assert right[0] > 0.9 and right[1] == 0


def test_more_answers_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Label has columns of \[5\] rows for 3 facts"):
        Answers.of(labels(5), np.array([""] * 3))


def test_no_rows() -> None:
    none = mixed().take(np.empty(0, dtype=int))
    assert len(none) == len(none.p_right) == len(none.labels()) == len(none.gated(0.99)) == 0
