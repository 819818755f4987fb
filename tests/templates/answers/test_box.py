"""Boxes in a photo: right from an IoU of a half on."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.evaluation import baselines
from spatial_engine.scoring import own
from spatial_engine.scoring.reward import accuracy_reward
from templates.answers import RIGHT, UNDECIDED, WRONG, Box
from templates.answers.answer import stacked
from templates.answers.box import iou
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from tests.templates.answers.by_hand import HEIGHT, WIDTH, asked

CHAIR = (100.0, 60.0, 180.0, 140.0)


def box(*corners: float, sigma: float = 2.0) -> Box:
    return Box(corners_px=np.array(corners or CHAIR), sigma_px=np.full(4, sigma))


def moved(by: float, sigma: float = 2.0) -> Box:
    x0, y0, x1, y1 = CHAIR
    return box(x0 + by, y0, x1 + by, y1, sigma=sigma)


def test_iou_by_hand() -> None:
    assert iou(np.array(CHAIR), moved(40.0).corners_px) == pytest.approx(1 / 3)
    assert iou(np.array(CHAIR), moved(90.0).corners_px) == iou(np.zeros(4), np.zeros(4)) == 0


_SIDE = st.floats(0, 300)


@given(st.tuples(_SIDE, _SIDE, _SIDE, _SIDE), st.tuples(_SIDE, _SIDE, _SIDE, _SIDE))
def test_iou_is_symmetric_and_a_share(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    both = iou(np.array(a), np.array(b)), iou(np.array(b), np.array(a))
    assert both[0] == both[1] and 0 <= both[0] <= 1 + 1e-12


@pytest.mark.parametrize("sigma", [2.0, 12.0, 20.0, 40.0])
def test_p_right_is_that_of_sampling(sigma: float) -> None:
    samples = np.array(CHAIR) + sigma * np.random.default_rng(0).normal(size=(100_000, 4))
    assert box(sigma=sigma).p_right() == pytest.approx(np.mean(iou(np.array(CHAIR), samples) >= 0.5), abs=0.02)


def test_an_unknown_sigma_gives_p_right_0() -> None:
    assert box(sigma=np.inf).p_right() == box(sigma=np.nan).p_right() == 0


def test_right_from_an_overlap_of_a_half_on_if_the_truth_is_clear() -> None:
    assert box().right(moved(10.0)) == RIGHT and box().right(moved(60.0)) == WRONG
    assert box().right(moved(26.0)) == UNDECIDED  # 80 - 26 of 106: IoU 0.51
    assert box().right(moved(10.0, sigma=np.nan)) == UNDECIDED


def test_its_line_is_read_back() -> None:
    for answer in (box(), box(1.25, 2.5, 30.0, 40.0, sigma=np.nan)):
        question = asked(answer, "json")
        assert recorded_answer(question).to_json() == answer.to_json()
        assert list(question.answer) == ["x0", "y0", "x1", "y1"]


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('<answer>{"x0": 105, "y0": 60, "x1": 180, "y1": 139}</answer>', 1.0),
        ('```json\n{"bbox_2d": [105, 60, 180, 139], "label": "chair"}\n```', 1.0),
        ("The chair is at [105, 60, 180, 139].", 1.0),
        ("<answer>[180, 139, 105, 60]</answer>", 1.0),
        ("<answer>[150, 60, 230, 140]</answer>", 0.0),
        ("<answer>[150, 60]</answer>", 0.0),
    ],
)
def test_objects_and_lists_are_read(reply: str, score: float) -> None:
    assert own.score(asked(box(), "json"), reply).value == score


def test_the_detail_has_the_iou_and_the_nearness_falls_with_it() -> None:
    question = asked(box(), "json")
    near, far = (own.score_read(question, moved(by).to_json().answer) for by in (20.0, 60.0))
    assert near.detail["iou"] == pytest.approx(0.6) and near.nearness > far.nearness


def test_oracle_wrong_guess_and_reward() -> None:
    question = asked(box(), "json")
    assert format_of("json").form(question).endswith('"y1", in pixels')
    assert own.score(question, baselines.oracle_text(question)).value == 1.0
    assert own.score(question, baselines.wrong_text(question)).value == 0.0
    missed = [own.score_read(question, value).value for value in format_of("json").near_misses(question)]
    assert missed == [0.0, 0.0]
    x0, y0, x1, y1 = format_of("json").guess(question, np.random.default_rng(0)).values()
    assert 0 <= x0 < x1 <= WIDTH and 0 <= y0 < y1 <= HEIGHT
    replies = [f"<answer>{json.dumps(moved(by).to_json().answer)}</answer>" for by in (5.0, 30.0, 90.0)]
    earned = accuracy_reward(replies, question=[json.dumps(question.to_json())] * 3)
    assert earned[0] == 1.0 > earned[1] > earned[2]


def test_a_question_without_four_numbers_is_not_scored() -> None:
    assert own.score(replace(asked(box(), "json"), value={"x0": 1.0}), "?") == Unscored(reason="no box of four numbers")


def test_a_stack_gives_the_results_of_each() -> None:
    some = [moved(by, sigma) for by, sigma in ((0.0, 2.0), (26.0, 30.0), (60.0, np.nan))]
    whole = stacked(some)
    np.testing.assert_array_equal(whole.p_right(), [one.p_right() for one in some])
    assert whole.right(box()).tolist() == [int(one.right(box())) for one in some]
    assert whole.repeats(some[1]).tolist() == [bool(one.repeats(some[1])) for one in some]
    assert whole.take([2, 0]).row(0).to_json() == some[2].to_json()
