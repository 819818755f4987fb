import json
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.evaluation.judge import judge_prompt, read_judge
from tests.spatial_engine.evaluation.drafted import questions, said_once
from tests.spatial_engine.scoring.published.hostile import HOSTILE

ALL = questions()
CHOICE = replace(
    ALL["choice"], options=["Ahead and to the left", "Behind and to the left", "Ahead and to the right"], answer="A"
)


def said(quote: object, answer: object) -> str:
    return json.dumps({"quote": quote, "answer": answer})


@pytest.mark.parametrize("name", ALL)
def test_the_judge_sees_words_and_neither_the_truth_nor_the_reasoning(name: str) -> None:
    question = ALL[name]
    text = judge_prompt(question, "<think>so it is B, surely</think>I would go with the near one.")
    assert said_once(question, text) and "I would go with the near one." in text and "surely" not in text
    assert text == judge_prompt(replace(question, value=None, evidence={}), "I would go with the near one.")


def test_options_are_lettered_and_drawn_ones_are_pictures() -> None:
    assert "B. Behind and to the left" in judge_prompt(CHOICE, "")
    assert "D. (a picture)" in judge_prompt(ALL["drawn"], "")


@pytest.mark.parametrize(
    ("question", "response", "quote", "answer", "read"),
    [
        (CHOICE, "So the place lies **behind us**,\nleft.", "behind us, left", "B", "B"),
        (CHOICE, "My pick would be C I guess", "pick would be C", "C.", "C."),
        (CHOICE, "My pick would be C I guess", "pick would be C", "B", None),
        (CHOICE, "It lies ahead and right", "It lies ahead and right", "A", None),
        (CHOICE, "It lies ahead and right", "It lies behind", "B", None),
        (CHOICE, "<think>behind, left</think> I wonder", "behind, left", "B", None),
        (CHOICE, "Well, well.", "well", "A", None),
        (CHOICE, "It is C.", "It is C", "H", None),
        (CHOICE, "It is C.", "It is C", "Cat", None),
        (ALL["drawn"], "The third", "The third", "C", None),
        (ALL["drawn"], "Picture C fits", "Picture C fits", "C", "C"),
        (ALL["yes_no"], "The thing stays where it is.", "stays where it is", "no", "no"),
        (ALL["yes_no"], "Affirmative: yes", "yes", "yes", "yes"),
        (ALL["yes_no"], "Hm, know what", "no", "no", None),
        (ALL["yes_no"], "Hm, know what", "know what", "maybe", None),
        (ALL["numeric"], "roughly one and a half, 1.5", "a half, 1.5", 1.5, "1.5"),
        (ALL["numeric"], "some twelve steps", "some twelve", 12, "12"),
        (ALL["numeric"], "some twelve steps", "some twelve steps", 13, None),
        (ALL["numeric"], "some 350 cm", "some 350 cm", "350 cm", "350 cm"),
        (ALL["numeric"], "some 350 of them", "some 350 of them", "350 cm", None),
        (ALL["json"], "roll 3 deg, pitch -12.5", "roll 3 deg, pitch -12.5", {"roll": 3, "pitch": -12.5}, "json"),
        (ALL["json"], "roll 3 deg", "roll 3 deg", {"roll": 3, "pitch": -12.5}, None),
        (ALL["point"], "around x 100, y 99", "x 100, y 99", [100, 99], "json"),
        (ALL["order"], "first 3, then 5, 2, 4", "first 3, then 5, 2, 4", [3, 5, 2, 4], "json"),
        (
            ALL["plan"], "four steps dolly in, 2 pan right", "four steps dolly in, 2 pan right",
            {"actions": ["Dolly In", "Pan Right"], "step_nums": [4, 2]}, "json",
        ),
        (ALL["plan"], "go 4 ahead", "go 4 ahead", {"actions": ["Tilt Up"], "step_nums": [4]}, None),
    ],
)  # fmt: skip
def test_only_what_the_quoted_words_hold_is_read(
    question: object, response: str, quote: str, answer: object, read: str | None
) -> None:
    expected = "" if read is None else f"<answer>{json.dumps(answer) if read == 'json' else read}</answer>"
    assert read_judge(question, response, said(quote, answer)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "reply",
    [
        'Sure!\n```json\n{"quote": "pick would be C", "answer": "C"}\n```',
        "{'quote': 'pick would be C', 'answer': 'C',}",
        '{"quote": "pick would be C", "answer": "C"',
        "quote: pick would be C\nanswer: C",
        '{"quote": "pick would be C, "answer": "C"}\n{"quote": "pick would be C", "answer": "C"}',
    ],
)
def test_json_that_is_not_quite_json_is_read(reply: str) -> None:
    assert read_judge(CHOICE, "My pick would be C I guess", reply) == "<answer>C</answer>"


@pytest.mark.parametrize("reply", ["", "I cannot tell.", "C", "[1, 2]", '{"quote": "pick would be C"}', "{" * 9999])
def test_a_judge_that_cannot_be_made_out(reply: str) -> None:
    assert read_judge(CHOICE, "My pick would be C I guess", reply) is None


@pytest.mark.parametrize("answer", [None, "null", "none", ""])
def test_a_judge_that_found_nothing(answer: str | None) -> None:
    assert read_judge(CHOICE, "pick would be C", said("pick would be C", answer)) == ""


@settings(max_examples=40)
@given(st.sampled_from(sorted(ALL)), st.text(), st.text(), st.text() | st.integers() | st.lists(st.floats()))
def test_the_answer_is_part_of_the_response(name: str, response: str, quote: str, answer: object) -> None:
    found = read_judge(ALL[name], response, said(quote, answer))
    assert not found or quote.casefold().split()[0] in response.casefold()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_cost_little(text: str) -> None:
    start = time.process_time()
    judge_prompt(CHOICE, text)
    for name in ("choice", "json", "plan"):
        read_judge(ALL[name], text, said(text[:5000], text[:5000]))
        read_judge(ALL[name], text, text)
    assert time.process_time() - start < 3
