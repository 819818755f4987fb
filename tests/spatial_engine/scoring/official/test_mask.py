import base64
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import aff_mask_metric
from tests.spatial_engine.scoring.golden import assert_agrees, cases

WIDTH, HEIGHT = 8, 6
GREY = np.arange(WIDTH * HEIGHT, dtype=np.uint8).reshape(HEIGHT, WIDTH) * 5


def as_text(picture: np.ndarray) -> str:
    return base64.b64encode(cv2.imencode(".png", picture)[1].tobytes()).decode()


MASK = as_text(GREY)


@pytest.mark.parametrize("case", cases("aff_mask_metric"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(aff_mask_metric, case)


@given(st.integers(0, WIDTH - 1), st.integers(2, HEIGHT - 1))
def test_pixels_and_fractions_point_at_the_same_place(column: int, row: int) -> None:
    x, y = column / (WIDTH - 1), row / (HEIGHT - 1)
    for said in (f"[{column}, {row}]", f"x = {column} and y: {row}", f"({x:.5f}, {y:.5f})", f"y={y:.5f} x={x:.5f}"):
        assert aff_mask_metric(said, MASK, {})["score"] == GREY[row, column] / 255


def test_the_right_place_scores_one() -> None:
    assert aff_mask_metric("[3, 2]", as_text(np.full((4, 5), 255, np.uint8)), {})["score"] == 1


@pytest.mark.parametrize(
    ("response", "x", "y"),
    [
        ("(3, 2), no: [5, 4]", 5, 4),
        ("[1, 2, 3, 4]", 3, 4),
        ("x: 1, y: 2, x: 3", 3, 2),
        ("5-3,2", -3, 2),
        ("12345,2", 12345, 2),
        ("1,2,3", 1, 2),
    ],
)
def test_the_pair_that_ends_last_counts(response: str, x: float, y: float) -> None:
    details = aff_mask_metric(response, MASK, {})["details"]
    assert (details["x_pred"], details["y_pred"]) == (x, y)


def test_numbers_too_large_for_a_pixel_score_nothing() -> None:
    result = aff_mask_metric(f"[{'9' * 400}, 1]", MASK, {})
    assert result == {"score": 0, "detail": {"reference_exception": "OverflowError"}}
