"""Parquet for TRL's trainers: prompt and completion as messages, pictures embedded, and the question for the reward.

`SFTTrainer` learns `completion` after `prompt`; `GRPOTrainer` asks `prompt` and passes `question` to the functions of
`scoring.reward`. Both put `images` at the places of {"type": "image"} in their order.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.parquet import Kind, pictures, row_bytes, write_parquet
from spatial_engine.dataset.question_line import to_line
from spatial_engine.dataset.shards import SHARD_MB, write_shards
from spatial_engine.export.conversations import TOKEN, conversation
from spatial_engine.export.export_card import write_export_card
from spatial_engine.export.exporter import NO_VIDEOS, Exported, questions_by_split, shows_video
from templates.columns import Json
from templates.question import Question

COLUMNS: Mapping[str, Kind] = {
    "id": "text",
    "prompt": "messages",
    "completion": "messages",
    "images": "images",
    "question": "text",
}

_LOADING = """\
```python
from pathlib import Path

from datasets import load_dataset

rows = load_dataset(str(Path().resolve()), split="train")  # the folder of this card, or its name on the Hub
```

`SFTTrainer(..., args=SFTConfig(max_length=None), train_dataset=rows)` learns `completion` after `prompt`; a
`max_length` would cut image tokens off. `GRPOTrainer(..., reward_funcs=reward, train_dataset=rows)` asks `prompt`
alone; `reward` of `spatial_engine.scoring.reward` reads `question`, the question's line of `questions.jsonl`."""


def export_trl(
    dataset: Dataset,
    folder: Path,
    *,
    system_prompt: bool = False,
    shard_mb: int = SHARD_MB,
    reasoning: str = "none",
) -> Exported:
    """Writes `data/SPLIT-00000-of-00001.parquet` (more of them above `shard_mb`) and a card into `folder`. Leaves out
    questions that show a video."""
    (folder / "data").mkdir()
    counts = {
        split: write_shards(
            folder / "data",
            split,
            "parquet",
            (row(question, dataset.path, system_prompt, reasoning) for question in questions),
            size=row_bytes,
            shard_mb=shard_mb,
            write=lambda path, rows: write_parquet(path, COLUMNS, rows),
        )
        for split, questions in _without_videos(dataset).items()
    }
    written = write_export_card(dataset, folder, splits=counts, ending="parquet", loading=_LOADING)
    rows, videos = sum(counts.values()), sum(1 for question in dataset.questions if shows_video(question))
    return Exported(rows=rows, left_out={NO_VIDEOS: videos} if videos else {}, files=("data", *written), splits=counts)


def row(question: Question, folder: Path, system_prompt: bool = False, reasoning: str = "none") -> dict[str, Any]:
    """One row; `folder` is the dataset's."""
    turn = conversation(question, system_prompt, reasoning)
    system = [_message("system", turn.system)] if turn.system else []
    return {
        "id": question.id,
        "prompt": [*system, _message("user", turn.asked)],
        "completion": [_message("assistant", turn.answered)],
        "images": pictures(folder, question.media),
        "question": to_line(replace(question, hints=())),
    }


def _message(role: str, text: str) -> dict[str, Json]:
    """Text and places of pictures, as chat templates take them."""
    parts = [part for part in re.split(f"({TOKEN})", text) if part]
    content = [{"type": "image"} if part == TOKEN else {"type": "text", "text": part} for part in parts]
    return {"role": role, "content": content}


def _without_videos(dataset: Dataset) -> dict[str, Iterator[Question]]:
    """Questions of each split that show pictures alone."""

    def of_pictures(questions: Iterable[Question]) -> Iterator[Question]:
        return (question for question in questions if not shows_video(question))

    return {split: of_pictures(questions) for split, questions in questions_by_split(dataset).items()}
