"""Hints from the room to the files of a dataset, to an export and to a prompt."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.hints import HintsFromSignals
from spatial_engine.dataset.question_line import from_line, to_line
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.protocol import prompt
from spatial_engine.export import export
from spatial_engine.options import GenerateOptions
from spatial_engine.report import report
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from tests.templates.hints.test_beside import room

KINDS = ("correspondence", "depth", "size")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    _, clip, signals = room()
    asked = ask_clip(clip, signals, [TEMPLATES.load("first_move")()], AskSettings(facts_per_template=2), 0)
    scenes = scenes_of(clip, signals)
    hints = HintsFromSignals(scenes=lambda _: scenes, kinds=KINDS, min_confidence=0.99)
    return write_dataset(tmp_path_factory.mktemp("hinted") / "set", [asked], lambda _: clip, seed=0, hints=hints)


def test_hints_are_read_again_with_their_pictures(dataset: Dataset) -> None:
    for question in dataset.questions:
        assert {"depth", "size"} <= {hint["kind"] for hint in question.hints}
        assert from_line(to_line(question)) == question
        assert len(question.files) > len(question.media) and all(
            (dataset.path / file).is_file() for file in question.files
        )


def test_a_prompt_has_them_on_request_only(dataset: Dataset) -> None:
    question = next(iter(dataset.questions))
    plain, shown = prompt(question), prompt(question, hints=["depth"], hint_pictures=["size"])
    assert not any("int picture" in part or "from the camera" in part for part in plain.parts if isinstance(part, str))
    (words,) = [part for part in shown.parts if isinstance(part, str) and part.startswith("Known from measurement")]
    assert "m from the camera." in words and "Hint picture" in words
    pictures = {hint["kind"]: len(hint["pictures"]) for hint in question.hints}
    assert sum(not isinstance(part, str) for part in shown.parts) == len(question.media) + pictures["size"]
    assert shown.hint_pictures_given == ("size",)
    assert prompt(question, hint_pictures=["size"], blind=True).hint_pictures_given == ()


def test_an_export_has_them_as_further_pictures_that_the_prompt_explains(dataset: Dataset, tmp_path: Path) -> None:
    folder = export(dataset, tmp_path / "out", to="hf", hint_pictures=["depth"])
    (row, *_) = pq.read_table(next((folder / "data").iterdir())).to_pylist()
    question = next(each for each in dataset.questions if each.id == row["id"])
    more = next(len(hint["pictures"]) for hint in question.hints if hint["kind"] == "depth")
    assert len(row["images"]) == len(question.media) + more
    assert "the distance from the camera as colour" in row["prompt"]
    assert dataset.path.joinpath("questions.jsonl").read_text(encoding="utf-8").count('"hints"') == len(
        [*dataset.questions]
    )


def test_the_report_shows_them(dataset: Dataset, tmp_path: Path) -> None:
    report(dataset, tmp_path / "report")
    pages = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "report").rglob("*.html"))
    pages += "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "report").rglob("*.js*"))
    assert "as colour, from" in pages


def test_an_unknown_kind_says_which_there_are(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no hints of the kind colour\nthere is: correspondence, depth, size"):
        GenerateOptions(hints=("colour",))
    with pytest.raises(UsageError, match="no hints of the kind colour"):
        export(dataset, tmp_path / "out", to="hf", hints=["colour"])
