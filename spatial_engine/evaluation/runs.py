"""The folders of runs, OUT/<run>/{run.json, responses.jsonl, scores.jsonl, claims.jsonl, result.json}. One dataset
per OUT."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from spatial_engine.atomic_file import read_json, write_json
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.responses import NAME, Key, Response, ResponseFile, latest
from spatial_engine.evaluation.result import METHOD
from spatial_engine.evaluation.scored import ScoredItem, Status
from spatial_engine.options import Shard
from templates.columns import Json

RUN = "run.json"
SCORES = "scores.jsonl"
CLAIMS = "claims.jsonl"
RESULT = "result.json"
BINDING = ("source", "baseline", "model", "blind", "system_prompt", "system_text", "hints", "hint_pictures", "settings")
"""Settings that may not change within a run."""
RESERVED = ("oracle", "no-op", "empty", "random", "most-frequent")
"""Names of the baselines that are written beside every run."""
_TAKEN = ("report", "comparison.json", RUN, SCORES, CLAIMS, RESULT, NAME, "store", "dataset", "items")
"""Names that `report` writes beside the runs, and names in folders of other kinds."""
_OTHERS = {
    "audit.json": "a dataset",
    "questions.jsonl": "a dataset",
    "store.json": "a store",
    "dataset/audit.json": "the OUT of `run`, which report draws otherwise",
    RUN: "a single run",
}
"""The kind of a folder with this file."""
_NAME_BYTES = 200  # file systems allow 255; suffixes are added to a name


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    @property
    def record(self) -> dict[str, Json]:
        """The content of `run.json`."""
        return dict(read_json(self.path / RUN))

    @property
    def responses(self) -> ResponseFile:
        """The file of its answers."""
        return ResponseFile(self.path / NAME)

    def of_shard(self, shard: Shard) -> ResponseFile:
        """The file to which a shard adds its answers; for the whole, that of the run."""
        return self.responses if shard.count == 1 else ResponseFile(self.path / f"responses.{shard.file_name}.jsonl")

    @property
    def of_shards(self) -> list[ResponseFile]:
        """The files of all shards whose answers are not in `responses` yet."""
        return [ResponseFile(path) for path in sorted(self.path.glob("responses.*-of-*.jsonl"))]

    def answers(self) -> dict[Key, Response]:
        """All answers, those of shards included."""
        files = (self.responses, *self.of_shards)
        return latest(response for file in files for response in file.read().values())


def open_run(out: str | Path, record: Mapping[str, Json]) -> RunFolder:
    """Creates the folder of a run, or opens it to resume. `record`: its `run.json`, with name and dataset_digest.

    Raises `UsageError` as `check_place`, and if OUT holds runs on another dataset, or if the run has other settings.
    """
    out, name = Path(out), str(record["name"])
    check_place(out, name, baseline=record["baseline"] is True)
    _check_digests(out, record)
    folder = RunFolder(out / name)
    if (folder.path / RUN).is_file():
        _check_settings(folder, record)
    elif folder.path.exists() and any(folder.path.iterdir()):
        raise UsageError(f"{folder.path} holds something that is not a run", "choose another --name or -o")
    write_json(folder.path / RUN, dict(record))
    return folder


def check_place(out: str | Path, name: str, *, baseline: bool = False) -> None:
    """Raises `UsageError` if OUT is something else than a folder of runs, or if the name is not allowed."""
    _check_name(name, baseline)
    for place in (Path(out), *Path(out).parents):
        if place.exists() and not place.is_dir():
            raise UsageError(f"{place} is a file, not a folder", "name an empty or a new folder")
    for mark, kind in _OTHERS.items():
        if (Path(out) / mark).is_file():
            raise UsageError(f"-o {out} is {kind}", "name a folder for runs alone: a new one, or one that holds some")


def _check_name(name: str, baseline: bool) -> None:
    """Raises `UsageError` if the name is not allowed."""
    size = len(name.encode()) if name.isprintable() else 0
    if not size or "/" in name or "\\" in name or name.startswith("."):
        raise UsageError(f"--name {name[:80]!r} cannot be the name of a folder", "use letters, digits, - and _")
    if size > _NAME_BYTES:
        raise UsageError(f"--name {name[:40]}... is too long: {size} bytes", f"give at most {_NAME_BYTES}: --name RUN")
    if name.casefold() in RESERVED and not baseline:
        raise UsageError(f"--name {name} is a baseline's name", f"taken are: {', '.join(RESERVED)}")
    if name.casefold() in _TAKEN:
        raise UsageError(f"--name {name} is reserved", "choose another: --name RUN")


def runs(out: Path) -> dict[str, dict[str, Json]]:
    """`run.json` of every run in OUT, by name. Raises `UsageError` for one that cannot be read."""
    found = {}
    for file in sorted(out.glob(f"*/{RUN}")):
        try:
            record = dict(read_json(file))
            found[str(record["name"])] = record
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(f"{file} is damaged: {error}", f"remove the folder {file.parent}") from error
    return found


def run_name(model: str, chosen: Iterable[str]) -> str:
    """The default name of a run: the last part of the model's name, and options that differ from the default."""
    last = re.sub(r"[^\w.+-]+", "-", model.rstrip("/").rpartition("/")[2]).strip("-.") or "model"
    return "-".join([last, *chosen])


