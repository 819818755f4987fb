"""Two runs into one store share its clips; what is damaged on file is made again."""

import multiprocessing
import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import SpatialEngineError
from spatial_engine.pipeline import annotate, generate
from spatial_engine.store.store import Store, create_store
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import write_folders
from tests.spatial_engine.fake_models import FakeModel
from tests.spatial_engine.measured_store import measured_store
from tests.spatial_engine.test_pipeline import Heard

CLIPS = 6


def slow_expert(log: Path) -> FakeModel:
    return FakeModel(name="slow", provides=frozenset({"valid_area"}), log=log, seconds=0.3)


def annotate_at_once(videos: Path, store: Path, log: Path, together: Barrier) -> None:
    together.wait()
    annotate(videos, store, experts=[slow_expert(log)], workers=0)


@pytest.mark.long(sample=True)
def test_two_runs_measure_each_clip_once(tmp_path: Path) -> None:
    videos = write_folders(tmp_path / "videos", CLIPS)
    store, log = create_store(tmp_path / "store").path, tmp_path / "log"
    spawn = multiprocessing.get_context("spawn")
    together = spawn.Barrier(2)
    runs = [spawn.Process(target=annotate_at_once, args=(videos, store, log, together)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    measured = [line for line in log.read_text().splitlines() if line.startswith("slow: clip ")]
    assert len(measured) == len(set(measured)) == CLIPS
    assert len(Store(store).clip_ids()) == CLIPS
    assert list(store.rglob("*.lock")) == list(store.rglob("*.writer.json")) == []


def test_a_clip_in_another_writers_hands_comes_last(tmp_path: Path) -> None:
    videos = write_folders(tmp_path / "videos", 2)
    fakes = chain(tmp_path / "log")
    store = annotate(videos, tmp_path / "store", experts=[fakes["area"]])
    first = store.clip_ids()[0]
    taken, released = threading.Event(), threading.Event()

    def write() -> None:
        with store.one_writer(first):
            taken.set()
            released.wait(60)

    class Releases(Heard):
        def say(self, line: str) -> None:
            super().say(line)
            if "waits for it" in line:
                released.set()

    writer, heard = threading.Thread(target=write), Releases()
    writer.start()
    assert taken.wait(10)
    annotate(videos, tmp_path / "store", experts=[fakes["area"], fakes["up"]], progress=heard)
    writer.join()
    assert [line for line in heard.lines if "is being written by process" in line]
    assert fakes["up"].ran() == 2
    outcomes = [line for line in heard.lines if line.endswith(": done")]
    assert store.record(first).clip["name"] in outcomes[-1]


@pytest.mark.parametrize("damage", [b"", b"half"])
def test_damaged_signals_are_made_again_and_no_others(tmp_path: Path, damage: bytes) -> None:
    videos, fakes = write_folders(tmp_path / "videos", 2), chain(tmp_path / "log")
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    ran = {name: fake.ran() for name, fake in fakes.items()}
    damaged = next(store.path.rglob("image_tracks.*"))
    damaged.write_bytes(damage)
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert {name: fake.ran() for name, fake in fakes.items()} == ran | {"tracks": ran["tracks"] + 1}
    for clip_id in store.clip_ids():
        assert all(store.signals(clip_id)[name] is not None for name in store.signals(clip_id))


@pytest.mark.long(sample=True)
def test_damaged_signals_cost_no_data_set(tmp_path: Path) -> None:
    store = measured_store(tmp_path)
    before = (generate(store, tmp_path / "d").path / "questions.jsonl").read_bytes()
    assert before
    for file in store.path.rglob("*.zarr.zip"):
        file.write_bytes(b"")
    with pytest.raises(SpatialEngineError, match="nothing can be asked"):
        generate(store, tmp_path / "d")
    assert (tmp_path / "d" / "questions.jsonl").read_bytes() == before
    generate(store, tmp_path / "d", allow_empty=True)
    assert list(Dataset.open(tmp_path / "d").questions) == []
