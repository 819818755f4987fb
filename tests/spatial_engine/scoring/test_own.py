import json
import math
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.scoring import own
from spatial_engine.scoring.reading import Unreadable
from templates.answers.score import Score, Unscored
from tests.spatial_engine.scoring.asked import (
    CHOICE,
    DRAWN,
    JSON,
    NUMERIC,
    ORDER,
    PLAN,
    POINT,
    QUESTIONS,
    RELATIVE_PLAN,
    YES_NO,
    direction,
    ids,
)

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=ids)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def value(question, said):
    scored = own.score_read(question, said)
    assert isinstance(scored, Score)
    return scored.value


@each_question
def test_the_right_answer_scores_one_as_text_and_as_value(question):
    assert own.score(question, oracle_text(question)).value == 1.0
    assert own.score_read(question, question.answer).value == 1.0


@each_question
def test_details_are_json_with_finite_numbers(question):
    for response in (oracle_text(question), "<answer>B</answer>", "no", "", None, "1e300"):
        json.dumps(own.score(question, response).detail, allow_nan=False)


@each_question
def test_silence_scores_nothing_and_says_so(question):
    for response in (None, "", " \n"):
        scored = own.score(question, response)
        assert scored.value == 0.0 and scored.detail["unreadable"] == "empty"


@each_question
@settings(max_examples=12, deadline=None)
@given(said=JSON_VALUES)
def test_no_value_breaks_a_scorer(question, said):
    scored = own.score_read(question, said)
    assert scored.value in (0.0, 1.0)
    json.dumps({k: v for k, v in scored.detail.items() if k != "value"}, allow_nan=False)


@each_question
@settings(max_examples=10, deadline=None)
@given(response=st.text())
def test_no_text_breaks_a_scorer(question, response):
    assert own.score(question, response).value in (0.0, 1.0)


HOSTILE = (
    "x" * 100_000,
    "yes no 1 " * 10_000,
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 30_000,
    "9" * 100_000,
    "\x00\xff\ud800" * 1000,
    '<answer>{"roll": NaN, "pitch": Infinity, "vfov": 1e999}</answer>',
    '<answer>{"actions": ["Dolly In"], "step_nums": [NaN]}</answer>',
    "<answer>NaN</answer>",
    "<answer>" * 10_000,
)


@each_question
def test_hostile_responses_are_wrong_and_quick(question):
    start = time.process_time()
    for response in HOSTILE:
        assert own.score(question, response).value == 0.0
    assert time.process_time() - start < 3.0


def test_ten_megabytes():
    start = time.process_time()
    assert own.score(NUMERIC, "x" * 10_000_000).value == 0.0
    assert time.process_time() - start < 3.0


def test_a_drawing_is_chosen_by_its_letter():
    right = DRAWN.answer
    assert own.score(DRAWN, f"The answer is picture {right}.").value == 1.0
    assert own.score(DRAWN, f"<answer>{'AB'[right == 'A']}</answer>").value == 0.0
    assert own.chance(DRAWN) == 0.25


def test_chance():
    assert own.chance(CHOICE) == 0.5 and own.chance(YES_NO) == 0.5
    assert own.chance(ORDER) == pytest.approx(1 / 24)
    assert [own.chance(q) for q in (NUMERIC, JSON, POINT, PLAN)] == [0.0] * 4


def test_numbers_are_right_within_their_tolerance_of_the_measurement():
    assert value(NUMERIC, NUMERIC.value + 0.99 * NUMERIC.tolerance) == 1.0
    assert value(NUMERIC, NUMERIC.value - 1.01 * NUMERIC.tolerance) == 0.0
    detail = own.score_read(NUMERIC, NUMERIC.value * 1.2).detail
    assert detail["error"] == pytest.approx(0.2 * NUMERIC.value) and detail["relative_accuracy"] == pytest.approx(0.7)
    assert detail["gaussian"] == pytest.approx(math.exp(-0.5 * (0.2 * NUMERIC.value / NUMERIC.sigma) ** 2))


def test_directions_go_the_short_way_round_and_have_no_relative_accuracy():
    detail = own.score_read(direction(175.0), -178).detail
    assert detail["error"] == pytest.approx(7.0) and detail["angular_error_deg"] == pytest.approx(7.0)
    assert "relative_accuracy" not in detail and value(direction(175.0), -178) == 1.0
    assert value(direction(175.0), -160) == 0.0


def test_an_object_needs_all_its_numbers():
    said = {name: number for name, number in JSON.answer.items() if name != "pitch"}
    scored = own.score_read(JSON, said)
    assert scored.value == 0.0 and scored.detail["gaussian"] < 0.7
    assert own.score_read(JSON, {**JSON.answer, "yaw": 3}).value == 1.0


