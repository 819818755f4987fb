"""Episodes as CSV or parquet files, a row per picture, beside videos of the same names; and JSON files of BridgeData.

The words of an episode stand in a JSON file of its name: {"instruction": "...", "steps": [{"text": "...", "row": 0}],
"success": true}.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sources.episodes.columns import numbers, read_table
from spatial_engine.sources.episodes.stated import Episodes
from spatial_engine.sources.episodes.table import EpisodeTable, base_from_view, share_open
from spatial_engine.sources.image_groups import natural_key

_BRIDGE = tuple(f"state_xyzrpy_gripper.{k}" for k in range(7))


def read_tables(folder: Path, stated: Episodes, pictures: str) -> Iterator[EpisodeTable]:
    """An episode per table. Raises `UsageError`."""
    videos = {path.stem: path for path in sorted(folder.glob(pictures), key=natural_key)}
    tables = [path for path in sorted(folder.glob(stated.files or "*.csv"), key=natural_key) if path.is_file()]
    for path in tables:
        columns, words = read_table(path), read_words(path.with_suffix(".json"))
        count = len(next(iter(columns.values()), []))
        opening = np.full(count, np.nan)
        if stated.opening:
            opening = share_open(numbers(columns, [stated.opening], path)[:, 0], stated)
        yield EpisodeTable(
            name=path.relative_to(folder).with_suffix("").as_posix(),
            pictures=(videos[path.stem],) if path.stem in videos else (),
            base_from_view=base_from_view(numbers(columns, stated.pose, path), stated),
            opening=opening,
            times_s=numbers(columns, [stated.time], path)[:, 0] if stated.time else None,
            **in_words(words, stated),
        )


def read_bridge(folder: Path, stated: Episodes, pictures: str) -> Iterator[EpisodeTable]:
    """An episode per folder with an episode.json. Raises `UsageError`."""
    for path in sorted(folder.glob("**/episode.json"), key=natural_key):
        words = read_words(path)
        columns = {"state_xyzrpy_gripper": words.get("state_xyzrpy_gripper", [])}
        state = numbers(columns, _BRIDGE, path)
        yield EpisodeTable(
            name=path.parent.name,
            pictures=tuple(sorted(path.parent.glob(pictures), key=natural_key)),
            base_from_view=base_from_view(state[:, :6], stated),
            opening=share_open(np.clip(state[:, 6], -0.05, 1.05), stated),
            **in_words({**words, "instruction": words.get("language_instruction", "")}, stated),
        )


def read_words(path: Path) -> Mapping[str, Any]:
    """The object of a JSON file; none where there is no file. Raises `UsageError`."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON", "see docs/sequences.md") from error
    return found if isinstance(found, dict) else {}


def in_words(words: Mapping[str, Any], stated: Episodes) -> dict[str, Any]:
    """Instruction, steps and success as fields of an `EpisodeTable`. Raises `UsageError`."""
    steps, success = words.get("steps", []), words.get("success", stated.success)
    try:
        texts = tuple(str(step["text"]) for step in steps)
        rows = np.array([int(step["row"]) for step in steps], dtype=np.int64)
    except (TypeError, KeyError, ValueError) as error:
        raise UsageError(f"steps are {str(steps)[:60]}", 'a list of {"text": ..., "row": ...}') from error
    return {
        "instruction": str(words.get("instruction") or ""),
        "step_texts": texts,
        "step_rows": rows,
        "success": success if isinstance(success, bool) else None,
    }
