"""Checksums of the signal files of a clip, so that a damaged file is computed anew instead of being used.

`checksums.json` holds size, time of change and sha256 of every signal file in its folder. A file of the size and the
time that are written there is taken as it is: one look at the folder's entries, no reading. One of another time (a
store that was copied without its times) is read once, about a second per GB, and gets its time back if it is right.
What changes without a change of size or time (a failing disk) is found when the signal is read: zarr's zip files hold a
CRC of every chunk.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import Any

from spatial_engine.atomic_file import read_json, write_json

FILE = "checksums.json"
_FILE_NAME = re.compile(r"\w[\w.]*")  # never a path
NO_CHECKSUM = "it has no checksum"


def write_checksum(file: Path) -> None:
    """Notes what a file is now. One process at a time may do so in one folder."""
    state = file.stat()
    entry = {"bytes": state.st_size, "mtime_ns": state.st_mtime_ns, "sha256": sha256(file)}
    add_checksums(file.parent, {file.name: entry})


def add_checksums(folder: Path, entries: Mapping[str, Any]) -> None:
    """Notes what files of a folder are. One process at a time may do so in one folder."""
    write_json(folder / FILE, dict(sorted({**checksums(folder), **entries}.items())))


def is_undamaged(file: Path) -> bool:
    """Whether a file is what its checksum says; False without a checksum: its writer was killed."""
    entry, state = checksums(file.parent).get(file.name), file.stat()
    if not isinstance(entry, dict) or entry.get("bytes") != state.st_size:
        return False
    if entry.get("mtime_ns") == state.st_mtime_ns:
        return True
    if entry.get("sha256") != sha256(file):
        return False
    with suppress(OSError):  # a store that may only be read, or a disk that rounds times
        os.utime(file, ns=(state.st_atime_ns, entry["mtime_ns"]))
    return True


def fault(file: Path) -> str:
    """What is wrong with a file, whose every byte is read; empty if it is what its checksum says."""
    entry = checksums(file.parent).get(file.name)
    if not isinstance(entry, dict):
        return NO_CHECKSUM
    if entry.get("bytes") != (size := file.stat().st_size):
        return f"it has {size} bytes and had {entry.get('bytes')}"
    return "" if entry.get("sha256") == sha256(file) else "its bytes have changed since it was written"


def forget_missing(folder: Path) -> None:
    """Drops the checksums of files that are no longer there. One process at a time may do so in one folder."""
    entries = checksums(folder)
    kept = {name: entry for name, entry in entries.items() if (folder / name).is_file()}
    if kept != entries:
        write_json(folder / FILE, kept)


def checksums(folder: Path) -> dict[str, Any]:
    """The checksums of a folder's files, by name; none if they are missing or damaged: then all signals of the clip are
    computed anew. What is no plain file name is left out."""
    try:
        found = read_json(folder / FILE)
    except (OSError, ValueError):
        return {}
    entries = found if isinstance(found, dict) else {}
    return {name: entry for name, entry in entries.items() if _FILE_NAME.fullmatch(name)}


def sha256(file: Path) -> str:
    """Of a file's bytes, in hex."""
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()
