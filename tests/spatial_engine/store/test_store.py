"""Folders that are stores, and those that are not."""

import os
import threading
from pathlib import Path

import pytest

from experts.signals import NoEstimate
from spatial_engine.atomic_file import atomic_file, read_json, write_json
from spatial_engine.errors import StoreError
from spatial_engine.store.store import ClipRecord, Failure, FootageRecord, Store, create_store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return create_store(tmp_path / "store")


def add_clip(store: Store, clip_id: str, *names: str) -> None:
    for name in names:
        store.write(clip_id, name, "k", NoEstimate(reason=f"no {name}"))
    store.write_record(clip_id, ClipRecord(clip={"name": clip_id}, signals=dict.fromkeys(names, "k")))
    store.write_footage(FootageRecord(path=f"/{clip_id}.mp4", name=clip_id, clips=(clip_id,)))


@pytest.mark.parametrize(("version", "age"), [(99, "newer"), (0, "older")])
def test_another_format_says_so(store: Store, version: int, age: str) -> None:
    write_json(store.path / "store.json", {"format_version": version})
    for opening in (open_store, create_store):
        with pytest.raises(StoreError, match=f"{age} version: its format is {version}, this program reads 2") as caught:
            opening(store.path)
        assert "spatial-engine annotate VIDEOS -o NEW_STORE" in caught.value.remedy


def test_damaged_marker(store: Store) -> None:
    (store.path / "store.json").write_text("{")
    with pytest.raises(StoreError, match="damaged") as caught:
        open_store(store.path)
    assert "spatial-engine annotate VIDEOS -o NEW_STORE" in caught.value.remedy, "it may be of any format"


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a store"):
        open_store(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="is a file"):
        create_store(tmp_path / "file")


def test_signals_are_read_when_looked_at(store: Store) -> None:
    add_clip(store, "c", "gravity", "depth")
    signals = store.signals("c")
    assert sorted(signals) == ["depth", "gravity"]
    for file in (store.path / "clips" / "c").glob("depth.*"):
        file.unlink()
    assert signals["gravity"] == NoEstimate(reason="no gravity")
    assert signals["gravity"] is signals["gravity"]
    with pytest.raises(StoreError, match="depth"):
        signals["depth"]


def test_missing_clip_lists_those_there_are(store: Store) -> None:
    add_clip(store, "c")
    with pytest.raises(StoreError, match="holds: c"):
        store.record("d")


def test_failures_come_and_go(store: Store) -> None:
    failure = Failure(expert="colmap", signals=("camera_path",), error="E: x", traceback="...")
    store.write_failures("c", {"k": failure})
    assert store.failures("c") == {"k": failure}
    assert store.read("c", "camera_path", "k") == NoEstimate(
        reason="colmap failed", detail="E: x", remedy="--retry-failed"
    )
    store.write_failures("c", {})
    assert store.failures("c") == {}


def test_names_of_any_kind(store: Store) -> None:
    names = ["a b", "quote\"'", "new\nline", "[red]markup", "日本語", os.fsdecode(b"not utf-8 \xff")]
    for name in names:
        store.write_footage(FootageRecord(path=f"/videos/{name}", name=name, error="broken"))
    assert sorted(record.name for record in store.footage()) == sorted(names)


def test_cache(store: Store) -> None:
    assert store.get("key") is None
    store.put("key", {"a": [1]})
    assert store.get("key") == {"a": [1]}


def test_only_abandoned_temporary_files_are_swept(store: Store) -> None:
    """Also those of a living process with the number of a dead one: it may run on another host."""
    killed = store.path / "clips" / "c" / "depth.k.zarr.zip.tmp-0123abcd"
    killed.parent.mkdir(parents=True)
    killed.touch()
    with atomic_file(killed.with_name("depth.k.zarr.zip")) as living:
        create_store(store.path)
        assert living.exists()
        living.write_text("whole")
    assert not killed.exists()
    assert [file.name for file in killed.parent.iterdir()] == ["depth.k.zarr.zip"]


def test_two_threads_write_one_file_each_whole(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "a") as first, atomic_file(tmp_path / "a") as second:
        first.write_text("first")
        second.write_text("second")
    assert (tmp_path / "a").read_text() == "first"


def test_who_is_being_written_is_known_while_it_is(store: Store) -> None:
    begun, done = threading.Event(), threading.Event()

    def write() -> None:
        with store.one_writer("b" * 16):
            begun.set()
            done.wait(60)

    left = store.path / "clips" / f".{'a' * 16}.lock"
    left.parent.mkdir(exist_ok=True)
    left.touch()
    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(60)
    assert store.being_written() == ["b" * 16], "the other lock is of a process that was killed"
    done.set()
    writer.join()
    assert store.being_written() == []


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", 1)
    with pytest.raises(OSError, match="full"), atomic_file(tmp_path / "a.json") as temporary:
        temporary.write_text("half")
        raise OSError("disk full")
    assert read_json(tmp_path / "a.json") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_a_cache_that_cannot_be_written_costs_nothing_else(store: Store) -> None:
    (store.path / "cache").touch()  # a file where the folder should be
    store.put("key", {"a": [1]})
    assert store.get("key") is None


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"clip": {}, "signals": {}}',
        '{"clip": {"name": "c"}, "signals": {"../../secret": "k"}}',
        pytest.param('{"clip": {"name": "c"}, "signals": {"gravity": "' + "9" * 5000 + '"}}', id="a long key"),
        pytest.param("[" * 5000, id="deep"),
    ],
)
def test_a_damaged_record_is_named_and_costs_its_clip(store: Store, content: str) -> None:
    add_clip(store, "c", "gravity")
    add_clip(store, "d", "gravity")
    (store.path / "clips" / "c" / "clip.json").write_text(content)
    with pytest.raises(StoreError, match=r"clip\.json is damaged") as caught:
        store.record("c")
    assert "store repair" in caught.value.remedy and "annotate" in caught.value.remedy
    assert isinstance(store.records()["c"], StoreError)
    assert set(store.readable_records()) == {"d"}


def test_damaged_failures_are_tried_again(store: Store) -> None:
    add_clip(store, "c")
    (store.path / "clips" / "c" / "failed.json").write_text("{")
    assert store.failures("c") == {}


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"path": "/a", "name": "a", "clips": ["../../secret"]}', '{"path": 1e308, "name": "", "clips": []}'],
)
def test_a_damaged_record_of_footage_is_named(store: Store, content: str) -> None:
    add_clip(store, "c")
    (store.path / "footage" / "0.json").write_text(content)
    with pytest.raises(StoreError, match=r"footage/0\.json is damaged"):
        store.footage()


def test_a_damaged_reason_is_named(store: Store) -> None:
    add_clip(store, "c", "gravity")
    (store.path / "clips" / "c" / "gravity.k.json").write_text("{")
    assert "gravity.k.json is damaged" in store.no_estimates("c")["gravity"].reason


def test_a_version_that_is_no_number_is_damage(store: Store) -> None:
    (store.path / "store.json").write_text('{"format_version": "x"}')
    with pytest.raises(StoreError, match="is damaged"):
        open_store(store.path)


def test_a_folder_that_is_no_store_is_named_for_what_it_is(tmp_path: Path) -> None:
    create_store(tmp_path / "out" / "store")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "questions.jsonl").touch()
    with pytest.raises(StoreError, match="output of run") as of_run:
        open_store(tmp_path / "out")
    assert str(tmp_path / "out" / "store") in of_run.value.remedy
    with pytest.raises(StoreError, match="is a dataset") as of_set:
        open_store(tmp_path / "set")
    assert "annotate" not in of_set.value.remedy
