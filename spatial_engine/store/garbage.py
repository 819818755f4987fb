"""Files of a store that nothing needs: signals of former settings, and what killed processes left."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.atomic_file import abandoned
from spatial_engine.errors import BusyError, StoreError
from spatial_engine.options import StrPath
from spatial_engine.progress import Progress, Silent
from spatial_engine.store.checksums import forget_missing
from spatial_engine.store.damage import clip_folders, signal_files
from spatial_engine.store.store import Store, open_store


@dataclass(frozen=True, kw_only=True)
class Garbage:
    """What `gc_store` removed, or with `dry_run` would remove."""

    former: tuple[Path, ...]
    """Signals under keys that no clip refers to: of former settings, versions or weights."""
    forgotten: tuple[Path, ...]
    """Folders of clips whose footage is no longer in the store."""
    leftovers: tuple[Path, ...]
    """Temporary files of processes that ended."""
    bytes: int
    """The size of all."""
    busy: tuple[str, ...]
    """Ids of clips that another process writes: they were left alone."""


def gc_store(
    store: StrPath | Store, *, forgotten: bool = False, dry_run: bool = False, progress: Progress | None = None
) -> Garbage:
    """Removes the files of a store that nothing needs. Clips whose `clip.json` is damaged keep everything.

    Args:
        store: a store or its folder.
        forgotten: whether to remove also the clips whose footage was removed, moved, or left out since: without them,
            all is computed again if it comes back.
        dry_run: only say what would be removed.
        progress: who is told; None: nobody.

    Raises:
        StoreError: `store` is none, or a record of its footage is damaged, so that it is not known which clips count.
    """
    store, progress = store if isinstance(store, Store) else open_store(store), progress or Silent()
    of_footage = {clip_id for record in store.footage() for clip_id in record.clips}
    unused = [folder for folder in clip_folders(store) if forgotten and folder.name not in of_footage]
    leftovers, removed, busy, size = abandoned(store.path), list[Path](), list[str](), 0
    size += sum(map(_size, leftovers))
    progress.begin("collecting", len(clip_folders(store)))
    for folder in clip_folders(store):
        try:
            with store.one_writer(folder.name):
                found = [folder] if folder in unused else _former(store, folder)
                size += sum(map(_size, found))
                if not dry_run:
                    _remove(found)
                    forget_missing(folder)
        except BusyError:
            busy.append(folder.name)
            continue
        removed += found
        progress.step(folder.name, f"{len(found)} files" if found else "nothing")
    for file in () if dry_run else leftovers:
        file.unlink(missing_ok=True)
    return Garbage(
        former=tuple(path for path in removed if path not in unused),
        forgotten=tuple(path for path in removed if path in unused),
        leftovers=tuple(leftovers),
        bytes=size,
        busy=tuple(busy),
    )


def _former(store: Store, folder: Path) -> list[Path]:
    """Signals of a clip that its record does not name. What is younger than the record belongs to a run that has not
    finished; without a record nothing is known of the rest."""
    try:
        present = set(store.record(folder.name).signals.items())
    except StoreError:
        return []
    finished_ns = (folder / "clip.json").stat().st_mtime_ns
    unnamed = [file for file, signal in signal_files(folder).items() if signal not in present]
    return [file for file in unnamed if file.stat().st_mtime_ns <= finished_ns]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
