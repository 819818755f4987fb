"""Files that exist whole or not at all (written under a temporary name, renamed), and one writer at a time."""

import errno
import json
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

from filelock import FileLock, Timeout, lock_descriptor

from spatial_engine.errors import BusyError, SetupError

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)
_TEMPORARY = re.compile(r".+\.tmp-[0-9a-f]{8}")


@contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary path beside `path`; what was written there becomes `path` if the block ends without an error.
    `durable`: whole even after a power failure, for which it waits for the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked_temporary(path) as temporary:
        try:
            yield temporary
            if durable:
                with temporary.open("rb") as written:
                    os.fsync(written.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON value, indented, keys in the order given. Leaves an equal file alone."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    if path.is_file() and path.read_bytes() == text.encode("utf-8", "surrogatepass"):
        return
    with atomic_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", "surrogatepass"))


def read_json(path: Path) -> Any:
    """The JSON value of a file that `write_json` made. Raises `ValueError` for what is none, and `OSError`."""
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def sweep(folder: Path) -> int:
    """Deletes the temporary files below `folder` that killed processes left; returns how many."""
    left = abandoned(folder)
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)


def abandoned(folder: Path) -> list[Path]:
    """The temporary files below `folder` that killed processes left.

    A process locks the temporary file that it writes, so an unlocked one is abandoned. Process numbers prove nothing:
    the writer may run on another host or in another container.
    """
    return [path for path in folder.rglob("*.tmp-*") if _TEMPORARY.fullmatch(path.name) and _is_abandoned(path)]


@contextmanager
def one_writer(place: Path, *, wait: bool = False) -> Iterator[None]:
    """Holds a file or folder, which need not exist yet, against all other writers until the block ends.

    The lock is one of the operating system (flock of `.NAME.lock` beside the place): it ends with its process, even
    with a killed one, and a network file system shares it among hosts if it is mounted with locks. Beside it
    `.NAME.writer.json` says who holds it. The same thread may take it again.

    Args:
        place: what is about to be written.
        wait: whether to wait until another writer is done.

    Raises:
        BusyError: another process or thread holds it, and `wait` is False.
        SetupError: the file system has no locks.
    """
    place = place.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    lock_file, who = place.with_name(f".{place.name}.lock"), place.with_name(f".{place.name}.writer.json")
    lock = FileLock(lock_file, is_singleton=True)
    taken_before = lock.is_locked
    try:
        lock.acquire(blocking=wait)
    except Timeout as error:
        cause = f"{place} is being written by {_writer(who)}"
        raise BusyError(cause, "wait until it is done, or name another place") from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        cause = f"{place.parent} lies on a file system without locks"
        raise SetupError(cause, "write to another disk, or mount this one with locks") from error
    try:
        if not taken_before:
            who.write_text(json.dumps({"host": platform.node(), "process": os.getpid(), "since": _now()}))
        yield
    finally:
        if not taken_before:
            who.unlink(missing_ok=True)
            lock_file.unlink(missing_ok=True)  # while it is held: who waits for the removed file tries again
        lock.release()


@contextmanager
def _locked_temporary(path: Path) -> Iterator[Path]:
    """A new file beside `path`, locked for as long as the block runs."""
    while True:
        temporary = path.with_name(f"{path.name}.tmp-{token_hex(4)}")
        with temporary.open("xb") as file:
            _lock(file)
            if temporary.exists():  # else `sweep` was faster than the lock
                yield temporary
                return


def _is_abandoned(temporary: Path) -> bool:
    with suppress(OSError), temporary.open("r+b") as file:
        return _lock(file)
    return False


def _lock(file: BinaryIO) -> bool:
    """Locks an open file; False if another process holds it, or the file system has no locks."""
    with suppress(OSError):
        return lock_descriptor(file.fileno(), blocking=False)
    return False


def _writer(who: Path) -> str:
    try:
        found = read_json(who)
        return f"process {found['process']} on {found['host']} since {found['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _now() -> str:
    return datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
