"""Scoring answers that were made elsewhere, from a file to the folder of a run."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.evaluation.item import item_hash
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.responses import Response
from spatial_engine.evaluation.runs import FinishedRun
from spatial_engine.evaluation.score import score
from spatial_engine.evaluation.score_responses import score_item
from spatial_engine.evaluation.scored import ScoredItem
from tests.spatial_engine import drafts
from tests.spatial_engine.evaluation import drafted
from tests.spatial_engine.evaluation.chat_server import small_dataset


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(tmp_path_factory.mktemp("score"))


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without baselines."""
    monkeypatch.setattr("spatial_engine.evaluation.score.write_baselines", lambda *_, **__: None)


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def right(dataset: Dataset) -> list[dict]:
    return [{"id": question.id, "prediction": oracle_text(question)} for question in dataset.questions]


def test_from_a_file_to_a_run_with_baselines_beside_it(dataset: Dataset, tmp_path: Path) -> None:
    file = write(tmp_path / "theirs.jsonl", right(dataset))
    run = score(dataset, file, tmp_path / "out")
    assert run == tmp_path / "out" / "theirs"
    first = (run / "scores.jsonl").read_bytes()
    assert score(dataset.path, file, tmp_path / "out") == run
    assert (run / "scores.jsonl").read_bytes() == first
    runs = {path.name: read_json(path / "run.json")["baseline"] for path in (tmp_path / "out").iterdir()}
    baselines = ("oracle", "no-op", "empty", "random", "most-frequent")
    assert runs == {"theirs": False, **dict.fromkeys(baselines, True)}
    assert (run.parent / "oracle" / "scores.jsonl").read_text().count('"right": true') == first.count(b'"right": true')


def test_an_evaluation_is_no_data_set(dataset: Dataset, tmp_path: Path) -> None:
    file = write(tmp_path / "report.jsonl", right(dataset))
    with pytest.raises(UsageError, match="is a dataset"):
        score(dataset, file, dataset.path, name="x")
    with pytest.raises(UsageError, match="--name report is reserved"):
        score(dataset, file, tmp_path / "out")
    with pytest.raises(UsageError, match="is a folder"):
        score(dataset, tmp_path, tmp_path / "out")


def test_missing_answers_are_wrong_and_counted_separately(dataset: Dataset, tmp_path: Path, alone: None) -> None:
    rows = right(dataset)
    rows[0] = {"id": rows[0]["id"], "text": None}
    file = write(tmp_path / "some.jsonl", rows[:3])
    items, _ = FinishedRun(path=score(dataset, file, tmp_path / "out"), record={}).scores()
    assert Counter(item.status for item in items)["missing"] == len(rows) - 2
    assert all(item.score == 0.0 for item in items if item.status == "missing")


def test_answers_of_another_state_are_refused(dataset: Dataset, tmp_path: Path, alone: None) -> None:
    question = next(dataset.questions)
    row = asdict(Response(id=question.id, text="A", item=item_hash(question, dataset.path)))
    score(dataset, write(tmp_path / "a.jsonl", [row]), tmp_path / "out")
    with pytest.raises(UsageError, match="the dataset changed after the answers were made: 1 questions differ"):
        score(dataset, write(tmp_path / "b.jsonl", [{**row, "item": "0" * 32}]), tmp_path / "out")


def test_rotations_make_it_circular(dataset: Dataset, tmp_path: Path) -> None:
    choice = next(question for question in dataset.questions if question.format == "choice")
    rows = [{"id": choice.id, "text": "A", "rotation": rotation} for rotation in range(len(choice.options))]
    run = score(dataset, write(tmp_path / "turned.jsonl", rows), tmp_path / "out")
    items, _ = FinishedRun(path=run, record={}).scores()
    assert sum(item.score for item in items) == 1.0, "A is right once"
    assert read_json(run.parent / "oracle" / "result.json")["circular"]["hard"] == 1.0


def test_a_run_that_a_model_made_is_not_replaced(dataset: Dataset, tmp_path: Path, alone: None) -> None:
    file = write(tmp_path / "theirs.jsonl", right(dataset))
    run = score(dataset, file, tmp_path / "out")
    record = read_json(run / "run.json")
    (run / "run.json").write_text(json.dumps({**record, "source": "evaluate"}))
    with pytest.raises(UsageError, match="has other settings"):
        score(dataset, file, tmp_path / "out")


@pytest.mark.parametrize("name", ["choice", "drawn", "plan", "yes_no", "numeric", "json"])
def test_a_right_answer_to_our_prompt_is_right_for_the_official_scorer(name: str) -> None:
    question = drafted.questions()[name]
    reply = Response(id=question.id, text=f"Let me see. {oracle_text(question)}")
    item = score_item(Presentation(question=question), reply)
    assert isinstance(item, ScoredItem) and item.right
    assert item.official is None or item.official == pytest.approx(1.0)
    assert item.official is not None or name in ("json", "plan")  # not all angles are asked for; the way is in marks


def test_a_plan_in_metres_reaches_the_official_scorer_in_its_keys() -> None:
    question = drafted.question(drafts.walk(3, step_fraction=None))
    reply = Response(id=question.id, text=oracle_text(question))
    item = score_item(Presentation(question=question), reply)
    assert isinstance(item, ScoredItem) and item.right and item.official == pytest.approx(1.0)


def test_an_action_that_nobody_knows_is_no_error_for_the_official_scorer() -> None:
    question = drafted.questions()["plan"]
    reply = Response(id=question.id, text='<answer>{"actions": ["Moonwalk"], "step_nums": [3]}</answer>')
    item = score_item(Presentation(question=question), reply)
    assert isinstance(item, ScoredItem) and not item.right
