"""The table can go at any time, and take many writers."""

import multiprocessing
import sqlite3
import threading
from pathlib import Path

import pytest

from experts.signals import NoEstimate
from spatial_engine.store.ledger import Entry, Ledger
from spatial_engine.store.store import ClipRecord, Failure, FootageRecord, Store, create_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = create_store(tmp_path / "store")
    store.write("c", "gravity", "k1", NoEstimate(reason="no lines"))
    store.write_failures("c", {"k2": Failure(expert="colmap", signals=("camera_path",), error="E: x")})
    store.write_record("c", ClipRecord(clip={"name": "c"}, signals={"gravity": "k1", "camera_path": "k2"}))
    store.write_footage(FootageRecord(path="/c.mp4", name="c", clips=("c",)))
    return store


def test_rebuilt_from_files(store: Store) -> None:
    expected = [
        Entry(clip="c", signal="camera_path", key="k2", expert="colmap", state="failed", reason="E: x"),
        Entry(clip="c", signal="gravity", key="k1", expert="", state="no_estimate", reason="no lines"),
    ]
    assert Ledger.open(store).entries() == expected
    for file in store.path.glob("ledger.sqlite*"):
        file.unlink()
    assert Ledger.open(store).entries() == expected


def test_a_damaged_ledger_is_made_again(store: Store) -> None:
    (store.path / "ledger.sqlite").write_bytes(b"not a database" * 100)
    assert len(Ledger.open(store).entries()) == 2


def test_a_damaged_name_in_the_ledger_is_damage(store: Store) -> None:
    ledger = Ledger.open(store)
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content.replace(b"sqlite_autoindex_runs_1", b"sqlite_autoindex_ru\xees_1"))
    assert len(Ledger.open(store).entries()) == 2


def test_seconds_survive_runs_that_measured_none(store: Store) -> None:
    ledger = Ledger.open(store)
    entry = Entry(clip="d", signal="depth", key="k", expert="e", state="done", seconds=4.0)
    ledger.write([entry])
    ledger.write([Entry(clip="d", signal="depth", key="k", expert="e", state="done")])
    assert ledger.seconds_per_clip() == {"e": 4.0}
    ledger.write([Entry(clip="d", signal="depth", key="other", expert="e", state="done")])
    assert ledger.seconds_per_clip() == {}


def write_many(folder: str, clip: str) -> None:
    ledger = Ledger.open(Store(folder))
    for number in range(100):
        ledger.write([Entry(clip=clip, signal=f"s{number}", key="k", expert="e", state="done", seconds=1.0)])


def test_two_processes_write_at_once(store: Store) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=write_many, args=(str(store.path), clip)) for clip in ("x", "y")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(Ledger.open(store).entries()) == 2 + 200


def test_whoever_opens_it_waits_for_its_maker(tmp_path: Path) -> None:
    maker = sqlite3.connect(tmp_path / "ledger.sqlite", check_same_thread=False)
    maker.execute("BEGIN IMMEDIATE")
    maker.execute("CREATE TABLE half (made TEXT)")
    done = threading.Timer(0.3, maker.commit)
    done.start()
    assert Ledger(tmp_path / "ledger.sqlite").entries() == []
    done.join()
    maker.close()
