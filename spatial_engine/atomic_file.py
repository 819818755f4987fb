"""Files that exist whole or not at all: written under a temporary name, synced, renamed."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
