"""Puzzles in a data set: generated, balanced, drawn, split, audited and described like questions about clips."""

import json

import pytest
from PIL import Image

import spatial_engine
from spatial_engine.errors import UsageError
from spatial_engine.store.store import create_store
from templates.registry import TEMPLATES
from tests.spatial_engine.drafts import clip, clip_questions


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setitem(TEMPLATES.builtin, "turned_shape", "tests.templates.puzzle:TurnedShape")
    create_store(tmp_path / "store")
    return spatial_engine.generate(tmp_path / "store", tmp_path / "set", puzzles=40)


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
    assert f"{len(questions)} puzzles without footage" in card and "license: other" in card


def test_a_split_divides_them(made, tmp_path):
    parts = spatial_engine.split(made, tmp_path / "parts", shares={"train": 0.5, "test": 0.5}).parts
    ids = [{question.id for question in part.questions} for part in parts.values()]
    assert len(ids) == 2 and not ids[0] & ids[1] and min(map(len, ids)) > 5


def test_equal_seeds_give_equal_bytes(made, tmp_path):
    again = spatial_engine.generate(tmp_path / "store", tmp_path / "again", puzzles=40)
    assert (again.path / "questions.jsonl").read_bytes() == (made.path / "questions.jsonl").read_bytes()


def test_they_stand_beside_questions_about_clips(tmp_path):
    from spatial_engine.dataset.writing import write_dataset
    from templates.generate import ask_puzzles
    from tests.templates.puzzle import TurnedShape

    clips = [clip_questions("a" * 16, 2), ask_puzzles([TurnedShape()], 20, 0)]
    dataset = write_dataset(tmp_path / "d", clips, clip, seed=0)
    assert dataset.audit["clips"] == 1 and dataset.audit["puzzles"] > 3
    gallery = spatial_engine.report(dataset, tmp_path / "report").parent / "gallery.html"
    assert "turned_shape" in gallery.read_text()
    assert spatial_engine.export(dataset, tmp_path / "out", to="sharegpt")
    unreadable = write_dataset(tmp_path / "u", clips, lambda id: (_ for _ in ()).throw(OSError("gone")), seed=0)
    assert {question.is_puzzle for question in unreadable.questions} == {True}
    assert json.dumps(unreadable.audit["dropped"]).count("can no longer be read")


@pytest.mark.parametrize(("count", "said"), [(-1, "--puzzles -1"), (5, "no template asks without footage")])
def test_what_cannot_be_made_is_refused(tmp_path, count, said):
    with pytest.raises(UsageError, match=said):
        spatial_engine.generate(create_store(tmp_path / "store"), tmp_path / "set", puzzles=count)
