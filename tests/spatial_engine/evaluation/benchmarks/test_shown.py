"""What a model is shown of an item: frames, pictures by name, the form of the answer, and a published prompt."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.evaluation.evaluate import evaluate, plan
from spatial_engine.evaluation.fake_model import asked
from spatial_engine.evaluation.protocol import presentations
from spatial_engine.options import BenchmarkOptions, RequestOptions
from tests.films import number_of
from tests.spatial_engine.evaluation.benchmarks import copies
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving


def items(tmp_path: Path, layout: str, frames: int = 4) -> Dataset:
    name, write = copies.COPIES[layout]
    (tmp_path / "copy").mkdir(exist_ok=True)
    return prepare(write(tmp_path / "copy"), tmp_path / "items", BenchmarkOptions(benchmark=name, frames=frames))


def numbers_of(dataset: Dataset, entries: list[dict[str, str]]) -> list[int]:
    return [number_of(np.asarray(Image.open(dataset.path / entry["path"]))) for entry in entries]


@pytest.mark.parametrize(("frames", "shown"), [(4, [0, 13, 26, 39]), (2, [0, 39]), (16, None), (100, list(range(40)))])
def test_frames_are_evenly_spaced_from_first_to_last(frames: int, shown: list[int] | None, tmp_path: Path) -> None:
    dataset = items(tmp_path, "vsi_bench jsonl", frames)
    first = next(question for question in dataset.questions if question.clip.endswith("room0"))
    expected = np.linspace(0, 39, frames, dtype=int).tolist() if shown is None else shown
    assert numbers_of(dataset, list(first.media)) == expected


def test_of_a_video_with_frame_index_only_those_are_shown(tmp_path: Path) -> None:
    dataset = items(tmp_path, "spatialtree jsonl", 3)
    video = next(question for question in dataset.questions if question.format == "yes_no")
    assert numbers_of(dataset, list(video.media)) == [0, 4, 10]


def test_pictures_are_named_in_question_and_options(tmp_path: Path) -> None:
    question = next(q for q in items(tmp_path, "site parquet").questions if len(q.media) == 3)
    assert "beside (image 1)" in question.prompt
    assert list(question.options) == ["(image 2)", "(image 3)", "nothing", "it"]


def test_what_is_sent(tmp_path: Path) -> None:
    """The published system prompt, the effort, and nothing of ours beside the question and the form of its answer."""
    name, write = copies.COPIES["vsi_bench tsv"]
    (tmp_path / "copy").mkdir()
    copy, reading = write(tmp_path / "copy"), BenchmarkOptions(benchmark=name, frames=2)
    text = tmp_path / "published.txt"
    text.write_text("Think, then write <answer></answer> with {form}.\n", encoding="utf-8")
    asking = RequestOptions(model="m", system_prompt_file=text, reasoning_effort="high")
    with quick_retries(), serving(lambda number, request: Does()) as (url, requests):
        run = evaluate(copy, tmp_path / "out", asking, patient(url, concurrency=1, timeout=None), benchmark=reading)
    assert read_json(run / "run.json")["timeout_s"] == 900
    assert run.name == "m-high-published" and requests[0]["reasoning_effort"] == "high"
    system, user = requests[0]["messages"]
    assert (
        system["content"][0]["text"]
        == "Think, then write <answer></answer> with the letter of one option (A, B, C, D)."
    )
    said = asked([user])
    assert len(said.pictures) == 2
    assert said.text.startswith("Image 1:") and said.text.endswith(
        "Form of the answer: the letter of one option (A, B, C, D)."
    )
    assert "You are asked about space" not in said.text


def test_prompt_files_that_cannot_be_sent(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    dataset = items(tmp_path, "mmsi_bench tsv")
    for name in ("empty.txt", "binary.txt", "none.txt"):
        asking = RequestOptions(model="m", system_prompt_file=tmp_path / name)
        with pytest.raises(UsageError, match="--system-prompt-file"):
            plan(dataset, tmp_path / "out", asking)
    with pytest.raises(UsageError, match="give one"):
        RequestOptions(model="m", system_prompt=True, system_prompt_file=tmp_path / "empty.txt")


def test_options_that_name_letters_are_asked_once(tmp_path: Path) -> None:
    questions = list(items(tmp_path, "spatialviz parquet").questions)
    asked_of = [sum(1 for _ in presentations([question], circular=True)) for question in questions]
    assert asked_of == [1 if list(question.options) == list("ABCD") else 4 for question in questions]
