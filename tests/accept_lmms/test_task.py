"""Our task in the real lmms-eval: what it says must be what our own scorer says, item by item and leaf by leaf."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import spatial_engine as se
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.scoring import own
from spatial_engine.scoring.reading.reading import Unreadable
from templates.answers.score import Score
from templates.question import Question
from tests.accept_lmms.harness import LmmsEval, Outcome

EXACT = 1e-9


Exported = dict[str, tuple[str, Path]]


@pytest.fixture(scope="module")
def datasets(generated: Dataset, drafted: Dataset) -> dict[str, Dataset]:
    return {"generated": generated, "drafted": drafted}


@pytest.fixture(scope="module")
def exported(datasets: dict[str, Dataset], tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Name of each task and the folder that holds it, moved after the export."""
    tasks = {}
    for name, dataset in datasets.items():
        here = tmp_path_factory.mktemp("task")
        se.export(dataset, here / "out", to="lmms-eval")
        moved = (here / "out").rename(here / "moved elsewhere")
        (task,) = (path.name for path in moved.iterdir() if path.is_dir())
        tasks[name] = (task, moved)
    return tasks


@pytest.mark.parametrize("name", ["generated", "drafted"])
def test_dummy(lmms: LmmsEval, datasets: dict[str, Dataset], exported: Exported, tmp_path: Path, name: str) -> None:
    outcome = lmms.run(*exported[name], tmp_path / "o", "--model", "dummy", "--model_args", "response=B")
    compare(outcome, datasets[name])
    assert {said(sample) for sample in outcome.samples} == {"B"}
    tell(f"{name}: dummy, always B", outcome)


@pytest.mark.parametrize(
    ("name", "behaviour", "how"),
    [
        ("generated", "oracle", "chat"),
        ("generated", "random", "chat"),
        ("drafted", "oracle", "simple"),
        ("drafted", "wrong", "chat"),
    ],
)
def test_fake_server(
    lmms: LmmsEval,
    datasets: dict[str, Dataset],
    exported: Exported,
    tmp_path: Path,
    name: str,
    behaviour: str,
    how: str,
) -> None:
    """`simple` models get all pictures before all words, chatting ones both as they alternate."""
    with FakeServer(datasets[name], behaviour) as server:
        model = f"model=fake-{behaviour},base_url={server.base_url},num_concurrent=4,max_retries=2"
        flags = ["--force_simple"] if how == "simple" else []
        outcome = lmms.run(*exported[name], tmp_path / "o", "--model", "openai", "--model_args", model, *flags)
        assert server.counts == {"answered": len(list(datasets[name].questions))}
    compare(outcome, datasets[name])
    expected = {"oracle": 1.0, "wrong": 0.0}.get(behaviour)
    assert expected is None or outcome.results["overall,none"] == pytest.approx(expected, abs=EXACT)
    tell(f"{name}: fake server, {behaviour}, {how}", outcome)


def compare(outcome: Outcome, dataset: Dataset) -> None:
    """Every number of lmms-eval against our own scorer's on the responses that lmms-eval logged."""
    questions = {question.id: question for question in dataset.questions}
    by_leaf: dict[str, list[float]] = defaultdict(list)
    unread: list[float] = []
    seen = set()
    for sample in outcome.samples:
        seen.add(sample["overall"]["id"])
        question = questions[sample["overall"]["id"]]
        score, unreadable = ours(question, said(sample))
        assert sample["overall"]["score"] == pytest.approx(score, abs=EXACT)
        assert sample[question.ability] == pytest.approx(score, abs=EXACT)
        by_leaf[question.ability].append(score)
        unread.append(unreadable)
    assert seen == set(questions)
    expected = {leaf: fmean(scores) for leaf, scores in by_leaf.items()}
    expected |= {"overall": fmean(s for scores in by_leaf.values() for s in scores), "unreadable": fmean(unread)}
    for metric, value in expected.items():
        assert outcome.results[f"{metric},none"] == pytest.approx(value, abs=EXACT)


def said(sample: dict[str, Any]) -> str:
    """The response as logged: a list, or the only one of it."""
    logged = sample["filtered_resps"]
    return logged if isinstance(logged, str) else logged[0]


def ours(question: Question, response: str) -> tuple[float, float]:
    """(score, 1 if nothing could be read)."""
    score = own.score(question, response)
    assert isinstance(score, Score)
    return score.value, float(isinstance(own.read(question, response), Unreadable))


def tell(what: str, outcome: Outcome) -> None:
    overall, unreadable = (outcome.results[f"{metric},none"] for metric in ("overall", "unreadable"))
    print(
        f"\n{what}: {len(outcome.samples)} questions, overall {overall:.4f}, unreadable {unreadable:.4f}, "
        f"equal to our own scorer's in every item and leaf ({outcome.seconds:.0f} s)"
    )
