"""Footage that is done: what its files, its options and its clips' folders were when all its signals were on file.

A table of the ledger, so that a run over a finished store reads one file and looks at the entries of folders, instead
of opening every clip. Whatever differs from it is looked at in full; a store without the table costs that once.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256

from experts.footage.file_state import state_of
from spatial_engine.store.ledger import DAMAGED, Ledger
from spatial_engine.store.store import Store

_TABLE = "CREATE TABLE IF NOT EXISTS finished (place TEXT PRIMARY KEY, content TEXT, sha256 TEXT)"


@dataclass(frozen=True, kw_only=True)
class FinishedClip:
    """A clip whose signals were all on file."""

    name: str
    signals: int
    """Number of its signals."""
    files: str
    """`state_of` the files in its folder of the store."""


@dataclass(frozen=True, kw_only=True)
class FinishedFootage:
    """A file or folder of footage whose clips were all finished."""

    place: str
    files: str
    """`state_of` its files."""
    width_px: int
    """Of the images of a folder; 0 for a video."""
    height_px: int
    made_with: str
    """Digest of the options, experts and versions that its signals depend on."""
    record: str
    """`state_of` its record in the store."""
    clips: Mapping[str, FinishedClip]
    """By id."""


def finished_footage(store: Store) -> dict[str, FinishedFootage]:
    """By place; what is damaged is left out, and all of it where another version wrote other fields."""
    path = store.path / "ledger.sqlite"
    if not path.is_file():
        return {}
    with suppress(*DAMAGED, TypeError, KeyError), closing(Ledger.connect(path)) as db:
        rows = db.execute("SELECT place, content, sha256 FROM finished").fetchall()
        return {place: _read(content) for place, content, digest in rows if digest == _sha256(place, content)}
    return {}


def note_finished(ledger: Ledger, footage: Iterable[FinishedFootage]) -> None:
    """Adds footage, or replaces it."""
    rows = [(one.place, content := json.dumps(asdict(one)), _sha256(one.place, content)) for one in footage]
    with closing(Ledger.connect(ledger.path)) as db, db:
        db.execute(_TABLE)
        db.executemany("INSERT OR REPLACE INTO finished (place, content, sha256) VALUES (?, ?, ?)", rows)


def state_of_clip(store: Store, clip_id: str) -> str:
    """`state_of` all files in the folder of a clip; empty where there is none."""
    try:
        with os.scandir(store.clip_folder(clip_id)) as entries:
            return state_of(sorted((entry.name, entry.stat()) for entry in entries))
    except OSError:
        return ""


def states_of_records(store: Store) -> dict[str, str]:
    """`state_of` each record of footage, by the name of its file."""
    try:
        with os.scandir(store.path / "footage") as entries:
            return {entry.name: state_of([(entry.name, entry.stat())]) for entry in entries}
    except OSError:
        return {}


def _read(content: str) -> FinishedFootage:
    known = json.loads(content)
    return FinishedFootage(**known | {"clips": {id: FinishedClip(**clip) for id, clip in known["clips"].items()}})


def _sha256(place: object, content: object) -> str:
    """Sqlite has no checksums of its own."""
    return sha256(f"{place}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()
