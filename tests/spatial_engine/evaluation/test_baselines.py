from dataclasses import replace

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.evaluation import baselines
from spatial_engine.evaluation.protocol import rotated
from spatial_engine.scoring import own
from spatial_engine.scoring.reading import Unreadable
from tests.spatial_engine.scoring.asked import (
    CHOICE,
    DRAWN,
    JSON,
    NUMERIC,
    ORDER,
    PLAN,
    POINT,
    QUESTIONS,
    YES_NO,
    direction,
    ids,
)

each_question = pytest.mark.parametrize("question", (*QUESTIONS, direction(), direction(-3.0)), ids=ids)


def value(question, text):
    return own.score(question, text).value


@each_question
def test_the_oracle_is_right_and_wrong_is_wrong(question):
    assert value(question, baselines.oracle_text(question)) == 1.0
    wrong = baselines.wrong_text(question)
    assert value(question, wrong) == 0.0
    assert not isinstance(own.read(question, wrong), Unreadable), "wrong, not unreadable"


@each_question
def test_rotated_choices(question):
    for rotation in range(1, len(question.options)):
        shown = rotated(question, rotation)
        assert value(shown, baselines.oracle_text(shown)) == 1.0 and value(shown, baselines.wrong_text(shown)) == 0.0


@each_question
@pytest.mark.parametrize("name", baselines.BASELINES)
def test_every_reply_scores_from_zero_to_one_and_is_the_same_again(question, name):
    first, second = (baselines.replies(name, QUESTIONS, seed=5) for _ in range(2))
    assert first == second and first.keys() == {q.id for q in QUESTIONS}
    assert value(question, baselines.baseline(name, QUESTIONS, 5)(question)) in (0.0, 1.0)


def test_the_answers_of_doing_nothing():
    said = {q.format: own.read(q, baselines.no_op_text(q)) for q in (NUMERIC, JSON, YES_NO, POINT, ORDER, PLAN)}
    assert {format: reading.value for format, reading in said.items()} == {
        "numeric": 0.0,
        "json": dict.fromkeys(JSON.answer, 0.0),
        "yes_no": "no",
        "point": POINT.media[0]["marks"][0]["xy_px"],
        "order": [2, 3, 4, 5],
        "plan": {"actions": ["Stay"], "step_nums": [0]},
    }
    assert baselines.no_op_text(CHOICE) == "" and value(PLAN, baselines.no_op_text(PLAN)) == 0.0


def test_guesses_depend_on_seed_and_question_and_reach_all_answers():
    drawn = {baselines.random_text(DRAWN, seed) for seed in range(60)}
    assert drawn == {f"<answer>{letter}</answer>" for letter in "ABCD"}
    many = [replace(YES_NO, id=f"{i:016x}") for i in range(200)]
    hits = sum(value(q, text) for q, text in zip(many, baselines.replies("random", many).values(), strict=True))
    assert 70 < hits < 130


@each_question
def test_guesses_can_be_read(question):
    for seed in range(5):
        assert not isinstance(own.read(question, baselines.random_text(question, seed)), Unreadable)


def test_the_majority_answer_is_right_most_often():
    options = [["Up", "Down"], ["Down", "Up"], ["Down", "Up"], ["Up", "Down"], ["Up", "Down"]]
    asked = [replace(CHOICE, id=str(i), options=o, answer="ABBBA"[i]) for i, o in enumerate(options)]
    assert [*baselines.replies("most-frequent", asked).values()] == [
        f"<answer>{letter}</answer>" for letter in "ABBAA"
    ]  # Up is right four times of five
    numbers = [replace(NUMERIC, id=str(v), value=v, answer=v, tolerance=0.5) for v in (9.0, 1.0, 1.4, 1.8, 5.0)]
    assert set(baselines.replies("most-frequent", numbers).values()) == {"<answer>1.4</answer>"}


def test_the_majority_baseline_ignores_texts_that_are_right_once():
    asked = [replace(CHOICE, id=str(i), options=[f"a{i}", f"b{i}"], answer="AAB"[i % 3]) for i in range(6)]
    assert set(baselines.replies("most-frequent", asked).values()) == {"<answer>A</answer>"}
    drawn = [replace(DRAWN, id=str(i)) for i in range(3)]
    assert set(baselines.replies("most-frequent", drawn).values()) == {f"<answer>{DRAWN.answer}</answer>"}


def test_unknown_names():
    for unknown in (lambda: baselines.baseline("best"), lambda: baselines.reply("most-frequent", CHOICE)):
        with pytest.raises(UsageError, match="no baseline"):
            unknown()
