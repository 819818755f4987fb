"""Damage in a store: found by reading every byte, and removed, so that the next `annotate` computes it again."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from experts.signals import SIGNAL_TYPES
from spatial_engine.atomic_file import read_json
from spatial_engine.errors import BusyError, StoreError
from spatial_engine.options import StrPath
from spatial_engine.progress import Progress, Silent
from spatial_engine.store.checksums import FILE as CHECKSUMS
from spatial_engine.store.checksums import NO_CHECKSUM, fault, write_checksum
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.signal_file import read_signal
from spatial_engine.store.store import Store, open_store

SIGNAL_FILE = re.compile(r"(?P<signal>\w+)\.(?P<key>\w+)\.(zarr\.zip|json)")
"""Names of the files of signals."""


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A file of a store that is not what it must be."""

    file: Path
    reason: str


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What `check_store` found."""

    files: int
    """Files that were read."""
    bytes: int
    """Their size."""
    damage: tuple[Damage, ...]
    missing: tuple[str, ...]
    """What is not there, in words: clips that are not annotated to the end, and signals that a clip names."""
    busy: tuple[str, ...]
    """Ids of clips that another process writes: what they lack may be on its way."""


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """What `repair_store` did."""

    removed: tuple[Damage, ...]
    """Files that the next `annotate` makes again."""
    restored: tuple[Path, ...]
    """Signals that had lost their checksum, and are whole."""
    ledger: int
    """Entries that the ledger lacked."""
    busy: tuple[str, ...]
    """Ids of clips that another process writes: they were left alone."""


def check_store(store: StrPath | Store, *, progress: Progress | None = None) -> Checked:
    """Compares every signal with its checksum and reads every other file of a store. Changes nothing. Raises
    `StoreError` if `store` is none."""
    store, progress = _opened(store), progress or Silent()
    damage, folders, missing = _damage_beside_clips(store), clip_folders(store), _missing(store)
    busy: list[str] = []
    progress.begin("checking", len(folders))
    for folder in folders:
        found = list(_damage_of_clip(store, folder))
        if found:  # looked at again while nobody writes
            try:
                with store.one_writer(folder.name):
                    found = list(_damage_of_clip(store, folder))
            except BusyError:
                found = []
                busy.append(folder.name)
            except OSError:
                pass  # a store that may only be read has no writer
        damage += found
        progress.step(folder.name, "damaged" if found else "incomplete" if folder.name in missing else "whole")
    sizes = [size for place in ("clips", "footage", "cache") for size in _sizes(store.path / place)]
    lacking = tuple(f"clip {clip_id}: {what}" for clip_id, parts in missing.items() for what in parts)
    return Checked(files=len(sizes), bytes=sum(sizes), damage=tuple(damage), missing=lacking, busy=tuple(busy))


def repair_store(store: StrPath | Store, *, progress: Progress | None = None) -> Repaired:
    """Removes every damaged file, so that the next `annotate` makes it again, and completes the ledger.

    A signal that has lost its checksum is kept if all its parts are whole. Raises `StoreError` if `store` is none.
    """
    store, progress = _opened(store), progress or Silent()
    removed, folders = _damage_beside_clips(store), clip_folders(store)
    restored: list[Path] = []
    busy: list[str] = []
    for one in removed:
        one.file.unlink(missing_ok=True)
    progress.begin("repairing", len(folders))
    for folder in folders:
        try:
            with store.one_writer(folder.name):
                kept, lost = _repair_clip(store, folder)
        except BusyError:
            busy.append(folder.name)
            continue
        restored += kept
        removed += lost
        progress.step(folder.name, "repaired" if kept or lost else "whole")
    ledger = Ledger.open(store).catch_up(store)
    return Repaired(removed=tuple(removed), restored=tuple(restored), ledger=ledger, busy=tuple(busy))


def clip_folders(store: Store) -> list[Path]:
    """The folder of every clip, also of those whose footage is gone."""
    place = store.path / "clips"
    return sorted(folder for folder in place.iterdir() if folder.is_dir()) if place.is_dir() else []


def signal_files(folder: Path) -> dict[Path, tuple[str, str]]:
    """Files of the signals in a clip's folder, with name and key of the signal."""
    names = {file: SIGNAL_FILE.fullmatch(file.name) for file in sorted(folder.iterdir())}
    return {file: (name["signal"], name["key"]) for file, name in names.items() if name}


def _opened(store: StrPath | Store) -> Store:
    return store if isinstance(store, Store) else open_store(store)


def _damage_beside_clips(store: Store) -> list[Damage]:
    """Damaged records of footage, and damaged entries of the cache."""
    footage = [(file, store.footage_of) for file in sorted((store.path / "footage").glob("*.json"))]
    cache = [(file, _object) for file in sorted((store.path / "cache").glob("*.json"))]
    return [
        Damage(file=file, reason=reason) for file, read in [*footage, *cache] if (reason := _unreadable(file, read))
    ]


def _damage_of_clip(store: Store, folder: Path) -> Iterator[Damage]:
    readers: dict[str, Callable[[Path], object]] = {
        "clip.json": lambda _: store.record(folder.name),
        "failed.json": _object,
        CHECKSUMS: _object,
    }
    for name, read in readers.items():
        if (folder / name).is_file() and (reason := _unreadable(folder / name, read)):
            yield Damage(file=folder / name, reason=reason)
    for file in signal_files(folder):
        if reason := fault(file):
            yield Damage(file=file, reason=reason)


def _missing(store: Store) -> dict[str, list[str]]:
    """What clips lack, in words, by clip id."""
    try:
        unfinished, records = store.unfinished(), store.readable_records()
    except StoreError:  # a record of footage is damaged: which clips count is not known
        return {}
    found = {clip_id: ["not annotated to the end"] for clip_id in unfinished}
    for clip_id, record in records.items():
        failed = store.failures(clip_id)
        files = {(name, key) for name, key in signal_files(store.clip_folder(clip_id)).values()}
        lost = [name for name, key in record.signals.items() if (name, key) not in files and key not in failed]
        if lost:
            found.setdefault(clip_id, []).extend(f"its signal {name}" for name in lost)
    return found


def _repair_clip(store: Store, folder: Path) -> tuple[list[Path], list[Damage]]:
    """Signals whose checksum was written anew, and the damage that was removed."""
    restored, removed = [], []
    for one in list(_damage_of_clip(store, folder)):
        if one.reason == NO_CHECKSUM and _is_whole(one.file):
            write_checksum(one.file)
            restored.append(one.file)
        else:
            one.file.unlink()
            removed.append(one)
    return restored, removed


def _is_whole(file: Path) -> bool:
    """Whether a signal can be read to its end: every part of its file carries a checksum of its own."""
    with suppress(StoreError):
        read_signal(file, SIGNAL_TYPES[signal_files(file.parent)[file][0]])
        return True
    return False


def _unreadable(file: Path, read: Callable[[Path], object]) -> str:
    """Why a JSON file cannot be read; empty if it can."""
    try:
        read(file)
    except (StoreError, ValueError):
        return "it cannot be read"
    return ""


def _object(file: Path) -> None:
    if not isinstance(read_json(file), dict):
        raise ValueError("no JSON object")


def _sizes(folder: Path) -> list[int]:
    return [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
