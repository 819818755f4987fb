"""Rows for TRL's trainers."""

import io
import json

import pyarrow.parquet as pq
import pytest
from PIL import Image

from spatial_engine.export import export
from spatial_engine.export.conversations import conversation
from spatial_engine.scoring.reward import accuracy_reward, reward


def rows(folder):
    return [row for path in sorted((folder / "data").iterdir()) for row in pq.read_table(path).to_pylist()]


def text(messages):
    """Words and tokens of messages, as the other exports of conversations spell them."""
    parts = (part for message in messages for part in message["content"])
    return "".join("<image>" if part["type"] == "image" else part["text"] for part in parts)


@pytest.fixture(scope="module")
def exported(every_format, tmp_path_factory):
    return rows(export(every_format, tmp_path_factory.mktemp("trl") / "out", to="trl"))


@pytest.fixture(scope="module")
def questions(every_format):
    return {question.id: question for question in every_format.questions}


def test_the_turns_are_those_of_the_other_exports(exported, questions):
    assert {row["id"] for row in exported} == set(questions)
    for row in exported:
        turn = conversation(questions[row["id"]])
        assert (text(row["prompt"]), text(row["completion"])) == (turn.asked, turn.answered)
        assert [message["role"] for message in (*row["prompt"], *row["completion"])] == ["user", "assistant"]


def test_pictures_are_inside_in_the_order_of_their_places(exported, questions):
    for row in exported:
        sizes = [list(Image.open(io.BytesIO(image["bytes"])).size) for image in row["images"]]
        assert sizes == [medium["size_px"] for medium in questions[row["id"]].media]
        assert text(row["prompt"]).count("<image>") == len(row["images"])


def test_the_completion_earns_the_reward_and_another_one_does_not(exported):
    right = [row["completion"] for row in exported]
    asked = [row["question"] for row in exported]
    assert accuracy_reward(right, question=asked) == [1.0] * len(exported)
    assert reward([[{"role": "assistant", "content": "<answer>?</answer>"}]] * len(asked), question=asked) == [
        0.0
    ] * len(asked)


def test_reasoning_stands_before_the_answer_and_earns(every_format, tmp_path):
    found = rows(export(every_format, tmp_path / "out", to="trl", reasoning="all"))
    said = [text(row["completion"]) for row in found]
    assert any(one.startswith("<think>") for one in said) and all("<answer>" in one for one in said)
    assert all(("<think>" in text(row["prompt"])) == ("<think>" in one) for row, one in zip(found, said, strict=True))
    assert accuracy_reward(said, question=[row["question"] for row in found]) == [1.0] * len(found)


def test_instructions_as_a_system_message(every_format, questions, tmp_path):
    for row in rows(export(every_format, tmp_path / "out", to="trl", system_prompt=True)):
        instructions = questions[row["id"]].instructions
        *system, user = row["prompt"]
        assert user["role"] == "user" and text(system) == instructions and len(system) == bool(instructions)


def test_the_schema_names_types_that_datasets_knows(every_format, tmp_path):
    out = export(every_format, tmp_path / "out", to="trl")
    schema = pq.read_schema(next((out / "data").iterdir()))
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert features["prompt"] == features["completion"]
    (message,) = features["prompt"]
    assert set(message) == {"role", "content"} and set(message["content"][0]) == {"type", "text"}
