"""Folders that appear whole: filled beside their place, then exchanged with what is there, under a lock.

    OUT                    the old folder or the new one, at any moment
    .OUT.new-1f2e3d4c      what is being filled; after the exchange the old folder, until it is deleted
    .OUT.old-1f2e3d4c      the old folder between two renames, where the system cannot exchange two folders in one step
    .OUT.lock, .OUT.writer.json    who writes (`one_writer`)

A process that is killed at any moment loses nothing: the next one puts an old folder back where OUT is missing, and
deletes what else was left.
"""

import ctypes
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from spatial_engine.atomic_file import one_writer
from spatial_engine.errors import UsageError


@contextmanager
def atomic_folder(path: Path, ours: Collection[str], check: Callable[[Path], None]) -> Iterator[Path]:
    """A new folder beside `path`; it becomes `path` if the block ends without an error.

    Args:
        path: the folder to write.
        ours: names of the entries at `path` that are replaced. All others are the user's and stay: the new folder gets
            hard links of them, copies where the file system has none.
        check: raises unless a folder may be replaced. Not asked of an empty one.

    Raises:
        BusyError: another process writes to `path`.
        UsageError: `path` is no folder, or the block wrote an entry that would replace one of the user's.
    """
    path = path.resolve()  # a link stays a link
    check_free(path, check)
    with one_writer(path):
        recover(path)
        check_free(path, check)
        for left in _staged(path, "new"):
            shutil.rmtree(left)
        new = _stage(path, "new")
        new.mkdir()
        try:
            yield new
            written = {entry.name for entry in new.iterdir()}
            _check_names(path, written - set(ours))
            _bring_users(path, new, written.union(ours), _link)
            _flush(new)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
        if not path.exists():
            new.rename(path)
            return
        _exchange(path, new)
        _bring_users(new, path, written.union(ours), Path.replace)  # what was added or changed in the meantime
        shutil.rmtree(new)


def check_free(path: Path, check: Callable[[Path], None]) -> None:
    """`check` of a folder that `atomic_folder` would replace, before the work that fills it. Raises `UsageError`."""
    if path.resolve() == Path.cwd():
        raise UsageError(f"{path.resolve()} is where you stand, and would be replaced", "name a folder inside it")
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise UsageError(f"{place} is a file, not a folder", "name an empty or a new folder")
    if path.exists() and any(path.iterdir()):
        check(path)


def recover(path: Path) -> None:
    """Puts back the folder that a process which was killed between two renames left under another name."""
    if not _staged(path, "old"):
        return
    with one_writer(path):
        for parked in _staged(path, "old"):
            parked.rename(_stage(path, "new") if path.exists() else path)


def place_file(source: str | Path, target: str | Path) -> None:
    """The file `source` as `target`: a hard link where the file system can, else a copy with its times."""
    if Path(source).is_symlink():
        source = Path(source).resolve()
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _stage(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}-{token_hex(4)}")


def _staged(path: Path, kind: str) -> list[Path]:
    """Folders of that kind beside `path`. The lock on `path` proves that nobody works on them."""
    name = re.compile(rf"\.{re.escape(path.name)}\.{kind}-[0-9a-f]{{8}}")
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    return [entry for entry in beside if name.fullmatch(entry.name)]


def _check_names(path: Path, written: Collection[str]) -> None:
    if taken := sorted(name for name in written if os.path.lexists(path / name)):
        raise UsageError(f"{path / taken[0]} is yours, and would be replaced", "move it, or name another folder")


_Bring = Callable[[Path, Path], object]


def _bring_users(source: Path, target: Path, ours: Collection[str], bring: _Bring) -> None:
    """Brings those entries of the user into a folder that it lacks, or that differ there."""
    for entry in sorted(source.iterdir()) if source.exists() else ():
        if entry.name not in ours:
            _bring(entry, target / entry.name, bring)


def _bring(entry: Path, twin: Path, bring: _Bring) -> None:
    try:
        if entry.is_dir() and not entry.is_symlink():
            _bring_folder(entry, twin, bring)
        elif not _same(entry, twin):
            bring(entry, twin)
    except FileNotFoundError:
        if os.path.lexists(entry):  # else its owner removed it just now
            raise


def _bring_folder(folder: Path, twin: Path, bring: _Bring) -> None:
    if folder.is_mount():
        raise UsageError(f"{folder} is a mounted disk, and would be emptied", "unmount it, or name another folder")
    twin.mkdir(exist_ok=True)
    for inner in folder.iterdir():
        _bring(inner, twin / inner.name, bring)
    shutil.copystat(folder, twin)


def _link(entry: Path, twin: Path) -> None:
    if entry.is_symlink():
        twin.symlink_to(entry.readlink())
    else:
        place_file(entry, twin)


def _same(entry: Path, twin: Path) -> bool:
    if not os.path.lexists(twin):
        return False
    if entry.is_symlink() and twin.is_symlink():
        return entry.readlink() == twin.readlink()
    a, b = entry.lstat(), twin.lstat()
    linked = (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
    return linked or (a.st_mode, a.st_size, a.st_mtime_ns) == (b.st_mode, b.st_size, b.st_mtime_ns)


_LIBC = ctypes.CDLL(None)
_AT_FDCWD, _EXCHANGE = -100, 2


def _exchange(a: Path, b: Path) -> None:
    """Exchanges two folders: in one step where system and file system can, else in three renames."""
    if _exchanged_at_once(os.fsencode(a), os.fsencode(b)):
        return
    parked = _stage(a, "old")
    a.rename(parked)
    b.rename(a)
    parked.rename(b)


def _exchanged_at_once(a: bytes, b: bytes) -> bool:
    if hasattr(_LIBC, "renameat2"):  # Linux
        return bool(_LIBC.renameat2(_AT_FDCWD, a, _AT_FDCWD, b, _EXCHANGE) == 0)
    if hasattr(_LIBC, "renamex_np"):  # macOS
        return bool(_LIBC.renamex_np(a, b, _EXCHANGE) == 0)
    return False


def _flush(folder: Path) -> None:
    """Brings the file system of a folder to disk, so that a power cut after the exchange finds whole files."""
    if not hasattr(_LIBC, "syncfs"):
        os.sync()
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        _LIBC.syncfs(number)
    finally:
        os.close(number)
