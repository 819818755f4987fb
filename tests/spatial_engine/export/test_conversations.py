"""LLaVA and ShareGPT: the same turns in two spellings."""

import json
from dataclasses import replace

import pytest

from spatial_engine.export import export
from spatial_engine.export.conversations import conversation
from spatial_engine.scoring import own
from templates.question import Question
from tests.spatial_engine.evaluation.drafted import said_once
from tests.spatial_engine.language.chain_reader import faults


def rows(folder, name):
    info = json.loads((folder / "export_report.json").read_text())["files"]
    files = [
        file for file in info if file.endswith(".json") and file not in ("export_report.json", "dataset_info.json")
    ]
    assert set(files) <= {"train.json", "validation.json", "test.json"}, name
    return [row for file in files for row in json.loads((folder / file).read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def llava(every_format, tmp_path_factory):
    return export(every_format, tmp_path_factory.mktemp("llava") / "out", to="llava")


@pytest.fixture(scope="module")
def sharegpt(every_format, tmp_path_factory):
    return export(every_format, tmp_path_factory.mktemp("sharegpt") / "out", to="sharegpt")


@pytest.fixture(scope="module")
def questions(every_format) -> dict[str, Question]:
    return {question.id: question for question in every_format.questions}


def test_llava_rows(llava, questions):
    found = rows(llava, "llava")
    assert {row["id"] for row in found} == set(questions)
    for row in found:
        human, answer = row["conversations"]
        images = [row["image"]] if isinstance(row["image"], str) else row["image"]
        assert (human["from"], answer["from"]) == ("human", "gpt")
        assert human["value"].count("<image>") == len(images) == len(questions[row["id"]].media)
        assert all((llava / image).is_file() for image in images)
        assert said_once(questions[row["id"]], human["value"])


def test_llava_15_rows_show_one_picture_at_most(every_format, questions, llava, tmp_path):
    out = export(every_format, tmp_path / "out", to="llava-1.5")
    found = {row["id"]: row for row in rows(out, "llava-1.5")}
    assert set(found) == {id for id, question in questions.items() if len(question.media) <= 1}
    assert 0 < len(found) < len(questions) and all(
        found[row["id"]] == row for row in rows(llava, "llava") if row["id"] in found
    )
    (left_out,) = json.loads((out / "export_report.json").read_text())["left_out"].values()
    assert left_out == len(questions) - len(found)


def test_sharegpt_rows(sharegpt, questions):
    found = rows(sharegpt, "sharegpt")
    assert {row["id"] for row in found} == set(questions)
    for row in found:
        user, assistant = row["messages"]
        assert (user["role"], assistant["role"]) == ("user", "assistant")
        assert user["content"].count("<image>") == len(row["images"]) and "<image>" not in assistant["content"]
        assert all((sharegpt / image).is_file() for image in row["images"])
        assert said_once(questions[row["id"]], user["content"])


def test_instructions_as_a_system_message(every_format, questions, tmp_path):
    out = export(every_format, tmp_path / "out", to="sharegpt", system_prompt=True)
    plain = export(every_format, tmp_path / "plain", to="sharegpt")
    joined = {row["id"]: row["messages"] for row in rows(plain, "sharegpt")}
    found = rows(out, "sharegpt")
    assert {bool(questions[row["id"]].instructions) for row in found} == {True, False}
    for row in found:
        question = questions[row["id"]]
        *system, user, assistant = row["messages"]
        said = [{"role": "system", "content": question.instructions}] if question.instructions else []
        assert system == said and (user["role"], assistant) == ("user", joined[question.id][1])
        assert user["content"] == joined[question.id][0]["content"].replace(question.text, question.prompt)
    (entry, *_) = json.loads((out / "dataset_info.json").read_text()).values()
    assert entry["tags"]["system_tag"] == "system"  # LLaMA-Factory skips roles that `tags` does not name


def test_dataset_info_names_every_file(sharegpt):
    info = json.loads((sharegpt / "dataset_info.json").read_text())
    assert info and all(name.startswith("spatial_every_format_") for name in info)
    for entry in info.values():
        assert (sharegpt / entry["file_name"]).is_file() and entry["formatting"] == "sharegpt"
        first = json.loads((sharegpt / entry["file_name"]).read_text(encoding="utf-8"))[0]
        assert set(entry["columns"].values()) <= set(first)
        assert {entry["tags"]["role_tag"], entry["tags"]["content_tag"]} == set(first["messages"][0])


def test_what_is_taught_is_right(llava, questions):
    for row in rows(llava, "llava"):
        assert own.score(questions[row["id"]], row["conversations"][1]["value"]).value == 1.0


def test_a_picture_stands_where_its_name_does(questions):
    drawn = next(q for q in questions.values() if q.template == "path_map")
    said = conversation(drawn)
    assert "Photo 2:\n<image>\n" in said.asked and "\nA.\n<image>\nB.\n<image>" in said.asked
    assert "step by step" not in said.asked


def test_words_that_look_like_tokens_are_none(questions):
    question = next(q for q in questions.values() if q.format == "yes_no")
    said = conversation(replace(question, prompt="Is <image> or <video> or <audio> in view?"))
    assert said.asked.count("<image>") == len(said.images) and "(video)" in said.asked and "<audio>" not in said.asked


@pytest.mark.parametrize("form", ["llava", "sharegpt"])
def test_reasoning_stands_before_the_answer_and_is_asked_for(every_format, questions, tmp_path, form):
    found = rows(export(every_format, tmp_path / "out", to=form, reasoning="all"), form)
    turns = [row["conversations" if form == "llava" else "messages"] for row in found]
    for row, ((_, asked), (_, answered)) in zip(
        found, [[[*turn.values()] for turn in one] for one in turns], strict=True
    ):
        assert "between <think> and </think>" in asked and answered.startswith("<think>")
        assert not faults(questions[row["id"]], answered)
        assert own.score(questions[row["id"]], answered).value == 1.0
