"""Merges the stores of several machines into the one that a single machine would have written.

A file is linked where both stores lie on one disk, else copied and held against its checksum. What the merged store
holds stays there: a merge that was interrupted, or whose sources are still being written, is simply run again.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spatial_engine.atomic_file import atomic_file
from spatial_engine.errors import StoreError
from spatial_engine.options import StrPath
from spatial_engine.progress import Progress, Silent
from spatial_engine.sources.image_groups import natural_key
from spatial_engine.store.checksums import add_checksums, checksums, is_undamaged, sha256
from spatial_engine.store.ledger import Entry, Ledger, entries_on_file
from spatial_engine.store.store import ClipRecord, Store, create_store, open_store

_WHEREABOUTS = ("name", "source")
"""What a clip's description says of where it lies: equal footage may lie in several places."""


@dataclass(kw_only=True)
class Merged:
    """What a merge did."""

    store: Store
    added: int = 0
    """Signals that were taken over."""
    damaged: list[str] = field(default_factory=list)
    """Files that are not what their checksum says, and that no other source has. They are left out: `annotate` computes
    their signals again."""
    contradicting: list[str] = field(default_factory=list)
    """Names of clips that two stores measured with different settings: what was there first counts."""


def merge_stores(sources: Sequence[StrPath], out: StrPath, *, progress: Progress | None = None) -> Merged:
    """Merges stores into the store at `out`, which is made if there is none. Sources are only read.

    Args:
        sources: where two of them measured a clip with different settings, the one that is named first counts.
        out: the store to write. It may be one of the sources, and then counts before the others.
        progress: who is told; None: nobody.

    Raises:
        StoreError: a source is no store, or of another version; or `out` is something else.
    """
    stores = [open_store(source) for source in sources]
    merged = Merged(store=create_store(out))
    for store in stores:
        if not merged.store.path.samefile(store.path):
            _merge(store, merged, progress or Silent())
    merged.damaged = [file for file in merged.damaged if not _holds(merged.store, Path(file))]
    return merged


def _holds(store: Store, file: Path) -> bool:
    """Whether a store holds, undamaged, what another one has in a file of a clip."""
    copy = store.path / "clips" / file.parent.name / file.name
    return copy.is_file() and is_undamaged(copy)


def _merge(source: Store, merged: Merged, progress: Progress) -> None:
    """Takes over what one store holds."""
    target = merged.store
    clip_ids = sorted(folder.name for folder in (source.path / "clips").glob("*") if folder.is_dir())
    progress.begin(f"merging {source.path}", len(clip_ids))
    entries: list[Entry] = []
    for clip_id in clip_ids:
        with target.one_writer(clip_id, wait=True):
            outcome = _merge_clip(source, clip_id, merged)
            entries += entries_on_file(target, clip_id) if _recorded(target, clip_id) else ()
        progress.step(clip_id, outcome)
    _merge_ledger(source, target, entries)
    _merge_footage(source, target)
    for file in (source.path / "cache").glob("*.json"):
        if not (copy := target.path / "cache" / file.name).exists():
            _take(file, copy)


def _merge_clip(source: Store, clip_id: str, merged: Merged) -> str:
    """Takes over the signals of a clip; returns the outcome in words. The caller holds the clip."""
    target, record = merged.store, _recorded(source, clip_id)  # before the files: they are written before it
    failures = source.failures(clip_id)
    damaged = _merge_signals(source.path / "clips" / clip_id, target.path / "clips" / clip_id, merged)
    merged.damaged += damaged
    if record is None:
        return "not finished"  # its machine was stopped: annotate goes on with it
    here = _recorded(target, clip_id)
    joint = record if here is None else _joint(here, record)
    if joint is None:
        merged.contradicting.append(record.clip["name"])
        return "other settings"
    present = {key: failure for key, failure in failures.items() if key in joint.signals.values()}
    target.write_failures(clip_id, present | target.failures(clip_id))
    target.write_record(clip_id, joint)
    return "damaged" if damaged else "done"


def _merge_signals(source: Path, target: Path, merged: Merged) -> list[str]:
    """Takes over the signal files of a clip's folder; returns those that are damaged."""
    taken: dict[str, Any] = {}
    damaged = []
    for name, entry in checksums(source).items():
        file, copy = source / name, target / name
        if copy.is_file() and is_undamaged(copy):
            continue
        with suppress(FileNotFoundError):  # a former setting that was removed
            if is_undamaged(file) and _take(file, copy, entry["sha256"]):
                taken[name] = entry
            else:
                damaged.append(str(file))
    if taken:
        add_checksums(target, taken)
    merged.added += len(taken)
    return damaged


def _take(file: Path, copy: Path, digest: str | None = None) -> bool:
    """Links or copies a file, with its time of change; False if the copy does not have the digest."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.unlink(missing_ok=True)
    with suppress(OSError):  # another disk, or a file system without links
        os.link(file, copy)
        return True
    with atomic_file(copy) as temporary:
        shutil.copyfile(file, temporary)
        shutil.copystat(file, temporary)
        return digest is None or sha256(temporary) == digest


def _recorded(store: Store, clip_id: str) -> ClipRecord | None:
    """The record of a clip; None if it was not finished, or is damaged."""
    with suppress(StoreError):
        return store.record(clip_id)
    return None


def _joint(first: ClipRecord, second: ClipRecord) -> ClipRecord | None:
    """Both records as one; None if they are of different settings. Equal footage is opened where it lies first."""
    settings = [{key: value for key, value in one.clip.items() if key not in _WHEREABOUTS} for one in (first, second)]
    shared = first.signals.keys() & second.signals.keys()
    if settings[0] != settings[1] or any(first.signals[name] != second.signals[name] for name in shared):
        return None
    clip = min(first.clip, second.clip, key=_order)
    return ClipRecord(clip=clip, signals={**first.signals, **second.signals})


def _order(clip: Mapping[str, Any]) -> list[tuple[bool, Any]]:
    """Sorts clips as their footage is found: in natural order, the files of a folder before its folders."""
    source = clip["source"]
    while source["kind"] == "crop":
        source = source["source"]
    *folders, file = Path(source["path"] if source["kind"] == "video" else source["paths"][0]).parts
    return [*((True, natural_key(Path(folder))) for folder in folders), (False, natural_key(Path(file)))]


def _merge_ledger(source: Store, target: Store, entries: Sequence[Entry]) -> None:
    """Adds the source's rows, with seconds, of what is now in the target; of what the source's ledger lacks, `entries`
    themselves."""
    file, ledger = source.path / "ledger.sqlite", Ledger.open(target)
    measured = {_identity(entry): entry for entry in (Ledger(file).entries() if file.is_file() else ())}
    known = set(map(_identity, ledger.entries()))
    ledger.write(measured.get(_identity(entry), entry) for entry in entries if _identity(entry) not in known)


def _identity(entry: Entry) -> tuple[str, str, str]:
    return entry.clip, entry.signal, entry.key


def _merge_footage(source: Store, target: Store) -> None:
    """Adds what the source knows of files and folders of footage; what could be opened counts before what could not."""
    known = {record.path: record for record in target.footage()}
    for record in source.footage():
        if record.path not in known or (known[record.path].error and not record.error):
            target.write_footage(record)
