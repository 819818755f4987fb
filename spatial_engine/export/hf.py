"""Parquet for the `datasets` library: all fields of a question, its pictures embedded, some files per split."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.parquet import Kind, pictures, row_bytes, write_parquet
from spatial_engine.dataset.question_files import AS_JSON, text_row
from spatial_engine.dataset.question_files import COLUMNS as FIELDS
from spatial_engine.dataset.shards import SHARD_MB, write_shards
from spatial_engine.export.export_card import write_export_card
from spatial_engine.export.exporter import Exported, questions_by_split
from spatial_engine.language.reasoning import amount_of, chain
from spatial_engine.output_folder import place_file
from templates.columns import Json
from templates.question import Question

VIDEOS = "videos"
COLUMNS: Mapping[str, Kind] = {**FIELDS, "images": "images", "videos": "texts", "reasoning": "text"}
"""Every field of a question under its own name; `images` and `videos` in the order of `media`; `reasoning`, the chain
of thought before the answer ("" for none); and `question`, the line of `questions.jsonl`, which the functions of
`scoring.reward` take."""
_LOADING = """\
```python
from pathlib import Path

from datasets import load_dataset

rows = load_dataset(str(Path().resolve()))  # the folder of this card, or its name on the Hub
for row in rows[list(rows)[0]].select(range(1)):
    print(row["instructions"], row["prompt"], row["options"], row["answer"], row["images"])
```

Or without `datasets`:

```python
from pathlib import Path

import pyarrow.parquet

rows = [row for path in sorted(Path("data").glob("*.parquet")) for row in pyarrow.parquet.read_table(path).to_pylist()]
for row in rows[:1]:
    print(row["instructions"], row["prompt"], row["options"], row["answer"])
    print([len(picture["bytes"]) for picture in row["images"]])
```

`images` holds the pictures of `media` in their order; options that are pictures are the last ones, in the order of
`options`. `videos` holds the paths of videos in this folder. `answer` is what a model should write between the answer
tags: a letter, yes or no, a number; JSON for lists and objects. `reasoning` is what it may write before, between
<think> and </think>; empty unless the export was told to reason. `instructions` and `prompt` together are what is
asked: put the former first, or into a system message. Columns whose shape differs from question to question
hold JSON for `json.loads`: {columns}.

`question` is the question's line of `questions.jsonl`. The reward functions for TRL's GRPO trainer take that column:

    from spatial_engine.scoring.reward import reward
    trainer = GRPOTrainer(..., reward_funcs=reward, train_dataset=rows["train"])"""


def export_hf(dataset: Dataset, folder: Path, *, shard_mb: int = SHARD_MB, reasoning: str = "none") -> Exported:
    """Writes `data/SPLIT-00000-of-00001.parquet` (more of them above `shard_mb`) and a card into `folder`. Holds every
    question."""
    (folder / "data").mkdir()
    counts = {
        split: write_shards(
            folder / "data",
            split,
            "parquet",
            (row(question, dataset.path, reasoning) for question in questions),
            size=row_bytes,
            shard_mb=shard_mb,
            write=lambda path, rows: write_parquet(path, COLUMNS, rows),
        )
        for split, questions in questions_by_split(dataset).items()
    }
    files = _place_videos(dataset, folder)
    names = ", ".join(f"`{name}`" for name in COLUMNS if name in AS_JSON)
    loading = _LOADING.replace("{columns}", names)
    written = write_export_card(dataset, folder, splits=counts, ending="parquet", loading=loading)
    return Exported(rows=sum(counts.values()), left_out={}, files=("data", *files, *written), splits=counts)


def row(question: Question, folder: Path, reasoning: str = "none") -> dict[str, Any]:
    """One row; `folder` is the dataset's. Hints that no prompt shows stay in the dataset."""
    question = replace(question, hints=())
    cells = text_row(question) | {"reasoning": chain(question, amount_of(question, reasoning))}
    cells |= {"images": pictures(folder, question.media), "videos": [_video(one) for one in _videos(question)]}
    return {name: cells[name] for name in COLUMNS}


def _videos(question: Question) -> list[Mapping[str, Json]]:
    return [medium for medium in question.media if medium.get("kind") == "video"]


def _video(medium: Mapping[str, Json]) -> str:
    return f"{VIDEOS}/{Path(medium['path']).name}"


def _place_videos(dataset: Dataset, folder: Path) -> list[str]:
    """Puts the videos into their folder; its name, if there are any."""
    shown = {_video(medium): medium["path"] for question in dataset.questions for medium in _videos(question)}
    if shown:
        (folder / VIDEOS).mkdir()
    for target, path in shown.items():
        place_file(dataset.path / path, folder / target)
    return [VIDEOS] if shown else []
