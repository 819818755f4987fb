"""A full disk is named as such, ends the run, and costs nothing that was there; afterwards the same command goes on."""

import errno
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import SetupError, disk_error, explained
from spatial_engine.pipeline import annotate
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store
from tests.spatial_engine.drafts import clip, clip_questions
from tests.spatial_engine.fake_footage import write_folders
from tests.spatial_engine.fake_models import FakeModel


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 192 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    _mount(place, "size=192k")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def _mount(place: Path, options: str) -> None:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root of a Linux machine may mount a small disk")


def _fill(place: Path) -> Path:
    filler = place / "filler"
    with pytest.raises(OSError, match="space"), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    return filler


def test_a_full_disk_is_not_moved_footage(small_disk: Path) -> None:
    ids = [f"{k:016x}" for k in (1, 2, 3)]
    before = write_dataset(small_disk / "d", [clip_questions(ids[0], 1)], clip, seed=0)
    questions = (before.path / "questions.jsonl").read_bytes()
    filler = _fill(small_disk)
    with pytest.raises(OSError, match="space") as caught:
        write_dataset(small_disk / "d", [clip_questions(id, 2) for id in ids], clip, seed=0)
    told = explained(caught.value)
    assert told is not None and told.cause.startswith("the disk is full") and told.exit_code == 3
    assert (Dataset.open(small_disk / "d").path / "questions.jsonl").read_bytes() == questions
    assert {entry.name for entry in small_disk.iterdir()} == {"d", "filler"}
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=64M", str(small_disk)], check=True)
    written = write_dataset(small_disk / "d", [clip_questions(id, 2) for id in ids], clip, seed=0)
    assert {question.clip for question in written.questions} == set(ids)


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.long(sample=True))])
def test_annotate_goes_on_when_there_is_space(tmp_path: Path, small_disk: Path, workers: int) -> None:
    videos = write_folders(tmp_path / "videos", 4)
    experts = [FakeModel(name="first", provides=frozenset({"image_tracks"}), log=tmp_path / "log", tracks=5_000)]
    with pytest.raises(SetupError, match="the disk is full"):
        annotate(videos, small_disk / "store", experts=experts, workers=workers)
    store = Store(small_disk / "store")
    assert not [failure for clip in store.clip_ids() for failure in store.failures(clip).values()]
    subprocess.run(["mount", "-o", "remount,size=64M", str(small_disk)], check=True)
    finished = annotate(videos, small_disk / "store", experts=experts)
    never_full = annotate(videos, tmp_path / "store", experts=experts)
    assert _contents(finished) == _contents(never_full)
    assert len(_contents(finished)) == 4


def _contents(store: Store) -> dict[str, str]:
    return {clip: artefact_hash(store.signals(clip)["image_tracks"]) for clip in store.clip_ids()}


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "full"), (errno.EDQUOT, "quota"), (errno.EROFS, "read-only")]
)
def test_what_a_disk_lacks(number: int, words: str) -> None:
    told = disk_error(OSError(number, "in the words of the system", "/data/store"))
    assert told is not None and words in told.cause and "/data/store" in told.cause


def test_other_errors_do_not_concern_the_disk() -> None:
    assert disk_error(FileNotFoundError(errno.ENOENT, "no such file")) is None
    assert disk_error(ValueError("full")) is None
