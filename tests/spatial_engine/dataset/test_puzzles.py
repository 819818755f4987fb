"""Puzzles in a dataset: generated, balanced, drawn, split, audited and described like questions about clips."""

import json
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

import spatial_engine
from spatial_engine.cli.main import main
from spatial_engine.errors import UsageError
from spatial_engine.progress import Silent
from spatial_engine.store.store import create_store
from templates.answers import Label
from templates.generate import ask_puzzles
from templates.question import Phrasing
from templates.registry import TEMPLATES, create_templates
from templates.world import Procedural
from tests.spatial_engine.drafts import clip, clip_questions
from tests.templates.puzzle import TurnedSquares, sheet


@pytest.fixture(autouse=True)
def without_built_in_puzzles(monkeypatch):
    for name, template in create_templates().items():
        if template.world is Procedural:
            monkeypatch.delitem(TEMPLATES.builtin, name)


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setitem(TEMPLATES.builtin, "turned_squares", "tests.templates.puzzle:TurnedSquares")
    return spatial_engine.generate(None, tmp_path / "set", puzzles=40)


def test_they_are_balanced_drawn_and_described(made):
    questions = list(made.questions)
    answers = [question.answer for question in questions]
    assert abs(answers.count("yes") - answers.count("no")) <= 1 and len(answers) > 20
    assert all(question.is_puzzle and len(question.media) == 2 for question in questions)
    for entry in questions[0].media:
        with Image.open(made.path / entry["path"]) as picture:
            assert list(picture.size) == entry["size_px"]
    audit = made.audit
    assert (audit["clips"], audit["clips_with_questions"], audit["puzzles"]) == (0, 0, len(questions))
    card = (made.path / "README.md").read_text()
    assert f"{len(questions)} spatial questions about {len(questions)} puzzles without footage. Every" in card
    assert "license: other" in card


def test_a_split_divides_them(made, tmp_path):
    parts = spatial_engine.split(made, tmp_path / "parts", shares={"train": 0.5, "test": 0.5}).parts
    ids = [{question.id for question in part.questions} for part in parts.values()]
    assert len(ids) == 2 and not ids[0] & ids[1] and min(map(len, ids)) > 5


def test_equal_seeds_give_equal_bytes(made, tmp_path):
    create_store(tmp_path / "store")
    again = spatial_engine.generate(tmp_path / "store", tmp_path / "again", puzzles=40)
    assert (again.path / "questions.jsonl").read_bytes() == (made.path / "questions.jsonl").read_bytes()


def test_they_stand_beside_questions_about_clips(tmp_path):
    from spatial_engine.dataset.writing import write_dataset

    clips = [clip_questions("a" * 16, 2), ask_puzzles([TurnedSquares()], 20, 0)]
    dataset = write_dataset(tmp_path / "d", clips, clip, seed=0)
    assert dataset.audit["clips"] == 1 and dataset.audit["puzzles"] > 3
    index = spatial_engine.report(dataset, tmp_path / "report").parent / "questions" / "index.js"
    assert "turned_squares" in index.read_text()
    assert spatial_engine.export(dataset, tmp_path / "out", to="sharegpt")
    unreadable = write_dataset(tmp_path / "u", clips, lambda id: (_ for _ in ()).throw(OSError("gone")), seed=0)
    assert {question.is_puzzle for question in unreadable.questions} == {True}
    assert json.dumps(unreadable.audit["dropped"]).count("can no longer be read")


@pytest.mark.parametrize(("count", "said"), [(-1, "--puzzles -1"), (5, "no template asks without footage")])
def test_what_cannot_be_made_is_refused(tmp_path, count, said):
    with pytest.raises(UsageError, match=said):
        spatial_engine.generate(create_store(tmp_path / "store"), tmp_path / "set", puzzles=count)


def test_neither_store_nor_puzzles(tmp_path):
    with pytest.raises(UsageError, match="no STORE") as raised:
        spatial_engine.generate(None, tmp_path / "set")
    assert "--puzzles N" in raised.value.remedy


def test_the_command_needs_no_store(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(TEMPLATES.builtin, "turned_squares", "tests.templates.puzzle:TurnedSquares")
    with pytest.raises(SystemExit, match="0"):
        main(["generate", "-o", str(tmp_path / "set"), "--puzzles", "20"])
    assert len(list((tmp_path / "set" / "media").iterdir())) > 10
    assert "of 20 puzzles" not in capsys.readouterr().out


def test_fewer_than_wanted_is_said(tmp_path, monkeypatch):
    class Said(Silent):
        lines: ClassVar[list[str]] = []

        def say(self, line):
            self.lines.append(line)

    class Twelve(TurnedSquares):
        def propose(self, world, rng, count):
            return super().propose(world, rng, 400).distinct().take(slice(0, 12))

    class Refused(Twelve):
        def measure(self, facts, world):
            return super().measure(facts, world).refused(np.where(np.arange(len(facts)) < 5, "", "too easy"))

    monkeypatch.setattr("spatial_engine.dataset.asking.templates_for", lambda options: [Twelve()])
    spatial_engine.generate(None, tmp_path / "set", puzzles=100, progress=Said())
    monkeypatch.setattr("spatial_engine.dataset.asking.templates_for", lambda options: [Refused()])
    spatial_engine.generate(None, tmp_path / "set", puzzles=100, progress=Said())
    assert [line for line in Said.lines if not line.startswith("seconds: ")] == [
        "turned_squares: 12 of 100 puzzles: no more were proposed", "turned_squares: 5 of 100 puzzles: too easy"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("metadata", "licence", "free"),
    [
        ("License-Expression: MIT", "MIT", True),
        ("License: CC-BY-NC-4.0", "CC-BY-NC-4.0", False),
        ("License: UNKNOWN", "unknown", False),
        ("", "unknown", False),
    ],
)
def test_their_licence_is_that_of_the_package(metadata, licence, free, tmp_path, monkeypatch):
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: theirs\nVersion: 1\n{metadata}\n")
    (info / "entry_points.txt").write_text("[spatial_engine.templates]\nshape = tests.templates.puzzle:TurnedSquares\n")
    monkeypatch.syspath_prepend(tmp_path)
    (asked,) = ask_puzzles([TurnedSquares()], 3, 0).asked
    assert [p["code_licence"] for p in asked.origin.provenance] == [licence]
    assert (asked.origin.licence["signals"], asked.origin.licence["commercial_ok"]) == ([licence], free)


def test_options_that_are_pictures_are_all_kept_and_their_letters_are_even(tmp_path, monkeypatch):
    class WhichShape(TurnedSquares):
        """The right picture comes first in every offer."""

        name, formats = "which_shape", ("choice",)
        labels: ClassVar = {"choice": ("first", "second", "third")}

        def answer(self, format, facts, measured):
            return Label(text=np.full(len(facts), "first"), margin=np.full(len(facts), np.inf))

        def phrase(self, format, fact, answer, offer):
            turned = np.rot90(np.array(fact["first"]))
            shapes = (turned, np.fliplr(turned), 1 - turned)
            return Phrasing(media=(sheet(fact["first"]),), options=tuple(sheet(each.tolist()) for each in shapes))

    monkeypatch.setattr("spatial_engine.dataset.asking.templates_for", lambda options: [WhichShape()])
    made = spatial_engine.generate(None, tmp_path / "set", puzzles=30)
    assert made.audit["questions"] == 30 and made.audit["dropped"] == {}
    assert made.audit["letters"] == {"3": {"A": 10, "B": 10, "C": 10}}
    assert all(question.has_pictures_as_options for question in made.questions)
