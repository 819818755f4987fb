"""Files that exist whole or not at all: written under a temporary name, synced, renamed."""

import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spatial_engine.errors import UsageError


@contextmanager
def atomic_folder(path: Path, ours: Collection[str], check: Callable[[Path], None]) -> Iterator[Path]:
    """A new folder beside `path`; it becomes `path` if the block ends without an error.

    A folder that is already there must pass `check` (which raises otherwise) unless it is empty. Its entries named in
    `ours` are replaced; all others are the user's and move over.
    """
    path = path.resolve()  # a link stays a link
    new, old = path.with_name(f".{path.name}.new"), path.with_name(f".{path.name}.old")
    if old.exists() and not path.exists():  # killed between the two renames below
        old.rename(path)
    check_free(path, check)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        _replace(path, new, old, ours)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def check_free(path: Path, check: Callable[[Path], None]) -> None:
    """`check` of a folder that `atomic_folder` would replace, before the work that fills it. Raises `UsageError`."""
    if path.resolve() == Path.cwd():
        raise UsageError(f"{path.resolve()} is where you stand, and would be replaced", "name a folder inside it")
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise UsageError(f"{place} is a file, not a folder", "name an empty or a new folder")
    if path.exists() and any(path.iterdir()):
        check(path)


def _replace(path: Path, new: Path, old: Path, ours: Collection[str]) -> None:
    shutil.rmtree(old, ignore_errors=True)
    if path.exists():
        path.rename(old)
    new.rename(path)
    for kept in sorted(old.iterdir()) if old.exists() else ():
        if kept.name not in ours:
            kept.rename(path / kept.name)
    shutil.rmtree(old, ignore_errors=True)


_TEMPORARY = re.compile(r"\.tmp-(\d+)$")


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; what was written there becomes `path` if the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    try:
        yield temporary
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
    """The JSON value of a file that `write_json` made."""
    return json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))


def sweep(folder: Path) -> int:
    """Deletes temporary files whose writer no longer lives, below `folder`; returns how many."""
    written = ((path, _TEMPORARY.search(path.name)) for path in folder.rglob("*.tmp-*"))
    stale = [path for path, match in written if match and not _lives(int(match[1]))]
    for path in stale:
        path.unlink(missing_ok=True)
    return len(stale)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
