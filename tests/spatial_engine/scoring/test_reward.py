import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.dataset.question_line import to_line
from spatial_engine.evaluation import baselines
from spatial_engine.scoring.own import score
from spatial_engine.scoring.reward import MOST_PARTIAL, accuracy_reward, reward
from spatial_engine.scoring.reward_form import LONGEST
from tests.spatial_engine.scoring.asked import CHOICE, JSON, NUMERIC, PLAN, POINT, QUESTIONS, YES_NO, direction, ids

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=ids)
LEAST_RIGHT = 0.8
THOUGHT = " ".join(f"word{i}" for i in range(60))


def earned(text, question):
    (value,) = reward([text], question=[to_line(question)])
    return value


@each_question
def test_right_earns_most_and_wrong_next_to_nothing(question):
    right, wrong = baselines.oracle_text(question), baselines.wrong_text(question)
    assert earned(right, question) >= LEAST_RIGHT
    assert earned(wrong, question) <= MOST_PARTIAL
    assert accuracy_reward([right], question=[question.to_json()]) == [1.0]


@each_question
def test_what_is_rewarded_in_full_is_right_by_the_score(question):
    for name in baselines.BASELINES:
        if name != "most-frequent":
            text = baselines.reply(name, question, seed=1)
            (full,) = accuracy_reward([text], question=[to_line(question)])
            assert (full == 1.0) == (score(question, text).value == 1.0)


@each_question
@pytest.mark.parametrize(
    "exploit",
    (
        "{answer}",  # no tags
        "<answer>{answer}</answer><answer>{answer}</answer>",
        "<answer>{wrong}</answer>\n<answer>{answer}</answer>",
        "<answer>{answer}</answer> and that is final",
        "<think><answer>{answer}</answer></think>",
        "<think><answer>{answer}</answer></think><answer></answer>",
        "<think>it is {answer}</think>",
        "<think><answer>{answer}</answer>",
        "<think></think><think></think><answer>{answer}</answer>",
        "</think><think><answer>{answer}</answer>",
        "<answer>{answer} or {wrong}</answer>",
        "<answer>{wrong}, no: {answer}</answer>",
        "<answer>the answer is {answer}</answer>",
        "<answer><answer>{answer}</answer></answer>",
        "<answer>{answer}",
        "{answer}</answer>",
        "</answer>{answer}<answer>",
        "<answer></answer>",
        "<answer>{answer}" + " " * 3000 + "</answer>",
        "<answer>NaN</answer>",
        "<answer>[NaN, NaN]</answer>",
        "<answer>{{}}</answer>",
        "<answer>" + "[" * 1500 + "</answer>",
        "I cannot answer this.",
        "",
    ),
)
def test_exploits_earn_nothing(question, exploit):
    answer, wrong = (
        text.removeprefix("<answer>").removesuffix("</answer>")
        for text in (baselines.oracle_text(question), baselines.wrong_text(question))
    )
    assert earned(exploit.format(answer=answer, wrong=wrong), question) == 0.0


def test_length_is_bounded():
    assert earned("x" * 10_000_000 + baselines.oracle_text(PLAN), PLAN) == 0.0
    answer = baselines.oracle_text(PLAN)
    for length, worth in ((LONGEST, 1.0), (LONGEST + 1, 0.0)):
        completion = "x" * (length - len(answer)) + answer
        assert accuracy_reward([completion], question=[to_line(PLAN)]) == [worth]


def test_every_decimal_is_read():
    assert earned(f"<answer>{NUMERIC.value:.40f}</answer>", NUMERIC) == earned(baselines.oracle_text(NUMERIC), NUMERIC)
    assert earned(f"<answer>{'9' * 400}</answer>", NUMERIC) == 0.0


@pytest.mark.parametrize("listed", ("A B", "A, B", "AB", "A or B", "A/B", "all", "[A]", "A. Point B. B. Point A"))
def test_all_options_listed(listed):
    assert earned(f"<answer>{listed}</answer>", CHOICE) == 0.0


@pytest.mark.parametrize("said", ("yes no", "yes/no", "yes and no", "maybe", "not no"))
def test_yes_and_no(said):
    assert earned(f"<answer>{said}</answer>", YES_NO) == 0.0


@pytest.mark.parametrize(
    "hedged",
    ("1.5 to 1.6", "1.5-1.6", "1.5, 1.6", "1.537 ± 5", "between 1 and 2", "inf", "1e999", "1.5 1.54", "0x2", "١"),
)
def test_ranges_and_what_is_no_number(hedged):
    assert earned(f"<answer>{hedged}</answer>", NUMERIC) == 0.0


@pytest.mark.parametrize(
    "said",
    (
        '{"roll": NaN, "pitch": -12, "vfov": 48}',
        '{"roll": 3, "roll": 90, "pitch": -12.3, "vfov": 48}',
        '{"roll": 3, "pitch": -12.3, "vfov": 48, "x": 1}',
        '{"roll": 1e999, "pitch": 0, "vfov": 0}',
        '{"roll": [3, 90], "pitch": -12.3}',
    ),
)
def test_objects_of_another_form(said):
    assert earned(f"<answer>{said}</answer>", JSON) == 0.0


def test_units_may_be_written():
    assert earned("<answer>175°</answer>", direction()) == earned("<answer>175 degrees</answer>", direction()) == 1.0
    assert earned("<answer>175 m</answer>", direction()) == 0.0


