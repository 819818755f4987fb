"""Shards of `generate` that share a folder of drafts: which of them have asked, and what each draws."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from spatial_engine.annotation.executor import run
from spatial_engine.atomic_file import one_writer
from spatial_engine.dataset.array_file import DamagedFileError, read_arrays, write_arrays
from spatial_engine.dataset.balance import DEFAULTS, Selection
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.drafts import PUZZLES
from spatial_engine.dataset.finishing import FinishClip, Finished
from spatial_engine.dataset.target import Target
from spatial_engine.dataset.writing import balanced_drafts
from spatial_engine.options import Shard
from spatial_engine.progress import Progress

_NOT_DRAWN = "not drawn: generate without --shard says why"


@dataclass(frozen=True)
class ShareOfDataset(Dataset):
    """What a shard did for a dataset, which is not written yet."""

    failed: tuple[str, ...]
    """Clips of the shard that failed or are not annotated to the end, each with the reason."""


def note_asked(folder: Path, settings: str, shard: Shard, progress: Progress) -> bool:
    """Notes that all clips of a shard were asked about under these settings; whether now those of all shards were. Says
    which were not, and whether some were under others."""
    names = {f"asked {number} of {shard.count}.{settings}": number for number in range(1, shard.count + 1)}
    (folder / f"asked {shard.number} of {shard.count}.{settings}").touch()
    asked = {path.name for path in folder.glob("asked *")}
    missing = [f"{number}/{shard.count}" for name, number in names.items() if name not in asked]
    if missing:
        progress.say(f"asked, not drawn: shards that have not asked yet: {', '.join(missing)}; then run this one again")
    if asked - names.keys():
        progress.say("other shards asked with other options, of another state of the store, or of another number")
    return not missing


def check_idle(folder: Path) -> None:
    """Raises `BusyError` while a shard is asked into a folder of drafts."""
    for lock in folder.glob(".shard *.lock"):
        with one_writer(lock.with_name(lock.stem.removeprefix("."))):
            pass


def draw_shard(
    task: FinishClip, shard: Shard, *, seed: int, target: Target | None, workers: int, progress: Progress
) -> list[str]:
    """Puts the questions about a shard's clips into words and draws them, so that `write_drafts` finds them done. What
    fails here is tried, and counted, there; returns it, as `ShareOfDataset.failed`."""
    (task.folder / "media").mkdir(parents=True, exist_ok=True)
    own = _selections(task, shard, seed, target, progress)
    progress.begin("writing", len(own))
    failed = []
    for selection, result in run(task, own, workers):
        done = isinstance(result, Finished) and result.part is not None
        name = (result.name if isinstance(result, Finished) else "") or selection.clip_id or PUZZLES
        progress.step(name, "done" if done else _NOT_DRAWN)
        failed += [] if done else [f"{name}: {_NOT_DRAWN}"]
    return failed


def _selections(
    task: FinishClip, shard: Shard, seed: int, target: Target | None, progress: Progress
) -> list[Selection]:
    """The kept questions about a shard's clips. Only one shard reads what was asked about all clips, balances it, and
    files what each shard is to draw; others wait for that."""
    keys = task.drafts.filed(task.keys)
    settings = [seed, asdict(DEFAULTS), target and asdict(target), sorted(keys.items())]
    digest = sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
    files = [task.folder / f"selected for {number} of {shard.count}.{digest}" for number in range(1, shard.count + 1)]
    own = files[shard.number - 1]
    if not own.is_file():
        progress.say("balancing the questions of all shards, or waiting for the shard that does")
    with one_writer(task.folder / f"selected {digest}", wait=True):
        if not own.is_file():
            _file_selections(task, keys, files, seed, target)
    try:
        return [Selection(**each) for each in read_arrays(own)]
    except DamagedFileError:
        own.unlink()
        return _selections(task, shard, seed, target, progress)


def _file_selections(
    task: FinishClip, keys: Mapping[str, str], files: Sequence[Path], seed: int, target: Target | None
) -> None:
    whole = {id: key for id, key in keys.items() if task.drafts.is_whole(id, key)}
    by_shard: list[list[dict[str, Any]]] = [[] for _ in files]
    for selection in balanced_drafts(task.drafts, whole, seed, target=target).selections():
        number = Shard.holding(selection.clip_id or PUZZLES, len(files))
        by_shard[number - 1].append(vars(selection))
    for file, selections in zip(files, by_shard, strict=True):
        write_arrays(file, selections)
