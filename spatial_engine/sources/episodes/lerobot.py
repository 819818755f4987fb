"""LeRobot datasets of versions 2 (a table and a video per episode) and 3 (several episodes in a file)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sources.episodes.columns import numbers, read_parquet
from spatial_engine.sources.episodes.stated import Episodes
from spatial_engine.sources.episodes.table import EpisodeTable, base_from_view, share_open
from spatial_engine.sources.image_groups import natural_key

_SEE = "see docs/sequences.md"


def read_lerobot(folder: Path, stated: Episodes, video: str) -> Iterator[EpisodeTable]:
    """All episodes that are there. `video`: key of a camera. Raises `UsageError`."""
    info = _json(folder / "meta" / "info.json")
    version = str(info.get("codebase_version", ""))
    if not version.startswith(("v2", "v3")):
        raise UsageError(f"{folder} is LeRobot {version or 'without a version'}", "versions 2 and 3 are read")
    tables = _version_3(folder, info, stated, video) if version.startswith("v3") else _version_2(folder, stated, video)
    yield from tables


def _version_2(folder: Path, stated: Episodes, video: str) -> Iterator[EpisodeTable]:
    lines = (folder / "meta" / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    tasks = {row["task_index"]: row["task"] for row in map(json.loads, filter(None, lines))}
    videos = {path.stem: path for path in folder.glob(f"videos/**/{video}/episode_*.mp4")}
    for path in sorted(folder.glob("data/**/episode_*.parquet"), key=natural_key):
        columns = read_parquet(path)
        yield _episode(path, columns, slice(None), stated, tasks, (videos[path.stem],) if path.stem in videos else ())


def _version_3(folder: Path, info: Mapping[str, Any], stated: Episodes, video: str) -> Iterator[EpisodeTable]:
    listed = read_parquet(folder / "meta" / "tasks.parquet")
    texts = next((column for name, column in listed.items() if name != "task_index"), [])
    tasks = dict(zip(listed["task_index"], texts, strict=True))
    for path in sorted(folder.glob("meta/episodes/**/*.parquet"), key=natural_key):
        episodes = read_parquet(path)
        for k in range(len(episodes["episode_index"])):
            row = {name: column[k] for name, column in episodes.items()}
            data, film = (
                folder
                / str(info[what]).format(
                    video_key=video, chunk_index=row[f"{of}/chunk_index"], file_index=row[f"{of}/file_index"]
                )
                for what, of in (("data_path", "data"), ("video_path", f"videos/{video}"))
            )
            columns = read_parquet(data)
            rows = np.flatnonzero(np.array(columns["episode_index"]) == row["episode_index"])
            part = (float(row[f"videos/{video}/from_timestamp"]), float(row[f"videos/{video}/to_timestamp"]))
            pictures = (film,) if film.is_file() else ()
            name = f"episode_{row['episode_index']:06d}"
            yield _episode(data, columns, rows, stated, tasks, pictures, name=name, part_s=part)


def _episode(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    rows: Any,
    stated: Episodes,
    tasks: Mapping[int, str],
    pictures: tuple[Path, ...],
    name: str = "",
    part_s: tuple[float, float] | None = None,
) -> EpisodeTable:
    own = {column: np.array(values, dtype=object)[rows].tolist() for column, values in columns.items()}
    told = {*own.get("task_index", [])}
    opening = np.full(len(own["timestamp"]), np.nan)
    if stated.opening:
        opening = share_open(numbers(own, [stated.opening], path)[:, 0], stated)
    counted = "frame_index" if "frame_index" in own else "index"
    return EpisodeTable(
        name=name or path.stem,
        pictures=pictures,
        base_from_view=base_from_view(numbers(own, stated.pose, path), stated),
        opening=opening,
        instruction=str(tasks.get(told.pop(), "")) if len(told) == 1 else "",
        step_rows=np.empty(0, dtype=np.int64),
        success=stated.success,
        times_s=numbers(own, ["timestamp"], path)[:, 0],
        numbers=np.array(own[counted], dtype=np.int64) if counted in own else None,
        part_s=part_s,
    )


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as JSON", _SEE) from error
    return found
