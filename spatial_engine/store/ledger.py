"""Overview of finished work: a sqlite table that can be rebuilt from the store's files at any time."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from spatial_engine.store.store import Store

State = Literal["done", "no_estimate", "failed"]

_TABLE = """CREATE TABLE IF NOT EXISTS runs (
    clip TEXT, signal TEXT, key TEXT, expert TEXT, state TEXT, reason TEXT, seconds REAL, PRIMARY KEY (clip, signal)
)"""
DAMAGED = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What sqlite3 raises for a damaged file: its messages quote names that may be no text."""
_PATIENCE_S = 30.0  # how long a writer waits for another process's transaction


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One signal of one clip under the present settings."""

    clip: str
    signal: str
    key: str
    expert: str
    """Empty where the files do not say (no estimate, after a rebuild)."""
    state: State
    reason: str = ""
    """Why there is no estimate, or why the expert failed."""
    seconds: float | None = None
    """Duration of the expert's whole call; None if it was not measured (a rebuilt ledger)."""


class Ledger:
    """The table of a store. Several processes may write.

    It has no write-ahead log: switching that on fails while another process opens the file, and it does not work on
    network file systems.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(self.connect(self.path)) as db:
            db.execute(_TABLE)

    @classmethod
    def open(cls, store: Store) -> "Ledger":
        """The store's ledger; rebuilt if it is missing or damaged."""
        path = store.path / "ledger.sqlite"
        if not path.is_file():
            return cls.rebuild(store)
        try:
            ledger = cls(path)
            ledger.check()
            return ledger
        except sqlite3.OperationalError:
            raise  # busy, or a full disk: no reason to throw it away
        except DAMAGED:
            path.unlink(missing_ok=True)
            return cls.rebuild(store)

    @classmethod
    def rebuild(cls, store: Store) -> "Ledger":
        """Makes the ledger again from the files. Seconds are lost: files hold none."""
        ledger = cls(store.path / "ledger.sqlite")
        ledger.catch_up(store)
        return ledger

    def catch_up(self, store: Store) -> int:
        """Writes what the files say and the table does not; returns the number of these entries."""
        known = {(entry.clip, entry.signal): (entry.key, entry.state) for entry in self.entries()}
        on_file = [entry for clip_id in store.readable_records() for entry in entries_on_file(store, clip_id)]
        new = [entry for entry in on_file if known.get((entry.clip, entry.signal)) != (entry.key, entry.state)]
        self.write(new)
        return len(new)

    def check(self) -> None:
        """Raises `sqlite3.DatabaseError` if the file is damaged."""
        with closing(self.connect(self.path)) as db:
            found = [row[0] for row in db.execute("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            raise sqlite3.DatabaseError(found[0])

    def write(self, entries: Iterable[Entry]) -> None:
        """Adds entries or replaces them; a measured time stays if the new entry has none."""
        names = [field.name for field in fields(Entry)]
        marks = ", ".join("?" * len(names))
        old = "CASE WHEN excluded.key = key THEN seconds END"
        keep = f"seconds = COALESCE(excluded.seconds, {old})"
        changes = ", ".join(f"{name} = excluded.{name}" for name in names[2:-1])
        sql = f"INSERT INTO runs ({', '.join(names)}) VALUES ({marks}) ON CONFLICT DO UPDATE SET {keep}, {changes}"
        with closing(self.connect(self.path)) as db, db:
            db.executemany(sql, [astuple(entry) for entry in entries])

    def entries(self) -> list[Entry]:
        """All entries, by clip and signal."""
        names = [field.name for field in fields(Entry)]
        with closing(self.connect(self.path)) as db:
            rows = db.execute(f"SELECT {', '.join(names)} FROM runs ORDER BY clip, signal").fetchall()
        return [Entry(**dict(zip(names, row, strict=True))) for row in rows]

    def seconds_per_clip(self) -> dict[str, float]:
        """Mean measured seconds of each expert on the clips of this store that it had something to say of."""
        done = "SELECT * FROM runs WHERE seconds IS NOT NULL AND state = 'done'"
        calls = f"SELECT clip, expert, MAX(seconds) AS seconds FROM ({done}) GROUP BY clip, expert"
        sql = f"SELECT expert, AVG(seconds) FROM ({calls}) GROUP BY expert"
        with closing(self.connect(self.path)) as db:
            return dict(db.execute(sql).fetchall())

    def calls(self) -> dict[str, tuple[int, float]]:
        """Measured calls of each expert and their seconds in all, whatever came of them."""
        calls = "SELECT clip, expert, MAX(seconds) AS seconds FROM runs WHERE seconds IS NOT NULL GROUP BY clip, expert"
        with closing(self.connect(self.path)) as db:
            rows = db.execute(f"SELECT expert, COUNT(*), SUM(seconds) FROM ({calls}) GROUP BY expert ORDER BY expert")
            return {expert: (count, seconds) for expert, count, seconds in rows}

    @staticmethod
    def connect(path: Path) -> sqlite3.Connection:
        """The database of a ledger, opened."""
        db = sqlite3.connect(path, timeout=_PATIENCE_S)
        db.text_factory = lambda text: text.decode("utf-8", "replace")
        db.execute("PRAGMA synchronous=NORMAL")
        return db


def entries_on_file(store: Store, clip_id: str) -> list[Entry]:
    """The rows of a clip from its files, without durations."""
    keys = store.record(clip_id).signals
    failures, no_estimate = store.failures(clip_id), store.no_estimates(clip_id)
    entries = []
    for name, key in sorted(keys.items()):
        entry = Entry(clip=clip_id, signal=name, key=key, expert="", state="done")
        if name in no_estimate:
            entry = replace(entry, state="no_estimate", reason=no_estimate[name].reason)
        elif key in failures:
            entry = replace(entry, state="failed", reason=failures[key].error, expert=failures[key].expert)
        entries.append(entry)
    return entries
