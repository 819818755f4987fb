"""Replies that were already paid for: one sqlite file, from the hash of a request to the server's JSON."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spatial_engine.errors import UsageError

_PATIENCE_S = 30.0  # how long a writer waits for another process's transaction


class Cache:
    """`DIR/replies.sqlite`. Several processes may use it. A reply is on disk when `put` returns.

    Raises `UsageError` where the file is no such cache.
    """

    def __init__(self, folder: str | Path, *, must_exist: bool = False) -> None:
        self.path = Path(folder) / "replies.sqlite"
        if must_exist and not self.path.is_file():
            raise UsageError(f"--replay: there is no cache in {folder}", "name the --cache of the run to be replayed")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, timeout=_PATIENCE_S, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT, seconds REAL)")
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"{self.path} is not a cache of replies: {error}", "name another --cache folder"
            ) from error

    def get(self, key: str) -> tuple[dict[str, Any], float] | None:
        """The server's JSON, and how long it took in seconds; None on a miss."""
        row = self._db.execute("SELECT reply, seconds FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else (json.loads(row[0]), float(row[1]))

    def put(self, key: str, reply: dict[str, Any], seconds: float) -> None:
        """Keeps a reply; an earlier one of the same request is replaced."""
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, json.dumps(reply), seconds))

    def close(self) -> None:
        """Frees the file."""
        self._db.close()


@contextmanager
def opened_cache(folder: str | Path | None, replay: bool) -> Iterator[Cache | None]:
    """The cache of a folder while the block runs; None without a folder. Raises `UsageError`."""
    if folder is None:
        if replay:
            raise UsageError("--replay needs a cache", "name the folder of replies: --cache DIR")
        yield None
        return
    cache = Cache(folder, must_exist=replay)
    try:
        yield cache
    finally:
        cache.close()
