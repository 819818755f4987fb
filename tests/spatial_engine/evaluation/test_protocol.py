from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.dataset.question_line import from_line, to_line
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.protocol import INSTRUCTION, form, prompt, rotated, rotations
from tests.spatial_engine.evaluation.drafted import questions, said_once

ALL = questions()


def text(parts: tuple[object, ...]) -> str:
    return "\n".join(part for part in parts if isinstance(part, str))


@pytest.mark.parametrize("name", ALL)
def test_instruction_pictures_question_and_form_come_in_this_order(name: str) -> None:
    question = ALL[name]
    parts = prompt(question).parts
    assert parts[0] == INSTRUCTION
    assert "<answer>" in parts[-1] and form(question) in parts[-1]
    pictures = [part for part in parts if not isinstance(part, str)]
    assert [part["id"] for part in pictures] == [medium["id"] for medium in question.media]
    asked = parts.index(question.text)
    shown = [medium for medium in question.media if not medium.get("option")]
    assert sum(not isinstance(part, str) for part in parts[:asked]) == len(shown)


@pytest.mark.parametrize("name", ALL)
def test_pictures_come_right_after_their_names(name: str) -> None:
    parts = prompt(ALL[name]).parts
    named = [(parts[i - 1], part) for i, part in enumerate(parts) if not isinstance(part, str)]
    photos = [label for label, medium in named if medium["kind"] == "frames"]
    assert photos == [f"Photo {i}:" for i in range(1, len(photos) + 1)]
    drawn = [label for label, medium in named if medium.get("option")]
    assert drawn == [f"{letter}." for letter in "ABCD"[: len(drawn)]]


def test_a_map_that_is_no_option_is_called_a_map() -> None:
    question = ALL["drawn"]
    first, *others = [medium for medium in question.media if medium["kind"] == "drawing"]
    alone = {key: value for key, value in first.items() if key != "option"}
    shown = [medium for medium in question.media if medium["kind"] == "frames"]
    yes_no = replace(question, format="yes_no", options=[], media=[*shown, alone])
    assert "Map:" in prompt(yes_no).parts
    assert "Map 1:" in prompt(replace(yes_no, media=[*shown, alone, {**others[0], "option": False}])).parts


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("choice", "letter of one option (A, B)"),
        ("numeric", "one number"),
        ("json", 'one JSON object with a number for each of "roll", "pitch"'),
        ("yes_no", "yes or no"),
        ("point", "[x, y]"),
        ("plan", '"step_nums"'),
        ("order", "list of numbers"),
    ],
)
def test_every_format_has_its_form(name: str, words: str) -> None:
    assert words in prompt(ALL[name]).parts[-1]


def test_units_are_named() -> None:
    assert form(replace(ALL["numeric"], unit="deg")) == "one number, in degrees"
    assert form(replace(ALL["numeric"], unit="lux")) == "one number, in lux"


@pytest.mark.parametrize("name", ALL)
def test_blind_shows_no_picture_and_says_so(name: str) -> None:
    parts = prompt(ALL[name], blind=True).parts
    assert all(isinstance(part, str) for part in parts)
    assert "are not shown" in parts[1] and ALL[name].text in parts


@pytest.mark.parametrize("name", ALL)
def test_no_prompt_depends_on_what_is_right(name: str) -> None:
    question = ALL[name]
    swapped = {
        "choice": "B", "drawn": "B", "numeric": 9.75, "json": {"roll": 9.0, "pitch": 9.0, "vfov": 9.0}, "yes_no": "no",
        "point": [1.0, 2.0], "plan": {"actions": [], "step_nums": []}, "order": [2, 3, 4, 5],
    }[name]  # fmt: skip
    assert prompt(replace(question, answer=swapped, value=None, evidence={})).parts == prompt(question).parts


@given(st.sampled_from(["choice", "drawn"]), st.integers(0, 3))
def test_rotation_moves_options_and_the_letter_together(name: str, rotation: int) -> None:
    question = ALL[name]
    if rotation >= rotations(question):
        return
    turned = rotated(question, rotation)
    letters = "ABCD"
    assert turned.options[letters.index(turned.answer)] == question.options[letters.index(question.answer)]
    assert list(turned.options) == [
        question.options[(p + rotation) % len(question.options)] for p in range(len(question.options))
    ]
    assert prompt(question, rotation=rotation) == prompt(turned)


def test_drawn_options_turn_too() -> None:
    parts = prompt(ALL["drawn"], rotation=1).parts
    shown = [part["id"] for part in parts if not isinstance(part, str) and part.get("option")]
    first, *rest = ALL["drawn"].options
    assert shown == [*rest, first]


@pytest.mark.parametrize(("name", "rotation"), [("choice", 2), ("choice", -1), ("numeric", 1), ("order", 5)])
def test_a_rotation_that_a_question_does_not_have(name: str, rotation: int) -> None:
    with pytest.raises(UsageError, match=f"no rotation {rotation}"):
        prompt(ALL[name], rotation=rotation)


def test_rotations() -> None:
    counts = {name: rotations(question) for name, question in ALL.items()}
    assert counts == {**dict.fromkeys(ALL, 1), "choice": 2, "drawn": 4}


def test_a_question_from_a_file_is_asked_alike() -> None:
    for question in ALL.values():
        assert text(prompt(from_line(to_line(question))).parts) == text(prompt(question).parts)


def test_braces_and_signs_in_a_question_stay() -> None:
    odd = 'Answer {"a": 1} with {} and %s\n<answer>'
    assert odd in prompt(replace(ALL["choice"], prompt=odd)).parts
    assert f"{odd}\n{odd}" in prompt(replace(ALL["choice"], instructions=odd, prompt=odd)).parts


@pytest.mark.parametrize("name", ALL)
def test_instructions_and_prompt_are_said_once(name: str) -> None:
    question = ALL[name]
    assert all(said_once(question, text(prompt(question, blind=blind).parts)) for blind in (False, True))
    assert sum(bool(question.instructions) for question in ALL.values()) >= 4
