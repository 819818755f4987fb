"""The recipes of docs/recipes.md, typed in on small rendered sets, one after the other; that of plain video is typed in
by tests/test_training.py."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.fake_server import FakeServer
from tests.spatial_engine.sequences.rendered_set import write_set
from tests.typed_in import Page

PAGE = Page("docs/recipes.md")
SEQUENCES = (8, 9)
Type = Callable[..., None]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Types in a block of the page, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda name, server="": PAGE.type_in(name, tmp_path, SERVER=server)


def questions(name: str) -> list[str]:
    """Their abilities."""
    return [question.ability for question in Dataset.open(name).questions]


def test_every_block_is_run_here() -> None:
    named = re.findall(r"^```(.+)$", PAGE.text, re.MULTILINE)
    assert named == [f"sh {name}" for name in PAGE.blocks]
    assert [*PAGE.blocks] == ["from-truth", "from-video", "leaks", "levels", "held-out", "evaluate", "words", "mixture"]


@pytest.mark.long(sample=True)
def test_from_ground_truth_to_a_mixture(typed: Type, tmp_path: Path) -> None:
    for seed in SEQUENCES:
        write_set(tmp_path / "DATA" / f"walk_{seed}", seed)
    typed("from-truth")
    assert {*questions("DISTANCE")} == {"L1/Geometry/Distance"} and {*questions("SIZE")} == {"L1/Geometry/Size"}
    assert {*questions("CORRESPONDENCE")} == {"L1/Relation/Correspondence"}
    typed("leaks")
    typed("levels")
    assert {ability.partition("/")[0] for ability in questions("ALL")} >= {"L1", "L2", "L3", "L4"}
    typed("held-out")
    clips = [{one.clip for one in Dataset.open(f"PARTS/{part}").questions} for part in ("train", "test")]
    assert all(clips) and clips[0].isdisjoint(clips[1])
    with FakeServer(Dataset.open("PARTS/test"), "oracle") as server:
        typed("evaluate", server.base_url)
    assert json.loads(Path("EVALUATION/MODEL/result.json").read_text())["overall"]["score"] > 0.95
    with FakeServer(Dataset.open("PARTS/train"), "rephraser") as server:
        typed("words", server.base_url)
    said = Dataset.open("WORDED").audit["rephrased"]
    assert 0 < said["kept"] < said["chosen"] and "the rewording is in another language" in said["unused"]
    Image.new("RGB", (8, 8)).save("cat.jpg")
    turns = [{"from": "human", "value": "<image>\nWhat is it?"}, {"from": "gpt", "value": "A cat."}]
    Path("general.json").write_text(json.dumps([{"image": "cat.jpg", "conversations": turns}, {}] * 4000))
    typed("mixture")
    mix = json.loads(Path("TRAINING/export_report.json").read_text())["mix"]
    assert mix["rows"] == mix["wanted"] == 3 * said["chosen"] and mix["broken"]["no conversation"] > 0
