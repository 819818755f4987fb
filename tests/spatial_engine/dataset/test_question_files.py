"""`generate` writes parquet files with the rows of questions.jsonl, in their order."""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_files import write_question_files
from spatial_engine.dataset.question_line import to_line
from spatial_engine.errors import SetupError
from spatial_engine.pipeline import generate


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return generate(None, tmp_path_factory.mktemp("puzzles") / "dataset", puzzles=2, parquet=True)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for file in sorted(folder.iterdir()) for row in pyarrow.parquet.read_table(file).to_pylist()]


def test_rows_are_those_of_the_lines(dataset: Dataset) -> None:
    assert [file.name for file in (dataset.path / "parquet").iterdir()] == ["questions-00000-of-00001.parquet"]
    rows = rows_of(dataset.path / "parquet")
    assert [row["question"] for row in rows] == [to_line(question) for question in dataset.questions]
    for row, question in zip(rows, dataset.questions, strict=True):
        assert (row["id"], row["prompt"], row["options"]) == (
            question.id,
            question.prompt,
            list(question.options or ()),
        )
        assert json.loads(row["provenance"]) == question.provenance
        assert all((dataset.path / medium["path"]).is_file() for medium in json.loads(row["media"]))


def test_files_are_of_a_limited_size(dataset: Dataset, tmp_path: Path) -> None:
    for name in ("questions.jsonl", "provenance.jsonl", "audit.json"):
        (tmp_path / name).write_bytes((dataset.path / name).read_bytes())
    count = write_question_files(Dataset(tmp_path), shard_mb=0)
    files = sorted(file.name for file in (tmp_path / "parquet").iterdir())
    assert len(files) == count > 1
    assert files[-1] == f"questions-{count - 1:05}-of-{count:05}.parquet"
    assert rows_of(tmp_path / "parquet") == rows_of(dataset.path / "parquet")


def test_a_run_without_them_leaves_none(dataset: Dataset) -> None:
    lines = (dataset.path / "questions.jsonl").read_bytes()
    again = generate(None, dataset.path, puzzles=2)
    assert not (again.path / "parquet").exists()
    assert (again.path / "questions.jsonl").read_bytes() == lines


def test_without_pyarrow_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SetupError, match="pyarrow"):
        generate(None, tmp_path / "dataset", puzzles=2, parquet=True)
    assert not any(tmp_path.iterdir())
