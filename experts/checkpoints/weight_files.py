"""Verifies one checkpoint on this disk: which files it needs, which bytes they must have, and whether they do."""

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

LOCK = "weights.lock.json"
"""File in a checkpoint's folder: the revision and the hashes that the first fetch found. Every later load requires
them."""
_HASHED = ".hashed.json"
"""Cache beside it: hashes by file size and modification time, so that 7 GB are not read at every start."""


@dataclass(frozen=True, kw_only=True)
class WeightFile:
    """One file of a checkpoint."""

    name: str
    """Path below the folder of the checkpoint."""
    sha256: str | None
    """None: unknown when this table was written. The first fetch pins it in the lock file of the folder."""
    bytes: int | None
    """None: unknown."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A published checkpoint."""

    name: str
    source: str
    """ "huggingface:OWNER/NAME" or a URL prefix."""
    revision: str | None
    """Commit of the repository (or release tag). None: the first fetch pins it."""
    files: tuple[WeightFile, ...]
    licence: str
    commercial_ok: bool
    instead: str = ""
    """Permissive substitute, as the user would name it to --experts."""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """What the first fetch found."""

    revision: str | None = None
    """None: never fetched, or copied by hand."""
    sha256: dict[str, str] = field(default_factory=dict)
    """By file name."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a checkpoint's folder does not verify."""

    cause: str
    kind: Literal["missing", "damaged", "unpinned"]
    """missing: a file does not exist. damaged: truncated, altered, or of another revision. unpinned: no hash is known
    yet."""


def fault(weights: Weights, folder: Path, always_hash: bool = False) -> Fault | None:
    """The first fault of a checkpoint's files; None if all are present, complete and pinned.

    `always_hash` reads every byte and ignores cached hashes.
    """
    hashes = Hashes(folder, forget=always_hash)
    return next((wrong for file in weights.files if (wrong := file_fault(weights, file, folder, hashes))), None)


def file_fault(weights: Weights, file: WeightFile, folder: Path, hashes: "Hashes") -> Fault | None:
    """The fault of one file; None if it verifies."""
    path, lock = folder / file.name, read_lock(folder)
    if not path.is_file():
        return Fault(cause=f"weights {weights.name} are not here: there is no {path}", kind="missing")
    if file.bytes is not None and (size := path.stat().st_size) != file.bytes:
        return Fault(cause=f"{path} has {size} bytes instead of {file.bytes}", kind="damaged")
    if not file.sha256 and weights.revision and lock.revision and weights.revision != lock.revision:
        cause = f"{path} is of revision {lock.revision} instead of {weights.revision}"
        return Fault(cause=cause, kind="damaged")
    wanted = wanted_sha256(file, lock)
    if wanted is None:
        return Fault(cause=f"no sha256 is pinned for {path}", kind="unpinned")
    if (found := hashes.of(file.name)) != wanted:
        return Fault(cause=f"{path} was altered: sha256 {found} instead of {wanted}", kind="damaged")
    return None


def wanted_sha256(file: WeightFile, lock: Lock) -> str | None:
    """The hash that a file must have. The table takes precedence over the lock. None: unknown."""
    return file.sha256 or lock.sha256.get(file.name)


class Hashes:
    """sha256 of the files of a folder. A file of the same size and modification time is not read again."""

    def __init__(self, folder: Path, forget: bool = False) -> None:
        self.folder = folder
        self._known: dict[str, Any] = {} if forget else _read(folder / _HASHED)

    def of(self, name: str) -> str:
        """The hash of the file with that name."""
        stat = (self.folder / name).stat()
        stamp = [stat.st_size, stat.st_mtime_ns]
        known = self._known.get(name)
        if not isinstance(known, list) or len(known) != 3 or known[:2] != stamp:
            known = self._known[name] = [*stamp, sha256(self.folder / name)]
            with contextlib.suppress(OSError):  # a read-only folder is hashed every time
                _write(self.folder / _HASHED, self._known)
        return str(known[2])


def sha256(path: Path) -> str:
    """Hash of a file's bytes, as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_lock(folder: Path) -> Lock:
    """The lock of a folder; empty if there is none."""
    record = _read(folder / LOCK)
    pinned = record.get("sha256")
    return Lock(revision=record.get("revision"), sha256=pinned if isinstance(pinned, dict) else {})


def write_lock(folder: Path, lock: Lock) -> None:
    """Pins the files of a checkpoint."""
    _write(folder / LOCK, {"revision": lock.revision, "sha256": dict(sorted(lock.sha256.items()))})


def _write(path: Path, value: dict[str, Any]) -> None:
    """Replaces the file atomically."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def _read(path: Path) -> dict[str, Any]:
    """A JSON object; empty where the file is missing or unreadable."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
