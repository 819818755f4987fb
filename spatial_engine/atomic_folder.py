"""A folder that appears whole or not at all, and may replace an older one of the same kind."""

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

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