def _check_digests(out: Path, record: Mapping[str, Json]) -> None:
    others = [run for run, found in runs(out).items() if found.get("dataset_digest") != record["dataset_digest"]]
    if others:
        cause = f"{out} holds runs of another dataset, or of an earlier state of this one ({', '.join(others[:3])})"
        raise UsageError(cause, "name another folder: one holds runs of one dataset")


def _check_settings(folder: RunFolder, record: Mapping[str, Json]) -> None:
    before = folder.record
    changed = [name for name in BINDING if (before.get(name) or None) != (record.get(name) or None)]
    if changed:
        differences = "; ".join(f"{name} was {before.get(name)}, now {record.get(name)}" for name in changed)
        cause = f"{folder.path} has other settings: {differences}"
        raise UsageError(cause, "choose another --name, or the same settings")


_FIELDS = {field.name for field in fields(ScoredItem)}


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A finished run."""

    path: Path
    record: Mapping[str, Json]
    """The content of `run.json`; empty if it cannot be read."""

    @property
    def name(self) -> str:
        """The name of the folder, which is unique in OUT; names of models need not be."""
        return self.path.name

    @property
    def baseline(self) -> bool:
        """Whether it is a baseline or a blind run."""
        return self.record.get("baseline") is True or self.record.get("blind") is True

    @property
    def dataset(self) -> Path | None:
        """Path of the dataset at the time of asking."""
        place = self.record.get("dataset")
        return Path(place) if isinstance(place, str) and place else None

    def scores(self, file: str = SCORES) -> tuple[list[ScoredItem], int]:
        """Its scored items, or those of `CLAIMS`, and the number of unreadable lines (such as the last line of a killed
        run)."""
        found, damaged = [], 0
        try:
            with (self.path / file).open("rb") as lines:
                for line in lines:
                    item = _item(line)
                    found += [item] if item is not None else []
                    damaged += item is None
        except FileNotFoundError:
            pass
        return found, damaged

    def kept_result(self) -> dict[str, Any] | None:
        """The content of `result.json`; None if it is missing, or older than the scores or than this program."""
        file = self.path / RESULT
        try:
            if file.stat().st_mtime_ns < (self.path / SCORES).stat().st_mtime_ns:
                return None
        except OSError:
            return None
        found = _record(file)
        return found if found.get("method") == METHOD else None


def finished_runs(out: Path) -> list[FinishedRun]:
    """All runs of an evaluation folder, by name. A run is a folder with a `run.json` in it."""
    if not out.is_dir():
        return []
    return [FinishedRun(path=path, record=_record(path / RUN)) for path in sorted(out.iterdir()) if _is_run(path)]


def _is_run(path: Path) -> bool:
    return not path.name.startswith(".") and (path / RUN).is_file()


def _record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _item(line: bytes) -> ScoredItem | None:
    """The item of one line; None if it is invalid. Unknown keys are ignored."""
    try:
        record = json.loads(line)
        item = ScoredItem(**{name: record[name] for name in record if name in _FIELDS})
    except (ValueError, TypeError, RecursionError):
        return None
    words = (item.id, item.ability, item.format, item.template, item.fact_id, item.clip)
    shares = (item.score, item.chance)
    sound = (
        all(isinstance(word, str) for word in words)
        and all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
        and item.ability.count("/") == 2
        and item.status in get_args(Status)
    )
    return item if sound else None
