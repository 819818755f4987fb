"""The wording of a template is found again in a prompt, with what was filled in."""

from dataclasses import replace
from pathlib import Path

import pytest

from spatial_engine.language.filled import filled
from templates.question import Question
from templates.registry import TEMPLATES
from templates.wording import wordings
from tests.spatial_engine.evaluation.chat_server import small_dataset


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    folder: Path = tmp_path_factory.mktemp("filled")
    return next(iter(small_dataset(folder).questions))


def asked(question: Question, template: str, format: str, prompt: str) -> Question:
    return replace(question, template=template, format=format, prompt=prompt)


def test_every_wording_of_every_template_is_found_with_its_values(question: Question) -> None:
    for name in TEMPLATES.builtin:
        for key, wording in wordings(TEMPLATES.load(name)).items():
            values = {place: place.upper() for place in wording.placeholders}
            for prompt in wording.prompts:
                text = prompt.format(**values)
                found = filled(asked(question, name, key.partition(".")[0], text), text)
                assert found is not None, text
                assert found.wording == wording and dict(found.values) == values


def test_a_stated_tolerance_stays(question: Question) -> None:
    prompt = "How many times as far from the camera as point 1 is point 2? Counts as right: within 15 %."
    found = filled(asked(question, "range_ratio", "numeric", prompt), prompt)
    assert found is not None and prompt in found.prompts()
    assert len(found.prompts()) >= 8 and all(text.endswith("Counts as right: within 15 %.") for text in found.prompts())


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("range_ratio", "How far is it?"),
        ("by_people", "How many times as far from the camera as point 1 is point 2?"),
        ("somebody_elses", "How far is it?"),
    ],
)
def test_other_prompts_have_none(question: Question, template: str, prompt: str) -> None:
    assert filled(asked(question, template, "numeric", prompt), prompt) is None


def test_values_that_could_be_split_in_two_ways_are_not_guessed(question: Question) -> None:
    prompt = "How many times as wide as the box in box 1 is the lamp in box 1 is the pot in box 2?"
    assert filled(asked(question, "wider_object", "numeric", prompt), prompt) is None
