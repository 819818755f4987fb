"""Hashes of media files, which keys of requests and hashes of items rest on."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from spatial_engine.errors import UsageError


def media_hash(file: Path) -> str:
    """sha256 of a file, in hex; cached by size and modification time. Raises `UsageError`."""
    try:
        state = file.stat()
        return _hash(file, state.st_size, state.st_mtime_ns)
    except OSError as error:
        cause = f"{file} cannot be read: {error.strerror}"
        raise UsageError(cause, "a dataset needs its media folder: copy it whole, or generate it again") from error


@lru_cache(maxsize=1 << 20)
def _hash(file: Path, size_bytes: int, changed_ns: int) -> str:
    with file.open("rb") as opened:
        digest = sha256()
        while part := opened.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