@settings(max_examples=25, deadline=None)
@given(near=st.floats(0, 4), further=st.floats(0, 4), sign=st.sampled_from((-1, 1)))
def test_no_graded_score_grows_with_the_error(near, further, sign):
    near, further = sorted((near, further))
    for question in (NUMERIC, direction()):
        a, b = (own.score_read(question, question.value + sign * off) for off in (near, further))
        assert a.value >= b.value and a.detail["gaussian"] >= b.detail["gaussian"]
        assert a.detail.get("relative_accuracy", 1) >= b.detail.get("relative_accuracy", 1) - 1e-12
        assert abs(a.detail["error"]) <= abs(b.detail["error"]) + 1e-9


def test_points_are_right_within_their_radius():
    x, y = POINT.value
    assert value(POINT, [x, y + POINT.tolerance]) == 1.0
    assert value(POINT, [x + 6, y + 6]) == 0.0
    assert own.score_read(POINT, [x + 3, y + 4]).detail["distance_px"] == pytest.approx(5.0)
    assert value(POINT, [x]) == 0.0 and value(POINT, [x, None]) == 0.0


def test_orders_may_name_the_photo_whose_place_was_given():
    assert value(ORDER, [1, *ORDER.answer]) == 1.0
    scored = own.score_read(ORDER, ORDER.answer[::-1])
    assert scored.value == 0.0 and scored.detail["kendall_tau"] == -1.0 and scored.detail["pairs_right"] == 0.0
    assert value(ORDER, [*ORDER.answer, 1]) == 0.0 and value(ORDER, [3, 3, 2, 4]) == 0.0


@pytest.mark.parametrize("question", (PLAN, RELATIVE_PLAN))
def test_plans_are_followed(question):
    right = own.score_read(question, question.answer)
    assert right.detail["translation_steps"] < 1 and right.detail["rotation_steps"] < 1 and right.detail["spl"] == 1.0
    idle = own.score_read(question, {"actions": ["Stay"], "step_nums": [0]})
    assert idle.value == 0.0 and idle.detail["progress"] == 0.0
    assert idle.detail["translation_steps"] == pytest.approx(idle.detail["start_translation_steps"])
    detour = {"actions": [*question.answer["actions"], "Dolly In", "Dolly Out"],
              "step_nums": [*question.answer["step_nums"], 7, 7]}  # fmt: skip
    roundabout = own.score_read(question, detour)
    assert roundabout.value == 1.0 and roundabout.detail["spl"] == pytest.approx(7 / 21)


def test_symbols_are_names_too():
    symbols = {"actions": ["A", "W", "→"], "step_nums": [1, 4, 2]}
    assert value(PLAN, symbols) == 1.0


@pytest.mark.parametrize(
    "said",
    (
        {"actions": ["Dolly In"], "step_nums": [11]},
        {"actions": ["Dolly In"], "step_nums": [-1]},
        {"actions": ["Dolly In"], "step_nums": [0.5]},
        {"actions": ["Dolly In"], "step_nums": []},
        {"actions": ["Fly"], "step_nums": [1]},
        {"actions": [["Dolly In"]], "step_nums": [1]},
        {"actions": ["Dolly In"] * 101, "step_nums": [0] * 101},
        {"actions": "W", "step_nums": "1"},
        [],
        {},
    ),
)
def test_plans_that_cannot_be_followed_are_wrong(said):
    scored = own.score_read(PLAN, said)
    assert scored.value == 0.0 and "progress" not in scored.detail


@pytest.mark.parametrize(
    "broken",
    (
        replace(CHOICE, answer="C"),
        replace(CHOICE, answer=None),
        replace(YES_NO, answer="maybe"),
        replace(NUMERIC, tolerance=None),
        replace(NUMERIC, value=None),
        replace(NUMERIC, tolerance=-1.0),
        replace(JSON, tolerance=5.0),
        replace(JSON, value={}),
        replace(POINT, value=[1.0]),
        replace(POINT, media=[]),
        replace(ORDER, answer=[2, 2]),
        replace(ORDER, answer=[]),
        replace(PLAN, scorer_params={}),
        replace(PLAN, scorer_params={"step_fraction": 8}),
        replace(PLAN, value={"pan": 1.0}),
        replace(CHOICE, format="mystery"),
    ),
)
def test_a_question_at_fault_is_not_scored(broken):
    for response in ("<answer>A</answer>", "", None):
        assert isinstance(own.score(broken, response), Unscored)
    assert isinstance(own.read(broken, "?"), Unreadable)
    assert 0 <= own.chance(broken) <= 1
