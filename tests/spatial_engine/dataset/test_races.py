"""Several processes that write one dataset: each is done or is told, and what is there is always one of theirs."""

import multiprocessing
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import BusyError
from tests.spatial_engine.drafts import clip, clip_questions

ROUNDS, WRITERS = 4, 3


def write_at_once(path: Path, seed: int, together: Barrier, said: "Queue[str]") -> None:
    """Writes again and again, each time at the same moment as the others."""
    questions = [clip_questions(f"{number:016x}", 2) for number in range(seed + 1)]
    for _ in range(ROUNDS):
        together.wait()
        try:
            write_dataset(path, questions, clip, seed=seed)
            said.put("done")
        except BusyError as error:
            assert "is being written by" in str(error)
            said.put("busy")


@pytest.mark.long(sample=True)
def test_racing_processes_leave_one_whole_data_set(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    together, said = spawn.Barrier(WRITERS), spawn.Queue()
    path = tmp_path / "d"
    writers = [spawn.Process(target=write_at_once, args=(path, seed, together, said)) for seed in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    results = [said.get(timeout=10) for _ in range(ROUNDS * WRITERS)]
    assert results.count("done") >= ROUNDS
    dataset = Dataset.open(path)
    questions = list(dataset.questions)
    assert len({question.clip for question in questions}) == dataset.audit["seed"] + 1, "each writer has its own count"
    assert len(questions) == dataset.audit["questions"] > 0
    shown = {entry["path"] for question in questions for entry in question.media}
    assert {f"media/{file.name}" for file in (path / "media").iterdir()} == shown
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]
