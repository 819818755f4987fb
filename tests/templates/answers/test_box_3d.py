"""Oriented boxes in space: right from an IoU of a half on."""

import json
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.evaluation import baselines
from spatial_engine.scoring import own
from templates.answers import RIGHT, UNDECIDED, WRONG, Box3D
from templates.answers.answer import stacked
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from tests.templates.answers.by_hand import asked

CAMERA = np.array([1000.0, 1300.0, 500.0, 500.0])
CHAIR = {"u": 600, "v": 400, "z": 3.0, "x_size": 0.8, "y_size": 1.0, "z_size": 0.5, "roll": 0, "pitch": 0, "yaw": 30}


def box(sigma: float = 0.01, **changes: float) -> Box3D:
    """σ in m and degrees; of u and v a third of a thousandth for each mm."""
    value = np.array([*{**CHAIR, **changes}.values()], dtype=float)
    each = np.array([300, 300, 1, 1, 1, 1, 40, 40, 40]) * sigma
    return Box3D(value=value, sigma=each, camera=CAMERA)


@pytest.mark.parametrize(
    ("changes", "iou"),
    [
        ({}, 1.0),
        ({"x_size": 1.6}, 1 / 2),
        ({"yaw": 210}, 1.0),
        ({"yaw": 120, "x_size": 0.5, "z_size": 0.8}, 1.0),
        ({"z": 6.0, "u": 550, "v": 450}, 0.0),
        ({"yaw": 75, "x_size": 0.5}, None),
    ],
)
def test_iou_by_hand(changes: dict[str, float], iou: float | None) -> None:
    found, back = box().iou(box(**changes).value), box(**changes).iou(box().value)
    assert found == pytest.approx(back, abs=0.01)
    assert iou is None or found == pytest.approx(iou, abs=0.01)


def test_a_shift_along_the_picture_is_metres_at_its_depth() -> None:
    there = box(yaw=0, u=600 + 1000 * 0.4 / 3.0)  # 0.4 m of 0.8 m to the right
    assert box(yaw=0).iou(there.value) == pytest.approx(1 / 3, abs=0.01)


def test_two_equal_squares_turned_by_45_degrees() -> None:
    flat = {"x_size": 1.0, "y_size": 1.0, "z_size": 1.0}
    octagon = 2 * (np.sqrt(2) - 1)
    assert box(**flat).iou(box(yaw=75, **flat).value) == pytest.approx(octagon / (2 - octagon), abs=0.01)


@pytest.mark.parametrize("sigma", [0.02, 0.05, 0.1])
def test_p_right_is_that_of_sampling(sigma: float) -> None:
    answer = box(sigma)
    rng = np.random.default_rng(0)
    ious = [answer.iou(answer.value + answer.sigma * rng.normal(size=9)) for _ in range(700)]
    assert answer.p_right() == pytest.approx(np.mean(np.array(ious) >= 0.5), abs=0.04)


def test_right_from_an_overlap_of_a_half_on_if_the_truth_is_clear() -> None:
    assert box().right(box(z=3.05)) == RIGHT and box().right(box(z=3.6)) == WRONG
    assert box().right(box(sigma=0.1, z=3.1)) == UNDECIDED
    assert box(np.nan).p_right() == 0


def test_its_line_is_read_back() -> None:
    question = asked(box(), "json")
    assert recorded_answer(question).to_json() == box().to_json()
    assert 'one JSON object with a number for each of "u", "v", "z" (in metres)' in format_of("json").form(question)


def test_replies_are_objects_or_lists() -> None:
    question = asked(box(), "json")
    for reply in (json.dumps(CHAIR), json.dumps({"bbox_3d": [*CHAIR.values()]}), f"It is at {[*CHAIR.values()]}."):
        assert own.score(question, reply).value == 1.0
    assert own.score(question, json.dumps({**CHAIR, "z": 4.5})).value == 0.0
    assert own.score(question, json.dumps({**CHAIR, "x_size": -0.8})).value == 0.0


def test_oracle_wrong_and_guess() -> None:
    question = asked(box(), "json")
    assert own.score(question, baselines.oracle_text(question)).value == 1.0
    assert [own.score_read(question, v).value for v in format_of("json").near_misses(question)] == [0.0, 0.0]
    assert own.score(question, baselines.random_text(question, 0)).value == 0.0
    assert isinstance(own.score(replace(question, value={"u": 1.0}), "?"), Unscored)


def test_a_stack_gives_the_results_of_each() -> None:
    some = [box(), box(0.05, z=3.1), box(z=4.0)]
    whole = stacked(some)
    np.testing.assert_array_equal(whole.p_right(), [one.p_right() for one in some])
    assert whole.right(box()).tolist() == [int(one.right(box())) for one in some]
    assert whole.repeats(some[1]).tolist() == [bool(one.repeats(some[1])) for one in some]
    assert whole.take([2, 0]).row(0).to_json() == some[2].to_json()
