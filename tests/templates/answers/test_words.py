"""Sets of letters or words."""

import json
from dataclasses import replace

import pytest

from spatial_engine.evaluation import baselines
from spatial_engine.scoring import own
from spatial_engine.scoring.reading import Reading, Unreadable, read_words
from spatial_engine.scoring.reward import accuracy_reward
from templates.answers import RIGHT, WRONG, Label
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from templates.answers.words import set_label
from tests.templates.answers.by_hand import asked


def question(*words: str):
    return asked(Label(text=set_label(words), margin=4.0), "set", answer=list(words), prompt="Which are on the table?")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ('<answer>["lamp", "the cup"]</answer>', ["lamp", "the cup"]),
        ("<answer>lamp, cup and book</answer>", ["lamp", "cup", "book"]),
        ("<answer>[A, C]</answer>", ["A", "C"]),
        ("<answer>ACD</answer>", ["A", "C", "D"]),
        ("<answer>[]</answer>", []),
        ("<answer>None of them.</answer>", []),
        ("<think>Not the pen.</think>The answer is: lamp and cup. That is clear.", ["lamp", "cup"]),
        ("On the table are two.\n\n- lamp\n- cup", ["lamp", "cup"]),
        ("A, B", ["A", "B"]),
    ],
)
def test_a_list_is_read(reply: str, words: list[str]) -> None:
    found = read_words(reply)
    assert isinstance(found, Reading) and found.value == words


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("I cannot see the table.", "refused"),
        ("<answer>lamp or cup</answer>", "ambiguous"),
        ("There is a table with a good number of things that stand on it", "nothing found"),
    ],
)
def test_nothing_else_is(reply: str, reason: str) -> None:
    assert read_words(reply) == Unreadable(reason=reason)


def test_order_case_and_articles_do_not_matter() -> None:
    score = own.score(question("lamp", "cup"), '<answer>["The Cup", "lamp."]</answer>')
    assert score.value == 1.0 and score.detail["f1"] == 1.0


def test_a_part_of_the_set_is_wrong_and_graded() -> None:
    score = own.score(question("lamp", "cup", "book"), "<answer>lamp, pen</answer>")
    assert score.value == 0.0 and score.nearness == score.detail["f1"] == pytest.approx(0.4)
    assert (score.detail["precision"], score.detail["recall"]) == (0.5, pytest.approx(1 / 3))


def test_the_empty_set_is_an_answer() -> None:
    assert own.score(question(), "<answer>none</answer>").value == 1.0
    assert own.score(question(), "<answer>lamp</answer>").value == 0.0
    assert own.score(question("lamp"), "<answer>[]</answer>").detail["precision"] == 0.0


def test_its_line_is_read_back_and_audited() -> None:
    asked_of = question("lamp", "Cup")
    recorded = recorded_answer(asked_of)
    stated = format_of("set").stated(asked_of, recorded)
    assert stated.right(Label(text=set_label(["cup", "the lamp"]), margin=9.0)) == RIGHT
    assert stated.right(Label(text=set_label(["cup"]), margin=9.0)) == WRONG
    assert format_of("set").stated(replace(asked_of, answer=["cup"]), recorded).right(recorded) == WRONG


def test_oracle_wrong_and_reward() -> None:
    asked_of = question("A", "C")
    assert own.score(asked_of, baselines.oracle_text(asked_of)).value == 1.0
    assert own.score(asked_of, baselines.wrong_text(asked_of)).value == 0.0
    lines = [asked_of.to_json()] * 3
    replies = ['<answer>["C", "A"]</answer>', '<answer>["C"]</answer>', "<answer>C and A</answer>"]
    right, part, not_json = accuracy_reward(replies, question=[json.dumps(line) for line in lines])
    assert right == 1.0 > part > not_json == 0.0


def test_an_invalid_answer_is_not_scored() -> None:
    for answer in ("lamp", ["lamp", "The lamp"], [1]):
        assert isinstance(own.score(replace(question("lamp"), answer=answer), "lamp"), Unscored)
