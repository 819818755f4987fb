"""`store merge`: the stores of several machines become the one that a single machine would have written."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from spatial_engine.cli.main import main
from spatial_engine.errors import StoreError
from spatial_engine.pipeline import annotate
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.merging import merge_stores
from spatial_engine.store.store import FootageRecord, Store
from tests.spatial_engine.annotation.test_shards import contents
from tests.spatial_engine.fake_experts import FakeExpert, chain
from tests.spatial_engine.fake_footage import write_folders, write_images


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "videos", 4)


@pytest.fixture
def fakes(tmp_path: Path) -> dict[str, FakeExpert]:
    return chain(tmp_path / "log")


def shards(videos: Path, folder: Path, fakes: dict[str, FakeExpert], count: int = 3) -> list[Store]:
    """A store of each shard."""
    names = [f"{number}/{count}" for number in range(1, count + 1)]
    experts = list(fakes.values())
    return [annotate(videos, folder / name.replace("/", "of"), experts=experts, shard=name) for name in names]


def paths(stores: list[Store]) -> list[Path]:
    return [store.path for store in stores]


@pytest.mark.parametrize("links", [True, False])
def test_a_merge_is_the_store_of_one_machine(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert], links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError("another disk")

    if not links:
        monkeypatch.setattr(os, "link", no_links)
    fakes["up"].does, fakes["up"].only_clip = "raise", "clip 2"
    shutil.copytree(videos / "clip 1", videos / "a" / "copy")  # equal footage counts once, where it is found first
    (videos / "clip 10").mkdir()
    shutil.copytree(videos / "clip 3", videos / "clip 10", dirs_exist_ok=True)
    (videos / "broken.mp4").write_bytes(b"no video")
    one = annotate(videos, tmp_path / "one", experts=list(fakes.values()))
    of_shards = shards(videos, tmp_path, fakes)
    merged = merge_stores(paths(of_shards), tmp_path / "merged")
    assert contents(merged.store) == contents(one)
    assert (merged.damaged, merged.contradicting) == ([], [])
    assert {file.name for file in (merged.store.path / "cache").iterdir()} == {
        file.name for file in (one.path / "cache").iterdir()
    }
    assert all(entry.seconds is not None for entry in Ledger.open(merged.store).entries())
    ran = {name: fake.ran() for name, fake in fakes.items()}
    annotate(videos, merged.store.path, experts=list(fakes.values()))
    assert {name: fake.ran() for name, fake in fakes.items()} == ran, "nothing is left to do"
    assert not [path for path in merged.store.path.rglob("*") if ".tmp-" in path.name or path.suffix == ".lock"]


def test_a_merge_twice_adds_nothing_and_changes_no_byte(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    of_shards = shards(videos, tmp_path, fakes)
    first = merge_stores(paths(of_shards), tmp_path / "merged")
    before = {path: path.read_bytes() for path in first.store.path.rglob("*") if path.is_file()}
    again = merge_stores(paths(of_shards), tmp_path / "merged")
    assert (first.added, again.added) == (3 * 4, 0)
    assert {path: path.read_bytes() for path in first.store.path.rglob("*") if path.is_file()} == before


def test_a_store_may_be_merged_into_another(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    of_shards = shards(videos, tmp_path, fakes)
    one = annotate(videos, tmp_path / "one", experts=list(fakes.values()))
    merged = merge_stores(paths(of_shards), of_shards[0].path)
    assert merged.store.path == of_shards[0].path and contents(merged.store) == contents(one)


def test_a_damaged_signal_is_left_out_and_named(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    of_shards = shards(videos, tmp_path, fakes)
    broken = next(file for store in of_shards for file in store.path.rglob("image_tracks.*"))
    broken.write_bytes(b"half")
    with pytest.raises(SystemExit) as exit:
        main(["store", "merge", *map(str, paths(of_shards)), "-o", str(tmp_path / "merged")])
    assert exit.value.code == 1
    ran = fakes["tracks"].ran()
    annotate(videos, tmp_path / "merged", experts=list(fakes.values()))
    assert fakes["tracks"].ran() == ran + 1
    one = annotate(videos, tmp_path / "one", experts=list(fakes.values()))
    assert contents(Store(tmp_path / "merged")) == contents(one)


def test_a_damaged_signal_that_another_source_has_is_no_loss(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    one = annotate(videos, tmp_path / "one", experts=list(fakes.values()))
    whole = contents(one)
    shutil.copytree(one.path, tmp_path / "other")
    next(one.path.rglob("image_tracks.*")).write_bytes(b"half")
    for k, order in enumerate(((one.path, tmp_path / "other"), (tmp_path / "other", one.path))):
        merged = merge_stores(order, tmp_path / f"merged {k}")
        assert merged.damaged == [] and contents(merged.store) == whole


def test_a_copy_that_is_not_what_was_read_is_no_signal(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert], monkeypatch: pytest.MonkeyPatch
) -> None:
    def bad_disk(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:-1] + b"?")

    def no_links(*_: object) -> None:
        raise OSError("another disk")

    store = annotate(videos, tmp_path / "store", experts=[fakes["area"]])
    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(shutil, "copyfile", bad_disk)
    merged = merge_stores([store.path], tmp_path / "merged")
    assert len(merged.damaged) == 4 and merged.added == 0
    monkeypatch.undo()
    assert merge_stores([store.path], tmp_path / "merged").added == 4
    assert contents(merged.store) == contents(store)


def test_of_two_settings_the_first_count_whole(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert], capsys: pytest.CaptureFixture[str]
) -> None:
    first = annotate(videos, tmp_path / "a", experts=list(fakes.values()))
    fakes["area"].version = "2"
    second = annotate(videos, tmp_path / "b", experts=list(fakes.values()))
    with pytest.raises(SystemExit):
        main(["store", "merge", str(first.path), str(second.path), "-o", str(tmp_path / "merged")])
    assert "different settings, of which the first count: clip 0" in capsys.readouterr().out
    merged = Store(tmp_path / "merged")
    assert contents(merged) == contents(first)
    ran = fakes["area"].ran()
    annotate(videos, merged.path, experts=list(fakes.values()))
    assert fakes["area"].ran() == ran, "what the second store measured is on file"


def test_signals_of_two_machines_come_together(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    stores = [annotate(videos, tmp_path / name, experts=[fakes[name]]) for name in ("area", "up")]
    merged = merge_stores(paths(stores), tmp_path / "merged").store
    assert contents(merged) == contents(annotate(videos, tmp_path / "one", experts=[fakes["area"], fakes["up"]]))


def test_a_clip_whose_machine_was_stopped_goes_on(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    stopped = store.clip_ids()[0]
    (store.path / "clips" / stopped / "clip.json").unlink()  # it is written last
    merged = merge_stores([store.path], tmp_path / "merged").store
    assert stopped not in merged.clip_ids() and len(merged.clip_ids()) == 3
    ran = fakes["area"].ran()
    annotate(videos, merged.path, experts=list(fakes.values()))
    assert fakes["area"].ran() == ran and len(merged.clip_ids()) == 4


def test_footage_that_one_machine_could_not_open(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, tmp_path / "a", experts=[fakes["area"]])
    other = annotate(videos, tmp_path / "b", experts=[fakes["area"]])
    record = store.footage()[0]
    store.write_footage(FootageRecord(path=record.path, name=record.name, error="no disk"))
    assert contents(merge_stores([store.path, other.path], tmp_path / "merged").store) == contents(other)
    assert replace(record, error="no disk", clips=()) in store.footage(), "sources are only read"


def test_what_is_no_store_is_named_before_anything_is_written(tmp_path: Path, videos: Path) -> None:
    write_images(tmp_path / "pictures", 9)
    with pytest.raises(StoreError, match="pictures is not a store"):
        merge_stores([tmp_path / "pictures"], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
