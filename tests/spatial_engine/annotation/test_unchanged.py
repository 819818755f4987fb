"""A finished store is resumed without opening a clip; whatever has changed is looked at as before."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from spatial_engine.annotation import opening
from spatial_engine.pipeline import annotate
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store
from tests.spatial_engine.fake_experts import FakeExpert, FakeSettings, chain
from tests.spatial_engine.fake_footage import write_folders, write_images

Opened = list[str]


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "videos", 3)


@pytest.fixture
def fakes(tmp_path: Path) -> dict[str, FakeExpert]:
    return chain(tmp_path / "log")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Names of the footage that is opened."""
    names, open_footage = Opened(), opening.open_footage
    monkeypatch.setattr(
        opening, "open_footage", lambda one, *rest, **more: names.append(one.name) or open_footage(one, *rest, **more)
    )
    return names


@pytest.fixture
def store(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert], opened: Opened) -> Store:
    done = annotate(videos, tmp_path / "store", experts=[*fakes.values()])
    opened.clear()
    return done


def content(store: Store) -> dict[str, dict[str, str]]:
    return {id: {name: artefact_hash(one) for name, one in store.signals(id).items()} for id in store.clip_ids()}


def clip_of(store: Store, name: str) -> Path:
    (id,) = (id for id in store.clip_ids() if store.record(id).clip["name"] == name)
    return store.clip_folder(id)


def test_what_is_finished_is_not_opened(
    videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened
) -> None:
    before = content(store)
    annotate(videos, store.path, experts=[*fakes.values()])
    assert opened == []
    assert content(store) == before


def signal_of(folder: Path) -> Path:
    return next(folder.glob("*.zarr.zip"))


def cut(folder: Path) -> None:
    os.truncate(signal_of(folder), 10)


def flip_a_byte(folder: Path) -> None:
    file = signal_of(folder)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))


def remove_signal(folder: Path) -> None:
    signal_of(folder).unlink()


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def remove_checksums(folder: Path) -> None:
    (folder / "checksums.json").unlink()


def damage_record(folder: Path) -> None:
    (folder / "clip.json").write_text("{")


def remove_record_of_footage(folder: Path) -> None:
    for file in (folder.parents[1] / "footage").glob("*.json"):
        if folder.name in json.loads(file.read_text())["clips"]:
            file.unlink()


HURT = [cut, flip_a_byte, remove_signal, remove_folder, remove_checksums, damage_record, remove_record_of_footage]


@pytest.mark.parametrize("hurt", HURT)
def test_what_is_damaged_or_gone_is_made_again(
    videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened, hurt: Callable[[Path], None]
) -> None:
    before = content(store)
    hurt(clip_of(store, "clip 1"))
    annotate(videos, store.path, experts=[*fakes.values()])
    assert opened == ["clip 1"]
    assert content(store) == before


def test_changed_footage_is_another_clip(
    videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened
) -> None:
    former = clip_of(store, "clip 1")
    shutil.rmtree(videos / "clip 1")
    write_images(videos / "clip 1", 77)
    annotate(videos, store.path, experts=[*fakes.values()])
    assert opened == ["clip 1"]
    assert clip_of(store, "clip 1") != former


def test_one_more_picture_is_seen(videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened) -> None:
    files = sorted((videos / "clip 1").iterdir())
    shutil.copy2(files[-1], files[-1].with_stem(f"{int(files[-1].stem) + 1:0{len(files[-1].stem)}d}"))
    annotate(videos, store.path, experts=[*fakes.values()])
    assert opened == ["clip 1"]
    assert len(json.loads((clip_of(store, "clip 1") / "clip.json").read_text())["clip"]["frames"]) == len(files) + 1


def test_options_experts_and_cameras_count(
    videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened
) -> None:
    names = sorted(["clip 0", "clip 1", "clip 2"])
    annotate(videos, store.path, experts=[*fakes.values()], licence="CC0-1.0")
    assert sorted(opened) == names
    opened.clear()
    fakes["up"].settings = FakeSettings(level=9.0)
    annotate(videos, store.path, experts=[*fakes.values()], licence="CC0-1.0")
    assert sorted(opened) == names
    opened.clear()
    camera = {"fx": 60.0, "fy": 60.0, "cx": 23.5, "cy": 17.5}
    (videos / "clip 2" / "intrinsics.json").write_text(json.dumps(camera))
    annotate(videos, store.path, experts=[*fakes.values()], licence="CC0-1.0")
    assert opened == ["clip 2"]
    opened.clear()
    (videos / "clips.yaml").write_text('"clip 0": {licence: MIT}\n')
    annotate(videos, store.path, experts=[*fakes.values()], licence="CC0-1.0")
    assert opened == ["clip 0"]


def test_a_twin_that_is_added_counts_as_before(
    tmp_path: Path, videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened
) -> None:
    shutil.copytree(videos / "clip 1", videos / "clip 3")
    for _ in range(2):
        opened.clear()
        annotate(videos, store.path, experts=[*fakes.values()])
        assert sorted(opened) == ["clip 1", "clip 3"]
        assert clip_of(store, "clip 1").is_dir()
    (tmp_path / "new").mkdir()
    new = annotate(videos, tmp_path / "new" / "store", experts=[*fakes.values()])
    assert content(new) == content(store)


def test_a_failed_clip_is_looked_at(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert], opened: Opened) -> None:
    fakes["up"].does = "raise"
    annotate(videos, tmp_path / "failed", experts=[*fakes.values()])
    opened.clear()
    annotate(videos, tmp_path / "failed", experts=[*fakes.values()])
    assert len(opened) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE finished",
        "UPDATE finished SET content = '{'",
        "UPDATE finished SET content = replace(content, 48, 49)",
    ],
)
def test_a_table_that_is_gone_or_odd_costs_time_only(
    videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened, sql: str
) -> None:
    with closing(sqlite3.connect(store.path / "ledger.sqlite")) as ledger, ledger:
        ledger.execute(sql)
    before = content(store)
    for count in (3, 0):
        opened.clear()
        annotate(videos, store.path, experts=[*fakes.values()])
        assert len(opened) == count
    assert content(store) == before


def test_rows_with_other_fields_cost_time_only(
    videos: Path, store: Store, fakes: dict[str, FakeExpert], opened: Opened
) -> None:
    """As another version may have written them, with a right checksum."""
    before = content(store)
    with closing(sqlite3.connect(store.path / "ledger.sqlite")) as db, db:
        for place, text in db.execute("SELECT place, content FROM finished").fetchall():
            other = json.dumps(json.loads(text) | {"more": 1})
            db.execute(
                "UPDATE finished SET content = ?, sha256 = ? WHERE place = ?",
                (other, sha256(f"{place}\0{other}".encode()).hexdigest(), place),
            )
    annotate(videos, store.path, experts=[*fakes.values()])
    assert len(opened) == 3 and content(store) == before
