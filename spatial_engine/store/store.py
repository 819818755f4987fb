"""A store: one folder per clip, one file per signal. What is there is done; what is not is still to do.

    STORE/store.json                              format version
    STORE/clips/<clip id>/clip.json               how to open the clip, and the key of each present signal
    STORE/clips/<clip id>/<signal>.<key>.zarr.zip   or .json where there is no estimate; other keys are former settings
    STORE/clips/<clip id>/checksums.json          size, time and sha256 of each of these files
    STORE/clips/<clip id>/failed.json             experts that raised, by key
    STORE/footage/<hash of path>.json             clips found in each file or folder of footage, or why none
    STORE/cache/                                  what opening footage found out; may be deleted
    STORE/ledger.sqlite                           the same at a glance, with seconds; may be deleted

Files appear whole or not at all. Several processes may read and write at once; each clip has one writer at a time
(`Store.one_writer`). A signal counts as done while its file is what its checksum says: see `checksums.py` for the cost.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experts.signals import SIGNAL_TYPES, NoEstimate, Signal
from spatial_engine.atomic_file import one_writer, read_json, sweep, write_json
from spatial_engine.errors import BusyError, SetupError, StoreError
from spatial_engine.store.checksums import is_undamaged, write_checksum
from spatial_engine.store.signal_file import file_name, read_no_estimate, read_signal, write_signal

FORMAT_VERSION = 2
_NAME = re.compile(r"\w{1,80}")  # of signals, keys and clips: they are parts of file names
_ANEW = "annotate the footage again into a new folder: spatial-engine annotate VIDEOS -o NEW_STORE"


@dataclass(frozen=True, kw_only=True)
class ClipRecord:
    """The content of `clip.json`: the results of a clip's latest run."""

    clip: dict[str, Any]
    """What `spatial_engine.sources.clip_from_json` opens."""
    signals: dict[str, str]
    """Key of each present signal by name."""


@dataclass(frozen=True, kw_only=True)
class FootageRecord:
    """Result of the last opening of one file or folder of footage."""

    path: str
    """Where it lies, absolute."""
    name: str
    """What the user calls it."""
    clips: tuple[str, ...] = ()
    """Ids of its shots, in order."""
    error: str = ""
    """Why it could not be opened; empty if it could."""
    remedy: str = ""
    """What to do about that."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An expert that raised, or a process that died, on one clip."""

    expert: str
    signals: tuple[str, ...]
    """The signals that it should have provided."""
    error: str
    """One line."""
    traceback: str = field(default="", repr=False)
    remedy: str = ""
    setup: bool = False
    """It concerns this machine, not the clip: the next run tries again."""


