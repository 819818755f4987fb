"""The questions of a dataset as parquet files: the rows of `questions.jsonl`, joined with `provenance.jsonl`."""

import json
from collections.abc import Mapping
from typing import Any

from spatial_engine.dataset.dataset import PARQUET, Dataset
from spatial_engine.dataset.parquet import Kind, write_parquet
from spatial_engine.dataset.question_line import plain, to_line
from spatial_engine.dataset.shards import SHARD_MB, write_shards
from templates.question import Question

COLUMNS: Mapping[str, Kind] = {
    "id": "text",
    "ability": "text",
    "template": "text",
    "format": "text",
    "instructions": "text",
    "prompt": "text",
    "options": "texts",
    "answer": "text",
    "value": "text",
    "unit": "text",
    "sigma": "text",
    "tolerance": "text",
    "margin": "number",
    "scorer": "text",
    "scorer_params": "text",
    "media": "text",
    "fact": "text",
    "fact_id": "text",
    "evidence": "text",
    "clip": "text",
    "seed": "integer",
    "provenance": "text",
    "licence": "text",
    "extra": "text",
    "question": "text",
}
"""Every field of a question under its own name, and `question`, its line."""
AS_JSON = frozenset(
    ("value", "sigma", "tolerance", "scorer_params", "media", "fact", "evidence", "provenance", "licence", "extra")
)
"""Fields whose shape differs from question to question: the column holds their JSON."""


def write_question_files(dataset: Dataset, *, shard_mb: int = SHARD_MB) -> int:
    """Writes `parquet/questions-00000-of-00001.parquet`, and more of them above `shard_mb`, into the folder of a
    dataset; returns the number of rows. Holds a few questions at a time. Raises `SetupError` without pyarrow."""
    folder = dataset.path / PARQUET
    folder.mkdir()
    return write_shards(
        folder,
        "questions",
        "parquet",
        map(text_row, dataset.questions),
        size=lambda row: sum(len(value) for value in row.values() if isinstance(value, str)),
        shard_mb=shard_mb,
        write=lambda path, rows: write_parquet(path, COLUMNS, rows),
    )


def text_row(question: Question) -> dict[str, Any]:
    """The cells of one row. An answer is the text between the answer tags."""
    fields = {**plain(question.to_json()), "extra": plain(question.extra), "question": to_line(question)}
    as_json = AS_JSON if isinstance(fields["answer"], str) else AS_JSON | {"answer"}
    cells = {name: fields.get(name) for name in COLUMNS}
    return cells | {name: json.dumps(cells[name], ensure_ascii=False) for name in as_json}
