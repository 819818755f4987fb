"""A damaged file is never taken for a signal."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from experts.signals import NoEstimate
from spatial_engine.atomic_file import write_json
from spatial_engine.errors import StoreError
from spatial_engine.store import checksums
from spatial_engine.store.store import Store
from tests.spatial_engine.measured_store import measured_store

CLIP, KEY = "a" * 16, "k" * 16


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return measured_store(tmp_path_factory.mktemp("measured"))


@pytest.fixture
def store(measured: Store, tmp_path: Path) -> Store:
    shutil.copytree(measured.path, tmp_path / "store")
    return Store(tmp_path / "store")


def signal_file(store: Store) -> Path:
    return store.path / "clips" / CLIP / f"tracks.{KEY}.zarr.zip"


def flip_a_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def lose_the_checksums(file: Path) -> None:
    file.with_name("checksums.json").unlink()


def damage_the_checksums(file: Path) -> None:
    file.with_name("checksums.json").write_text('{"a": ')


@pytest.mark.parametrize("damage", [empty, cut, flip_a_byte, Path.unlink, lose_the_checksums, damage_the_checksums])
def test_damage_is_seen(store: Store, damage: Callable[[Path], None]) -> None:
    assert store.has(CLIP, "tracks", KEY)
    damage(signal_file(store))
    assert not store.has(CLIP, "tracks", KEY)
    assert store.has(CLIP, "gravity", KEY) == (damage not in (lose_the_checksums, damage_the_checksums))


def test_a_file_written_again_counts_again(store: Store) -> None:
    signal = store.read(CLIP, "tracks", KEY)
    empty(signal_file(store))
    store.write(CLIP, "tracks", KEY, signal)
    assert store.has(CLIP, "tracks", KEY)


def test_another_kind_of_answer_replaces_the_former(store: Store) -> None:
    cut(signal_file(store))
    store.write(CLIP, "tracks", KEY, NoEstimate(reason="too dark"))
    assert store.has(CLIP, "tracks", KEY)
    assert store.read(CLIP, "tracks", KEY) == NoEstimate(reason="too dark")
    assert not signal_file(store).exists()


def test_only_files_of_another_time_are_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    sha256 = checksums.sha256
    monkeypatch.setattr(checksums, "sha256", lambda file: read.append(file.name) or sha256(file))
    assert store.has(CLIP, "tracks", KEY)
    assert read == []
    os.utime(signal_file(store))  # what a copy without times looks like
    assert store.has(CLIP, "tracks", KEY)
    assert store.has(CLIP, "tracks", KEY)
    assert read == [signal_file(store).name]


def test_names_never_leave_the_folder(tmp_path: Path) -> None:
    names = ["../../secret", "/etc/passwd", "..", "", "a/b", "gravity.k.json"]
    write_json(tmp_path / checksums.FILE, {name: {"bytes": 1} for name in names})
    assert set(checksums.checksums(tmp_path)) == {"gravity.k.json"}


def test_a_chunk_under_another_name_is_damage(store: Store) -> None:
    file = signal_file(store)
    content = file.read_bytes()
    name = next(part.filename for part in ZipFile(file).infolist() if "/c/" in part.filename).encode()
    in_directory = content.rindex(name)
    file.write_bytes(content[:in_directory] + name[:-1] + b"7" + content[in_directory + len(name) :])
    with pytest.raises(StoreError, match="cannot be read"):
        store.read(CLIP, "tracks", KEY)
