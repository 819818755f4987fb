"""What VLMEvalKit does with a table, told again in a few lines (docs/exports.md: its own code has run on them)."""

import ast
import csv
import io
import json
import sys
from base64 import b64decode
from dataclasses import replace

import pytest
from PIL import Image

from spatial_engine.dataset.question_line import from_line
from spatial_engine.export import export
from spatial_engine.export.vlmevalkit import circular_rows
from spatial_engine.scoring import own
from templates.answers.score import Unscored
from tests.spatial_engine.evaluation.drafted import said_once

LETTERS = "ABCDEFGH"


@pytest.fixture(scope="module")
def exported(every_format, tmp_path_factory):
    return export(every_format, tmp_path_factory.mktemp("vlmevalkit") / "out", to="vlmevalkit")


def table(folder, suffix):
    csv.field_size_limit(sys.maxsize)
    with (folder / f"spatial_every_format{suffix}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def listed(cell):
    return ast.literal_eval(cell) if cell.startswith("[") else [cell]


def options(row):
    return [row[letter] for letter in LETTERS if row.get(letter)]


@pytest.fixture(scope="module")
def questions(every_format):
    return {question.id: question for question in every_format.questions}


def test_choices(exported, questions):
    rows = table(exported, "")
    assert {row["id"] for row in rows} == {q.id for q in questions.values() if q.format == "choice"}
    assert [int(row["index"]) for row in rows] == list(range(len(rows)))
    for row in rows:
        question = questions[row["id"]]
        assert row["answer"] == question.answer and len(options(row)) == len(question.options)
        assert said_once(question, row["question"])
        assert (row["category"], row["l2-category"]) == (question.ability, question.ability.rsplit("/", 1)[0])
        pictures, names = listed(row["image"]), listed(row["image_path"])
        assert len(pictures) == len(names) == len(question.media)
        assert all(Image.open(io.BytesIO(b64decode(picture))).size for picture in pictures)


def test_circular_rotations(exported, questions):
    """Position p of rotation i shows option (p + i) mod k; the picture of the first stands for all."""
    rows = {int(row["index"]): row for row in table(exported, "_circular")}
    for index, row in rows.items():
        first, rotation = rows[int(row["g_index"])], index // 1_000_000
        shown, original = options(row), options(first)
        assert shown == original[rotation:] + original[:rotation]
        assert shown[LETTERS.index(row["answer"])] == original[LETTERS.index(first["answer"])]
        assert row["image"] == (str(row["g_index"]) if rotation else first["image"])
    groups = [sum(row["id"] == id for row in rows.values()) for id in {row["id"] for row in rows.values()}]
    assert sorted(groups) == sorted(len(q.options) for q in questions.values() if q.format == "choice")


def test_other_formats_carry_their_question(exported, questions):
    rows = table(exported, "_open")
    assert {row["id"] for row in rows} == {q.id for q in questions.values() if q.format != "choice"}
    for row in rows:
        question = from_line(row["item"])
        assert question == questions[row["id"]]
        assert own.score(question, row["answer"]).value == 1.0
        assert "<answer>" in row["question"] and said_once(question, row["question"])


def test_options_that_pandas_would_take_for_something_else(every_format, questions):
    question = next(q for q in questions.values() if q.template == "range_ratio" and q.format == "choice")
    for text in ("None", "NA", " nan ", "12", "1e3"):
        found = circular_rows(replace(question, options=[text, "Point B"]), 0, every_format.path)
        assert found == Unscored(reason="pandas would not read an option as text")


def test_options_that_hold_labels_are_not_rotated(every_format, questions):
    question = next(q for q in questions.values() if q.template == "range_ratio" and q.format == "choice")
    assert len(circular_rows(question, 0, every_format.path)) == 2
    held = replace(question, options=["Between A and B", "Beside them"])
    assert len(list(circular_rows(held, 0, every_format.path))) == 1


def test_the_report_counts(exported, every_format):
    report = json.loads((exported / "export_report.json").read_text())
    assert report["choices"] + report["others"] == report["rows"] == every_format.audit["questions"]
    assert "vlmeval" in (exported / "spatial_engine_dataset.py").read_text()
    assert (exported / "scorer.zip").is_file()
