"""Where the options of a choice stand, and what its answer is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.evaluation.benchmarks.benchmark import COLUMNS
from spatial_engine.evaluation.benchmarks.choices import are_fixed, options_of, right_letter, split, without_letters
from spatial_engine.evaluation.benchmarks.fields import Fields
from spatial_engine.evaluation.benchmarks.rows import BrokenRow, Row

LEFT_RIGHT = ["left", "right"]


@pytest.mark.parametrize(
    ("question", "stem", "options"),
    [
        ("Where? Options: A: left, B: right", "Where?", LEFT_RIGHT),
        ("Where?\nOptions:\nA. left\nB. right\n", "Where?", LEFT_RIGHT),
        ("Where is (A) the cup? (A) left (B) right", "Where is (A) the cup?", LEFT_RIGHT),
        ("Where? A) left; B) right;", "Where?", LEFT_RIGHT),
        ("From A to B: which way? A. left B. right", "From A to B: which way?", LEFT_RIGHT),
        ("Does it fit? The choices are: A. yes B. no", "Does it fit?", ["yes", "no"]),
        ("Where? A. 1.5 m B. 2.5 m, not 3 C. far", "Where?", ["1.5 m", "2.5 m, not 3", "far"]),
        ("Where is it? A. only one", "Where is it? A. only one", []),
        ("Which of USA: a, UN: b?", "Which of USA: a, UN: b?", []),
    ],
)
def test_options_in_the_question(question: str, stem: str, options: Sequence[str]) -> None:
    assert split(question) == (stem, options)


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"options": ["A. left", "B. right"]}, LEFT_RIGHT),
        ({"options": "['left', 'right']"}, LEFT_RIGHT),
        ({"options": '["(A) left", "(B) right"]'}, LEFT_RIGHT),
        ({"candidates": ["left", "right"]}, LEFT_RIGHT),
        ({"options": ["A", "B"]}, ["A", "B"]),
        ({"A": "left", "B": "right", "C": "", "D": "up"}, LEFT_RIGHT),
        ({"options": "", "question": "Where? A. left B. right"}, LEFT_RIGHT),
        ({"options": [1, 2, 3]}, ["1", "2", "3"]),
    ],
)
def test_options_of_a_row(values: dict[str, Any], options: Sequence[str]) -> None:
    fields = Fields(Row(values=values, table=Path("t.tsv"), number=1), COLUMNS)
    assert options_of(fields, str(values.get("question", "Where?"))) == ("Where?", options)


def test_rows_without_options() -> None:
    for values in ({}, {"options": ["one"]}, {"A": "the answer", "C": "a category"}):
        with pytest.raises(BrokenRow, match="no options"):
            options_of(Fields(Row(values=values, table=Path("t.tsv"), number=1), COLUMNS), "Where?")


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("B", "B"), ("(B)", "B"), ("B.", "B"), ("B. right", "B"), (1, "B"), ("right", "B"), (" A ", "A")],
)
def test_right_answers(answer: Any, letter: str) -> None:
    assert right_letter(answer, LEFT_RIGHT) == letter


@pytest.mark.parametrize("answer", ["C", "", "b", 2, -1, True, None, "Behind", "right or left"])
def test_answers_that_are_no_option(answer: Any) -> None:
    with pytest.raises(BrokenRow, match="the answer is none of the options"):
        right_letter(answer, LEFT_RIGHT)


def test_texts_that_begin_with_other_letters_keep_them() -> None:
    assert without_letters(["B. left", "A. right"]) == ["B. left", "A. right"]


@pytest.mark.parametrize("text", ["Figure B", "(C)", "D", "none of the above", "both A and C", "A or B"])
def test_options_that_name_letters_keep_their_places(text: str) -> None:
    assert are_fixed(["left", text])


def test_other_options_may_change_their_places() -> None:
    assert not are_fixed(["left", "A chair", "above the table", "to the back", "both of them"])
