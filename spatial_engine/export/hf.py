"""Parquet for the `datasets` library: all fields of a question, its pictures embedded, a file per split."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import plain
from spatial_engine.export.exporter import Exported, questions_by_split
from spatial_engine.export.parquet import Kind, pictures, write_parquet
from templates.question import Question

COLUMNS: Mapping[str, Kind] = {
    "id": "text",
    "ability": "text",
    "template": "text",
    "format": "text",
    "prompt": "text",
    "images": "images",
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
}
"""Every field of a question under its own name, and `images` in the order of `media`."""
AS_JSON = frozenset(
    ("answer", "value", "sigma", "tolerance", "scorer_params", "media", "fact", "evidence", "provenance", "licence")
) | {"extra"}
"""Fields of no uniform shape: their JSON stands in the column."""

_READING = """\
## How to load it

    from datasets import load_dataset
    rows = load_dataset("path/of/this/folder")

`images` holds the pictures of `media` in their order; options that are pictures are the last ones, in the order of
`options`. Columns whose shape differs from question to question hold JSON, to be read by `json.loads`:
{columns}. Without pyarrow or `datasets` the original
`questions.jsonl` is the plainer form.
"""


def export_hf(dataset: Dataset, folder: Path) -> Exported:
    """Writes `data/SPLIT-00000-of-00001.parquet` and a card into `folder`. Holds every question."""
    (folder / "data").mkdir()
    counts = {
        split: write_parquet(
            folder / "data" / f"{split}-00000-of-00001.parquet",
            COLUMNS,
            (row(question, dataset.path) for question in questions),
        )
        for split, questions in questions_by_split(dataset).items()
    }
    text = (dataset.path / "README.md").read_text(encoding="utf-8")
    (folder / "README.md").write_text(_card(text, list(counts)), encoding="utf-8")
    return Exported(rows=sum(counts.values()), left_out={}, files=("data", "README.md"))


def row(question: Question, folder: Path) -> dict[str, Any]:
    """One row; `folder` is the data set's."""
    fields = {**plain(question.to_json()), "extra": plain(question.extra)}
    cells = {
        name: json.dumps(value, ensure_ascii=False) if name in AS_JSON else value for name, value in fields.items()
    }
    return {**{name: cells.get(name) for name in COLUMNS}, "images": pictures(folder, question.media)}


def _card(original: str, splits: list[str]) -> str:
    """The data set's own card, whose front matter now names the parquet files."""
    head, _, rest = original.removeprefix("---\n").partition("\n---\n")
    kept = head.partition("configs:")[0]
    files = "".join(f'\n      - split: {split}\n        path: "data/{split}-*.parquet"' for split in splits)
    configs = f"configs:\n  - config_name: default\n    data_files:{files or ' []'}"
    names = ", ".join(f"`{name}`" for name in COLUMNS if name in AS_JSON)
    return f"---\n{kept}{configs}\n---\n{rest.rstrip()}\n\n{_READING.format(columns=names)}"
