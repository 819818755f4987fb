"""Footage at URLs: fetched once, then the same as local footage."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.errors import SetupError, UsageError
from spatial_engine.pipeline import annotate, plan
from tests.spatial_engine.fake_experts import FakeExpert, chain
from tests.spatial_engine.fake_footage import write_folders
from tests.spatial_engine.test_pipeline import Heard

URL = "memory://bucket/videos"


@pytest.fixture
def memory() -> Iterator[Any]:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: pip install '.[cloud]'")
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


@pytest.fixture
def area(tmp_path: Path) -> FakeExpert:
    return chain(tmp_path / "log")["area"]


def upload(files: Any, folder: Path) -> None:
    for path in folder.rglob("*.png"):
        files.pipe_file(f"/bucket/videos/{path.relative_to(folder)}", path.read_bytes())


def test_footage_at_a_url_gives_the_clips_of_local_footage(memory: Any, tmp_path: Path, area: FakeExpert) -> None:
    videos = write_folders(tmp_path / "videos", 2)
    upload(memory, videos)
    store = annotate(URL, tmp_path / "store", experts=[area])
    local = annotate(videos, tmp_path / "local", experts=[area])
    assert store.clip_ids() == local.clip_ids() and len(store.clip_ids()) == 2
    heard = Heard()
    annotate(URL, tmp_path / "store", experts=[area], progress=heard)
    assert not any(".png: done" in line for line in heard.lines), "nothing is fetched twice"


def test_what_changed_is_fetched_and_what_is_gone_is_forgotten(memory: Any, tmp_path: Path, area: FakeExpert) -> None:
    videos = write_folders(tmp_path / "videos", 2)
    upload(memory, videos)
    before = annotate(URL, tmp_path / "store", experts=[area]).clip_ids()
    memory.pipe_file("/bucket/videos/clip 0/000.png", (videos / "clip 0" / "001.png").read_bytes())
    for name in ("000", "001", "002"):
        memory.rm_file(f"/bucket/videos/clip 1/{name}.png")
    heard = Heard()
    (after,) = annotate(URL, tmp_path / "store", experts=[area], progress=heard).clip_ids()
    assert after not in before
    assert [line for line in heard.lines if ".png" in line] == ["clip 0/000.png: done"]


def test_one_file(memory: Any, tmp_path: Path, area: FakeExpert) -> None:
    room = Path(__file__).parents[3] / "examples" / "demo" / "room.mp4"
    memory.pipe_file("/bucket/videos/room.mp4", room.read_bytes())
    store = annotate(f"{URL}/room.mp4", tmp_path / "store", experts=[area])
    assert [record.name for record in store.footage()] == ["room.mp4"]


def test_a_file_url_is_a_path(memory: Any, tmp_path: Path, area: FakeExpert) -> None:
    videos = write_folders(tmp_path / "videos", 1)
    store = annotate(f"file://{videos}", tmp_path / "store", experts=[area])
    assert not (tmp_path / "store.downloads").exists() and Path(store.footage()[0].path).is_relative_to(videos)


def test_urls_that_lead_nowhere(memory: Any, tmp_path: Path, area: FakeExpert) -> None:
    with pytest.raises(UsageError, match="nothing at memory://bucket/none"):
        annotate("memory://bucket/none", tmp_path / "store", experts=[area])
    with pytest.raises(UsageError, match="nosuch"):
        annotate("nosuch://bucket", tmp_path / "store", experts=[area])
    memory.store["/bucket/videos/../../up.png"] = memory.open("/x", "wb")
    with pytest.raises(UsageError, match="leads outside"):
        annotate(URL, tmp_path / "store", experts=[area])
    with pytest.raises(UsageError, match="plan"):
        plan(URL, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_without_fsspec_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(SetupError, match="URLs need fsspec") as caught:
        annotate(URL, tmp_path / "store", experts="klt")
    assert "'.[cloud]'" in caught.value.remedy
