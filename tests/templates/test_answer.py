"""What is decided and what is right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from templates.answer import Label, Numbers, Point, Shape, p_right, right


def numbers(value: list[float], sigma: float, tolerance: float, period: float | None = None) -> Numbers:
    n = len(value)
    return Numbers(
        names=tuple("abc"[:n]),
        value=np.array(value),
        sigma=np.full(n, float(sigma)),
        tolerance=np.full(n, float(tolerance)),
        unit="",
        period=period,
    )


@pytest.mark.parametrize(("count", "k"), [(1, 2.58), (2, 2.81), (3, 2.94)])
def test_numbers_are_decided_at_the_stated_multiple_of_sigma(count: int, k: float) -> None:
    assert p_right(numbers([0.0] * count, 1.0, k)) == pytest.approx(0.99, abs=3e-4)


def test_points_and_labels_likewise() -> None:
    point = Point(xy_px=np.zeros(2), sigma_px=1.0, tolerance_px=3.04)
    assert p_right(point) == pytest.approx(0.99, abs=3e-4)
    assert p_right(Label(text="A", margin=2.33)) == pytest.approx(0.99, abs=3e-4)


def test_gross_errors_count() -> None:
    assert p_right(Label(text="A", margin=9.0, p_gross=0.05)) == pytest.approx(0.95)


def test_unknown_sigma_is_never_decided() -> None:
    assert p_right(numbers([1.0], np.inf, 5.0)) == 0
    assert p_right(numbers([np.nan], np.nan, 5.0)) == 0


def test_labels_are_right_if_they_are_the_true_one_and_the_truth_is_clear() -> None:
    assert right(Label(text="A", margin=3), Label(text="A", margin=10)) is True
    assert right(Label(text="A", margin=3), Label(text="B", margin=10)) is False
    assert right(Label(text="A", margin=3), Label(text="B", margin=2.9)) is None


@given(st.floats(-180, 180), st.floats(-4.9, 4.9))
def test_angles_are_compared_the_short_way_round(angle: float, error: float) -> None:
    wrapped = (angle + error + 180) % 360 - 180
    assert right(numbers([angle], 1, 5, 360), numbers([wrapped], 1e-6, 5, 360)) is True


def test_numbers_next_to_the_tolerance_are_undecidable_by_a_vague_truth() -> None:
    assert right(numbers([0.0], 1, 5), numbers([4.0], 0.5, 5)) is None
    assert right(numbers([0.0], 1, 5), numbers([4.0], 0.1, 5)) is True
    assert right(numbers([0.0, 0.0], 1, 5), numbers([4.9, 9.0], 1.0, 5)) is False


def test_a_truth_that_lacks_a_number_decides_nothing_and_one_with_more_does() -> None:
    assert right(numbers([0.0, 0.0], 1, 5), numbers([0.0], 0.1, 5)) is None
    assert right(numbers([0.0], 1, 5), numbers([0.0, 99.0], 0.1, 5)) is True


def test_shapes_and_points() -> None:
    square = Shape(points=np.array([[0.0, 0], [1, 0], [1, 1]]), sigma=0.01, tolerance=0.15)
    moved = Shape(points=square.points + 0.3, sigma=0.001, tolerance=0.15)
    assert right(square, moved) is False
    assert right(square, square) is True
    here, there = (Point(xy_px=np.array([x, 0.0]), sigma_px=0.1, tolerance_px=16) for x in (0.0, 17.0))
    assert right(here, there) is False


def test_different_kinds_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="cannot compare Label with Point"):
        right(Label(text="A", margin=3), Point(xy_px=np.zeros(2), sigma_px=1.0, tolerance_px=3.0))