class Store:
    """A folder of signals. Reading from several processes is safe at any time, writing in `one_writer`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        """The folder."""

    # clips

    def clip_ids(self) -> list[str]:
        """Ids of the clips that the footage gave when it was opened last, sorted."""
        return sorted(clip_id for clip_id in self._opened() if self._clip_file(clip_id).is_file())

    def unfinished(self) -> list[str]:
        """Ids of the other clips that it gave: `annotate` was stopped before they were done, or is at work."""
        return sorted(clip_id for clip_id in self._opened() if not self._clip_file(clip_id).is_file())

    def record(self, clip_id: str) -> ClipRecord:
        """The content of `clip.json`. Raises `StoreError` for a clip that is not here."""
        file = self._clip_file(clip_id)
        if not file.is_file():
            raise StoreError(f"no clip {clip_id} in {self.path}", f"it holds: {', '.join(self.clip_ids()) or 'none'}")
        found = self._whole(file)
        if not _is_clip_record(found):
            raise self._damaged(file)
        return ClipRecord(**found)

    def records(self) -> dict[str, ClipRecord | StoreError]:
        """The content of every `clip.json`, or what is wrong with it, by clip id: a damaged one costs one clip."""
        found: dict[str, ClipRecord | StoreError] = {}
        for clip_id in self.clip_ids():
            try:
                found[clip_id] = self.record(clip_id)
            except StoreError as error:
                found[clip_id] = error
        return found

    def readable_records(self) -> dict[str, ClipRecord]:
        """Those of `records` that are not damaged."""
        return {clip_id: record for clip_id, record in self.records().items() if isinstance(record, ClipRecord)}

    def has_record(self, clip_id: str, record: ClipRecord) -> bool:
        """Whether these keys are the clip's present signals already."""
        try:
            return self._whole(self._clip_file(clip_id)) == vars(record)
        except (OSError, StoreError):
            return False

    def write_record(self, clip_id: str, record: ClipRecord) -> None:
        """Makes these keys the clip's present signals."""
        write_json(self._clip_file(clip_id), {"clip": record.clip, "signals": dict(sorted(record.signals.items()))})

    def signals(self, clip_id: str) -> "StoredSignals":
        """The clip's present signals by name; each is read when it is first looked at."""
        return StoredSignals(self, clip_id, self.record(clip_id).signals)

    # signals

    def has(self, clip_id: str, name: str, key: str) -> bool:
        """Whether that signal, or the word that there is none, is on file and undamaged."""
        file = self._signal_file(clip_id, name, key)
        return file is not None and is_undamaged(file)

    def write(self, clip_id: str, name: str, key: str, value: Signal | NoEstimate) -> None:
        """Files a signal under its key. Call it in `one_writer` where other processes may write to this store."""
        file = self.clip_folder(clip_id) / file_name(name, key, value)
        if (former := self._signal_file(clip_id, name, key)) not in (None, file):
            former.unlink()
        write_signal(file, value)
        write_checksum(file)

    @contextmanager
    def one_writer(self, clip_id: str, *, wait: bool = False) -> Iterator[None]:
        """Holds a clip against all other writers while the block runs. Raises `BusyError` unless it is to wait."""
        with one_writer(self.clip_folder(clip_id), wait=wait):
            yield

    def being_written(self) -> list[str]:
        """Ids of the clips that other processes write at this moment."""
        held = []
        for lock in sorted((self.path / "clips").glob(".*.lock")):
            clip_id = lock.name.removeprefix(".").removesuffix(".lock")
            try:
                with self.one_writer(clip_id):
                    pass  # a killed process left the file
            except BusyError:
                held.append(clip_id)
            except (OSError, SetupError):  # nobody can write here
                continue
        return held

    def read(self, clip_id: str, name: str, key: str) -> Signal | NoEstimate:
        """A signal by key; `NoEstimate` with the error where its expert failed. Raises `StoreError`."""
        file = self._signal_file(clip_id, name, key)
        if file is not None:
            return read_signal(file, SIGNAL_TYPES[name])
        failure = self.failures(clip_id).get(key)
        if failure is None:
            raise StoreError(f"signal {name} of clip {clip_id} is not in {self.path}", "run annotate again")
        remedy = failure.remedy or "--retry-failed"
        return NoEstimate(reason=f"{failure.expert} failed", detail=failure.error, remedy=remedy)

    def no_estimates(self, clip_id: str) -> dict[str, NoEstimate]:
        """Present signals that have no estimate, with the reason. Reads no arrays."""
        keys = self.record(clip_id).signals
        files = {name: self._signal_file(clip_id, name, key) for name, key in keys.items()}
        return {name: _no_estimate(file) for name, file in files.items() if file and file.suffix == ".json"}

    # failures

    def failures(self, clip_id: str) -> dict[str, Failure]:
        """Failed expert runs by key, former settings included. None where the file is damaged: they are tried again."""
        try:
            entries = read_json(self.clip_folder(clip_id) / "failed.json")
            return {key: Failure(**entry | {"signals": tuple(entry["signals"])}) for key, entry in entries.items()}
        except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
            return {}

    def present_failures(self, clip_id: str) -> list[Failure]:
        """Failures under the present settings."""
        keys = set(self.record(clip_id).signals.values())
        return [failure for key, failure in self.failures(clip_id).items() if key in keys]

    def write_failures(self, clip_id: str, failures: Mapping[str, Failure]) -> None:
        """Replaces the clip's failures."""
        file = self.clip_folder(clip_id) / "failed.json"
        if failures:
            entries = {key: vars(failure) | {"signals": list(failure.signals)} for key, failure in failures.items()}
            write_json(file, entries)
        else:
            file.unlink(missing_ok=True)

    # footage

    def footage(self) -> list[FootageRecord]:
        """Every file or folder of footage that was opened into this store, by path."""
        records = [self.footage_of(file) for file in sorted((self.path / "footage").glob("*.json"))]
        return sorted(records, key=lambda record: record.path)

    def footage_but(self, places: Collection[str]) -> list[FootageRecord]:
        """The same without the footage at these places, whose records are not read."""
        known = {self.footage_file(place).name for place in places}
        return [self.footage_of(file) for file in (self.path / "footage").glob("*.json") if file.name not in known]

    def footage_of(self, file: Path) -> FootageRecord:
        """The content of one file in `footage`. Raises `StoreError` on damage."""
        found = self._whole(file)
        try:
            record = FootageRecord(**found | {"clips": tuple(found["clips"])})
        except (TypeError, KeyError) as error:
            raise self._damaged(file) from error
        words = (record.path, record.name, record.error, record.remedy, *record.clips)
        if not (all(isinstance(word, str) for word in words) and all(map(_NAME.fullmatch, record.clips))):
            raise self._damaged(file)
        return record

    def scenes(self) -> dict[str, str]:
        """Footage of each clip, by clip id: clips of one scene have equal words. Says nothing of paths."""
        found: dict[str, str] = {}
        for record in self.footage():
            found |= dict.fromkeys(record.clips, min(record.clips, default=""))
        return found

    def write_footage(self, record: FootageRecord) -> None:
        """Replaces what is known of one file or folder of footage."""
        write_json(self.footage_file(record.path), vars(record) | {"clips": list(record.clips)})

    def forget_footage(self, path: str) -> None:
        """Its clips no longer count; their signals stay on file."""
        self.footage_file(path).unlink(missing_ok=True)

    # the cache of `spatial_engine.sources`

    def get(self, key: str) -> dict[str, Any] | None:
        """What was cached under `key`, or None."""
        file = self.path / "cache" / f"{_digest(key)}.json"
        try:
            return dict(read_json(file))
        except (OSError, ValueError, TypeError):
            return None

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Caches a JSON object; where that fails, the next run finds it out again."""
        with suppress(OSError):
            write_json(self.path / "cache" / f"{_digest(key)}.json", value)

    def clip_folder(self, clip_id: str) -> Path:
        """Where the files of a clip lie."""
        return self.path / "clips" / clip_id

    def _clip_file(self, clip_id: str) -> Path:
        return self.clip_folder(clip_id) / "clip.json"

    def footage_file(self, path: str) -> Path:
        """Where the record of one file or folder of footage lies."""
        return self.path / "footage" / f"{_digest(path)}.json"

    def _opened(self) -> set[str]:
        return {clip_id for record in self.footage() for clip_id in record.clips}

    def _whole(self, file: Path) -> Any:
        """The content of a JSON file of the store. Raises `StoreError` on damage."""
        try:
            return read_json(file)
        except ValueError as error:
            raise self._damaged(file) from error

    def _damaged(self, file: Path) -> StoreError:
        place = file.relative_to(self.path)
        return StoreError(f"{place} is damaged", f"spatial-engine store repair {self.path}; then run annotate again")

    def _signal_file(self, clip_id: str, name: str, key: str) -> Path | None:
        candidates = (self.clip_folder(clip_id) / f"{name}.{key}.{ending}" for ending in ("zarr.zip", "json"))
        return next((file for file in candidates if file.is_file()), None)


class StoredSignals(Mapping[str, Signal | NoEstimate]):
    """A clip's signals, read when looked at and kept from then on."""

    def __init__(self, store: Store, clip_id: str, keys: Mapping[str, str]) -> None:
        self._store, self._clip_id, self._keys = store, clip_id, dict(keys)
        self._read: dict[str, Signal | NoEstimate] = {}

    def __getitem__(self, name: str) -> Signal | NoEstimate:
        if name not in self._read:
            self._read[name] = self._store.read(self._clip_id, name, self._keys[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys


def open_store(path: str | Path) -> Store:
    """An existing store. Raises `StoreError` if `path` is none, or of another format version."""
    marker = Path(path) / "store.json"
    if not marker.is_file():
        raise _not_a_store(Path(path))
    try:
        version = int(read_json(marker)["format_version"])
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{marker} is damaged: it names no format version", _ANEW) from error
    if version != FORMAT_VERSION:
        age = "a newer" if version > FORMAT_VERSION else "an older"
        raise StoreError(
            f"{path} was written by {age} version: its format is {version}, this program reads {FORMAT_VERSION}", _ANEW
        )
    return Store(path)


def _not_a_store(path: Path) -> StoreError:
    if (path / "store" / "store.json").is_file():
        return StoreError(f"{path} is not a store but the output of run", f"its store is {path / 'store'}")
    if (path / "questions.jsonl").is_file():
        remedy = "give the store that it was made from; pages of it: spatial-engine report " + str(path)
        return StoreError(f"{path} is a dataset, not a store", remedy)
    return StoreError(f"{path} is not a store", f"make one first: spatial-engine annotate VIDEOS -o {path}")


def create_store(path: str | Path) -> Store:
    """The store at `path`, made if there is none; what killed writers left is swept."""
    folder = Path(path)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "store.json").is_file():
        raise StoreError(f"{path} holds other files and is not a store", "name an empty or a new folder")
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise StoreError(f"{place} is a file, not a folder", "name an empty or a new folder")
    if not (folder / "store.json").is_file():
        write_json(folder / "store.json", {"format_version": FORMAT_VERSION})
    sweep(folder)
    return open_store(folder)


def _is_clip_record(found: Any) -> bool:
    """Whether it has the shape of `ClipRecord`, with names and keys that may be parts of file names."""
    if not (isinstance(found, dict) and found.keys() == {"clip", "signals"}):
        return False
    clip, signals = found["clip"], found["signals"]
    named = isinstance(clip, dict) and isinstance(clip.get("name"), str) and isinstance(clip.get("frames", []), list)
    parts = [*signals, *signals.values()] if isinstance(signals, dict) else [None]
    return named and all(isinstance(part, str) and _NAME.fullmatch(part) for part in parts)


def _no_estimate(file: Path) -> NoEstimate:
    try:
        return read_no_estimate(file)
    except ValueError:
        return NoEstimate(reason=f"{file.name} is damaged", remedy="spatial-engine store repair")


def _digest(text: str) -> str:
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]
