"""The second reading tells a question from those that differ from it in one thing."""

import re

import pytest

from spatial_engine.language.near_misses import near_misses
from spatial_engine.language.rewording import Wish, reading_request, reads_the_same, rewording_request
from spatial_engine.options import RephraseOptions

PROMPT = "If the camera turns 30° to the left, is the lamp nearer than the chair in photo 1 and photo 2?"
WISH = Wish(instructions="Answer yes or no.", prompt=PROMPT, values=("lamp", "chair"), language="en", version=2)
OPTIONS = RephraseOptions(model="writer", reader="other", max_tokens=90)


def test_near_misses_differ_in_one_thing_each() -> None:
    found = near_misses(PROMPT, ("lamp", "chair"), most=20)
    changes = "to the right", "60°", "the chair nearer than the lamp", "farther than", "photo 2 and photo 1", "is not"
    for change in changes:
        assert sum(change in text for text in found) == 1, change
    assert PROMPT not in found and len({*found}) == len(found)
    assert len(near_misses(PROMPT, ())) == 5


def lettered() -> dict[str, str]:
    (text,) = reading_request(WISH, "Reworded?", OPTIONS).parts
    return {line: letter for letter, line in re.findall(r"^([A-Z])\. (.*)$", str(text), re.MULTILINE)}


def test_the_reader_must_choose_the_original() -> None:
    right = lettered().pop(PROMPT)
    wrong = next(letter for letter in "ABCDEF" if letter != right)
    assert len(lettered()) == 6
    for reply in (right, f"{right}.", f"The answer is ({right})"):
        assert reads_the_same(WISH, "Reworded?", reply)
    for reply in (wrong, "0", "", "none", f"{right} or {wrong}", "I cannot tell"):
        assert not reads_the_same(WISH, "Reworded?", reply)


@pytest.mark.parametrize("prompt", ["Why?", "Is it?"])
def test_the_letter_of_a_prompt_without_near_misses(prompt: str) -> None:
    wish = Wish(instructions="", prompt=prompt, values=(), language="en", version=0)
    assert not reads_the_same(wish, "Reworded?", "0")


def test_requests_say_who_is_asked_what() -> None:
    writer, reader = rewording_request(WISH, OPTIONS), reading_request(WISH, "Reworded?", OPTIONS)
    assert (writer.model, reader.model) == ("writer", "other")
    assert writer.parameters == reader.parameters == {"temperature": 0.0, "max_tokens": 90}
    assert "30°; left; lamp; nearer; chair; photo 1; photo 2" in str(writer.parts[0])
    assert "wording 3 of 8" in str(writer.parts[0]) and "Answer yes or no." in str(writer.parts[0])
    assert "Reworded?" in str(reader.parts[0]) and "Answer yes or no." not in str(reader.parts[0])
