"""What is planted is counted as caught, what is faithful as lost, and questions are spread over the templates."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.rephrasing import check, main, spread
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from tests.spatial_engine.evaluation.chat_server import small_dataset

PROMPT = "How many times as far from the camera as point 1 is point 2?"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    found = small_dataset(tmp_path, count=2)
    write_questions(found.path, [replace(one, prompt=f"{PROMPT} Number {n}.") for n, one in enumerate(found.questions)])
    return found


def test_what_is_caught_and_what_is_lost(dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = next(iter(dataset.questions))
    lines = [("", "Say: " + first.prompt), ("", "Why?"), ("number", first.prompt.replace("point 2", "point 3"))]
    file = tmp_path / "rewordings.jsonl"
    file.write_text("".join(json.dumps({"id": first.id, "text": t, "planted": kind}) + "\n" for kind, t in lines))
    every, rejected = check(dataset, file)
    assert (every["faithful"], rejected["faithful"], every["number"], rejected["number"]) == (2, 1, 1, 1)
    assert "number: 1 of 1 rejected" in capsys.readouterr().out


def test_questions_are_spread_over_templates(dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    questions = list(dataset.questions)
    kinds = {(one.template, one.format) for one in questions}
    assert {(one.template, one.format) for one in spread(questions, len(kinds))} == kinds
    assert len({one.id for one in spread(questions, 10**6)}) == len(questions)
    assert main(["ask", str(dataset.path), "3"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main([]) == 2
