"""The third step of extraction: who is asked, and what becomes of what a judge says."""

import json
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import SetupError
from spatial_engine.evaluation.fake_model import FakeModel
from spatial_engine.evaluation.judge import Judge, judge_prompt, read_judge
from spatial_engine.evaluation.runs import FinishedRun
from spatial_engine.evaluation.score import score
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.scoring import own
from templates.question import Question
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving, small_dataset

MUMBLED = "Some would say A. Others would say B."


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(tmp_path_factory.mktemp("judge"), count=2)


@pytest.fixture
def choices(dataset: Dataset) -> list[Question]:
    return [question for question in dataset.questions if question.format == "choice"]


@pytest.fixture
def answers(choices: list[Question], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One mumbles, one refuses, the rest says A."""
    monkeypatch.setattr("spatial_engine.evaluation.score.write_baselines", lambda *_, **__: None)
    texts = [MUMBLED, "I cannot tell.", *["<answer>A</answer>"] * (len(choices) - 2)]
    path = tmp_path / "answers.jsonl"
    rows = (json.dumps({"id": question.id, "text": text}) for question, text in zip(choices, texts, strict=True))
    path.write_text("\n".join(rows))
    return path


def by_id(run: Path) -> dict[str, ScoredItem]:
    return {item.id: item for item in FinishedRun(path=run, record={}).scores()[0]}


def test_a_judge_reads_only_what_rules_cannot(
    dataset: Dataset, choices: list[Question], answers: Path, tmp_path: Path
) -> None:
    assert own.read(choices[0], MUMBLED).reason == "ambiguous"
    verdict = Does(text='```json\n{"quote": "Others would say B", "answer": "B"}\n```')
    with serving(lambda number, request: verdict) as (url, requests):
        judge = Judge(model="judge", server=patient(url))
        for _ in range(2):
            run = score(dataset, answers, tmp_path / "out", judge=judge)
            assert len(requests) == 1, "once"
    items = by_id(run)
    assert (items[choices[0].id].extracted, items[choices[0].id].how) == ("B", "judge")
    assert items[choices[0].id].score == float(choices[0].answer == "B")
    assert items[choices[1].id].status == "refused" and items[choices[1].id].how is None
    assert read_json(run / "run.json")["judge"]["model"] == "judge"
    assert MUMBLED in json.dumps(requests[0]) and requests[0]["temperature"] == 0


@pytest.mark.parametrize(
    "text", ["", "no json", '{"quote": "B", "ans', "[" * 100_000, '{"quote": "never said", "answer": "B"}']
)
def test_an_unreadable_judge_changes_no_score(
    dataset: Dataset, choices: list[Question], answers: Path, tmp_path: Path, text: str
) -> None:
    with serving(lambda number, request: Does(text=text)) as (url, _):
        run = score(dataset, answers, tmp_path / "out", judge=Judge(model="judge", server=patient(url)))
    assert by_id(run)[choices[0].id].status == "unreadable"


def test_a_judge_that_is_not_there_takes_no_score_away(dataset: Dataset, answers: Path, tmp_path: Path) -> None:
    judge = Judge(model="judge", server=patient("http://127.0.0.1:9/v1", max_retries=0))
    with quick_retries(), pytest.raises(SetupError, match="no connection"):
        score(dataset, answers, tmp_path / "out", judge=judge)
    assert (tmp_path / "out" / "answers" / "result.json").is_file()


@pytest.mark.parametrize(
    ("reply", "found"), [("It would be B, B I guess", "<answer>B</answer>"), ("A or B", ""), ("Who knows", "")]
)
def test_the_fake_model_judges_too(dataset: Dataset, choices: list[Question], reply: str, found: str) -> None:
    prompt = judge_prompt(choices[0], reply)
    said, _ = FakeModel(dataset, "oracle").completion({"messages": [{"role": "user", "content": prompt}]})
    assert read_judge(choices[0], reply, said["choices"][0]["message"]["content"]) == found
