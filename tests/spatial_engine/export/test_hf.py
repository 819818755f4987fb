import io
import json
import sys

import pyarrow.parquet as pq
import pytest
from PIL import Image

from spatial_engine.dataset.question_files import AS_JSON
from spatial_engine.dataset.question_line import plain
from spatial_engine.errors import SetupError
from spatial_engine.export import export
from spatial_engine.export.hf import COLUMNS
from spatial_engine.scoring.reward import accuracy_reward


@pytest.fixture(scope="module")
def exported(every_format, tmp_path_factory):
    return export(every_format, tmp_path_factory.mktemp("hf") / "out", to="hf")


def tables(folder):
    return {path.name.partition("-")[0]: pq.read_table(path) for path in (folder / "data").iterdir()}


def test_every_field_of_every_question_comes_back(exported, every_format):
    read = {}
    for table in tables(exported).values():
        for row in table.to_pylist():
            assert list(row) == list(COLUMNS)
            read[row["id"]] = {key: json.loads(value) if key in AS_JSON else value for key, value in row.items()}
            words = row["format"] in ("choice", "yes_no")
            read[row["id"]]["answer"] = row["answer"] if words else json.loads(row["answer"])
    for question in every_format.questions:
        fields = plain(question.to_json())
        assert {name: read[question.id][name] for name in fields} == fields
    assert len(read) == every_format.audit["questions"]


def test_an_answer_is_what_stands_between_the_tags_and_earns_its_reward(exported, every_format):
    right = {question.id: question.answer for question in every_format.questions}
    rows = [row for table in tables(exported).values() for row in table.to_pylist()]
    assert {row["answer"] for row in rows if row["format"] in ("choice", "yes_no")} <= {*"ABCDE", "yes", "no"}
    assert all(row["answer"] == right[row["id"]] for row in rows if isinstance(right[row["id"]], str))
    completions = [f"<answer>{row['answer']}</answer>" for row in rows]
    assert accuracy_reward(completions, question=[row["question"] for row in rows]) == [1.0] * len(rows)


def test_pictures_are_inside_in_the_order_of_media(exported, every_format):
    questions = {question.id: question for question in every_format.questions}
    for table in tables(exported).values():
        for row in table.to_pylist():
            media = questions[row["id"]].media
            assert [picture["path"] for picture in row["images"]] == [medium["path"].split("/")[1] for medium in media]
            assert [list(Image.open(io.BytesIO(p["bytes"])).size) for p in row["images"]] == [
                m["size_px"] for m in media
            ]


def test_the_schema_names_types_that_datasets_knows(exported):
    for table in tables(exported).values():
        features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
        assert list(features) == list(COLUMNS)
        assert features["images"] == {"feature": {"_type": "Image"}, "_type": "Sequence"}
        assert features["margin"] == {"dtype": "float64", "_type": "Value"}


def test_splits_are_those_of_the_audit(exported, every_format):
    splits = every_format.audit["splits"]
    for name, table in tables(exported).items():
        assert set(table["clip"].to_pylist()) <= set(splits[name])
    card = (exported / "README.md").read_text(encoding="utf-8")
    head, body = card.removeprefix("---\n").split("\n---\n", 1)
    assert "questions.jsonl" not in head and body.startswith("\n#")
    assert all(f'path: "data/{name}-*.parquet"' in head for name in tables(exported))


def test_datasets_loads_it(exported, tmp_path):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed: pip install datasets")
    loaded = datasets.load_dataset(str(exported), cache_dir=str(tmp_path))
    assert {name: split.num_rows for name, split in loaded.items()} == {
        n: t.num_rows for n, t in tables(exported).items()
    }
    assert all(isinstance(picture, Image.Image) for split in loaded.values() for picture in split[0]["images"])


def test_without_pyarrow_the_command_is_named(every_format, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for form in ("hf", "lmms-eval"):
        with pytest.raises(SetupError, match="pip install pyarrow"):
            export(every_format, tmp_path / form, to=form)
        assert not (tmp_path / form).exists()