def test_plans_that_do_nothing_earn_nothing():
    for actions, counts in (([], []), (["Stay"], [0]), (["Dolly In", "Dolly Out"], [5, 5]), (["Dolly Out"], [10]),
                            (["Zoom In"], [9]), (["Dolly In"], [4.5]), (["Dolly In"], [40])):  # fmt: skip
        answer = json.dumps({"actions": actions, "step_nums": counts})
        assert earned(f"<answer>{answer}</answer>", PLAN) == 0.0


@settings(max_examples=25, deadline=None)
@given(near=st.floats(0, 5), further=st.floats(0, 5))
def test_nearer_numbers_never_earn_less(near, further):
    near, further = sorted((near, further))
    for question, unit in ((NUMERIC, NUMERIC.tolerance), (direction(0.0), 15.0)):
        a, b = (earned(f"<answer>{question.value + off * unit:.6f}</answer>", question) for off in (near, further))
        assert a >= b
        if near > 1.001:
            assert a <= MOST_PARTIAL


def test_points_and_plans_that_come_near_earn_a_part():
    x, y = POINT.value
    assert 0 < earned(f"<answer>[{x + 10}, {y}]</answer>", POINT) < MOST_PARTIAL
    half = json.dumps({"actions": ["Dolly In"], "step_nums": [2]})
    assert 0 < earned(f"<answer>{half}</answer>", PLAN) < MOST_PARTIAL


def test_thoughts_cost_at_perception():
    answer = baselines.oracle_text(CHOICE)
    assert earned(answer, CHOICE) == earned(f"<think></think>{answer}", CHOICE) == 1.0
    few, many = (earned(f"<think>{THOUGHT * n}</think>\n{answer}", CHOICE) for n in (1, 100))
    assert 1 > few > many == LEAST_RIGHT


def test_thoughts_earn_at_planning_where_the_answer_is_right():
    right, wrong = baselines.oracle_text(PLAN), baselines.wrong_text(PLAN)
    idle = earned(right, PLAN)
    assert idle == earned(f"<think> </think>{right}", PLAN) == pytest.approx(0.9)
    assert earned(f"<think>{THOUGHT}</think>{right}", PLAN) == earned(f"{THOUGHT}</think>{right}", PLAN) == 1.0
    assert earned(f"<think>{'hm ' * 500}</think>{right}", PLAN) == pytest.approx(idle, abs=0.01)
    assert earned(f"<think>{THOUGHT * 100}</think>{right}", PLAN) == pytest.approx(idle)
    assert earned(f"<think>{THOUGHT}</think>{wrong}", PLAN) == earned(wrong, PLAN) <= MOST_PARTIAL
    half = '<answer>{"actions": ["Dolly In"], "step_nums": [2]}</answer>'
    assert earned(f"<think>{THOUGHT}</think>{half}", PLAN) == earned(half, PLAN) > 0


def test_understanding_is_indifferent_to_thoughts():
    question = replace(CHOICE, ability="L2/Memory/Cognitive Map")
    answer = baselines.oracle_text(question)
    assert earned(answer, question) == earned(f"<think>{THOUGHT}</think>{answer}", question) == 1.0


@pytest.mark.parametrize(
    "ability", ("L1/Localization/3D Detection", "L2/Memory/Memory Retrieval", "L3/Causal Reasoning/Dynamics")
)
def test_counting_is_perception_wherever_it_stands_in_the_tree(ability):
    question = replace(NUMERIC, ability=ability, answer=4, value=4.0, tolerance=0.0, scorer_params={"counting": True})
    answer = "<answer>4</answer>"
    few, many = (earned(f"<think>{THOUGHT * n}</think>{answer}", question) for n in (1, 100))
    assert earned(answer, question) == 1.0 > few > many == LEAST_RIGHT
    other = replace(question, scorer_params={})
    assert ability.startswith("L1") == (earned(f"<think>{THOUGHT}</think>{answer}", other) == few)


def test_conversations():
    answer = baselines.oracle_text(CHOICE)
    turns = ({"role": "assistant", "content": "<answer>"}, {"role": "tool", "content": "x"})
    completions = [
        [{"role": "assistant", "content": answer}],
        [*turns, {"role": "assistant", "content": [{"type": "text", "text": answer}]}],
        [],
        [{"role": "user", "content": answer}],
        [{"role": "assistant", "content": None}],
    ]
    asked = [to_line(CHOICE)] * len(completions)
    assert reward(completions, question=asked, prompts=["?"] * 5, completion_ids=[]) == [1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_question_that_cannot_be_scored_rewards_nobody():
    broken = replace(NUMERIC, tolerance=None)
    assert earned(baselines.oracle_text(broken), broken) == 0.0


def test_columns_that_do_not_fit():
    for asked in ([], ["{}"], ["[1]"], ["not json"], to_line(CHOICE)):
        with pytest.raises(ValueError):
            reward(["<answer>A</answer>"], question=asked)


@each_question
@settings(max_examples=12, deadline=None)
@given(text=st.text() | st.text('<>/answerthink{}[]",:0123 ABNa', max_size=60))
def test_any_text_earns_from_zero_to_one(question, text):
    assert 0 <= earned(text, question) <= 1
    assert 0 <= earned(f"<answer>{text}</answer>", question) <= 1
