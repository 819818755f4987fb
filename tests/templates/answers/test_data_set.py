"""Every answer type and format that no template asks yet: written, read, scored, exported, audited."""

import json
from pathlib import Path

import numpy as np
import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import baselines, protocol
from spatial_engine.evaluation.score import score
from spatial_engine.export import EXPORTERS, export
from spatial_engine.leaks.near_duplicates import same_answers
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.report.cards import question_card
from spatial_engine.scoring import own
from templates.answers import RIGHT, Box, Count, Label, Numbers, Region, Text
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from templates.answers.words import set_label
from templates.question import Question
from tests.templates.answers import by_hand

SQUARE = np.array([[100.0, 80.0], [160.0, 80.0], [160.0, 140.0], [100.0, 140.0]])


def some(n: int) -> list[Question]:
    """One question of every kind; the right answers change with `n`."""
    angles = Numbers(
        names=("azimuth", "distance"), value=np.array([20.0 * n, 1.0 + n]), sigma=np.array([2.0, 0.1]),
        tolerance=np.array([15.0, 0.4]), unit=("deg", "m"), period=(360.0, np.nan),
    )  # fmt: skip
    words = ["chair", "table", "lamp"][: n % 3 + 1]
    label = Label(text=set_label(words), margin=4.0)
    text = Text(text=f"There are {n} steps.", claims=f"There are {n} steps.\nThey lead up.", margin=4.0)
    box = Box(corners_px=np.array([10.0, 20.0, 90.0, 100.0]) + 9 * n, sigma_px=np.full(4, 2.0))
    return [
        by_hand.asked(angles, "json", prompt="Where is the chair?", number=6 * n),
        by_hand.asked(Count(value=1.0 + n), "numeric", prompt="How many chairs are there?", number=6 * n + 1),
        by_hand.asked(Region.of([SQUARE + n], 1.0), "point", prompt="Point at the seat.", number=6 * n + 2,
                      ability="L2/Understanding/Affordance"),
        by_hand.asked(box, "json", prompt="Where is the box?", number=6 * n + 3, template="by hand box"),
        by_hand.asked(label, "set", answer=words, prompt="What is on the floor?", number=6 * n + 4),
        by_hand.asked(text, "text", prompt="Describe the stairs.", number=6 * n + 5),
    ]  # fmt: skip


QUESTIONS = [question for n in range(4) for question in some(n)]
FIRST = QUESTIONS[:6]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return by_hand.dataset(tmp_path_factory.mktemp("by hand") / "dataset", QUESTIONS)


def test_the_data_set_is_read_back_and_audited(dataset: Dataset) -> None:
    assert list(dataset.questions) == QUESTIONS
    found = dataset.audit
    assert found["formats"] == {"json": 8, "numeric": 4, "point": 4, "set": 4, "text": 4}
    assert "`set`" in (dataset.path / "README.md").read_text()


@pytest.mark.parametrize("question", FIRST, ids=lambda question: f"{question.scorer}-{question.format}")
def test_each_is_asked_shown_and_stated(question: Question) -> None:
    assert format_of(question.format).form(question) in protocol.prompt(question).parts[-1]
    assert json.dumps(question_card(question))
    recorded = recorded_answer(question)
    assert format_of(question.format).stated(question, recorded).right(recorded) == RIGHT
    assert _same_answer(question, question)
    assert baselines.random_text(question, 0) == baselines.random_text(question, 0)
    if question.format != "text":
        assert own.score(question, baselines.oracle_text(question)).value == 1.0
        assert own.score(question, baselines.wrong_text(question)).value == 0.0


def _same_answer(first: Question, second: Question) -> bool:
    return bool(same_answers(QuestionTable.of([first, second]), np.array([0]), np.array([1]))[0])


def test_answers_that_differ_are_no_near_duplicates() -> None:
    assert [_same_answer(a, b) for a, b in zip(some(0), some(2), strict=True)] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("form", EXPORTERS.builtin)
def test_every_exporter_writes_them_or_says_why_not(dataset: Dataset, tmp_path: Path, form: str) -> None:
    report = json.loads((export(dataset, tmp_path / "out", to=form) / "export_report.json").read_text())
    assert report["rows"] + sum(report["left_out"].values()) == len(QUESTIONS)
    if form in ("lmms-eval", "vlmevalkit"):
        assert report["rows"] == 20 and report["left_out"] == {"free text is scored by a judge model": 4}
    if form == "spatialtree":
        oracle = report["oracle"]
        assert report["rows"] == 12 and oracle["L2/Understanding/Affordance"]["score"] == 1.0
        assert oracle["L1/Localization/3D Grounding"]["why"]["a judge model scores it"] == 4
    if form in ("hf", "llava", "sharegpt"):
        assert report["rows"] == len(QUESTIONS)


def test_a_run_scores_all_but_the_text(dataset: Dataset, tmp_path: Path) -> None:
    rows = ({"id": question.id, "text": baselines.oracle_text(question)} for question in QUESTIONS)
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = score(dataset, tmp_path / "answers.jsonl", tmp_path / "out")
    found = json.loads((run / "result.json").read_text())
    assert found["overall"]["score"] == 1.0 and found["overall"]["items"] == 20
    assert found["judged"] == {**found["judged"], "items": 0, "score": None, "unjudged": 4}
    assert {"f1", "iou"} <= found["graded"].keys()


def test_no_reader_raises_on_odd_replies() -> None:
    odd = ("", "[", "{" * 99, "yes", "[1, 2, 3, 4]", '{"x0": "left"}', "A" * 5000, "None", "[[], {}]", "\x00\ud800")
    for question in FIRST:
        for reply in odd:
            assert isinstance(own.score(question, reply), Unscored) or own.score(question, reply).value in (0.0, 1.0)
