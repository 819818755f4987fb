"""Hashes of items: what they depend on, and on nothing else."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.item import check_unchanged, dataset_digest, item_hash, item_hashes
from tests.spatial_engine.evaluation.chat_server import small_dataset


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return small_dataset(tmp_path)


def test_what_is_asked_and_what_is_right_is_in_the_hash(dataset: Dataset) -> None:
    question = next(question for question in dataset.questions if question.format == "numeric")
    before = item_hash(question, dataset.path)
    changes = {
        "instructions": "?",
        "prompt": "?",
        "options": ["x"],
        "answer": 1,
        "tolerance": 9.0,
        "unit": "m",
        "media": [],
    }
    for name, value in changes.items():
        assert item_hash(replace(question, **{name: value}), dataset.path) != before, name
    for name, value in {"evidence": {}, "provenance": [], "extra": {"note": 1}, "seed": 7, "licence": {}}.items():
        assert item_hash(replace(question, **{name: value}), dataset.path) == before, name


def test_a_copy_elsewhere_is_the_same(dataset: Dataset, tmp_path: Path) -> None:
    copy = Dataset(Path(shutil.copytree(dataset.path, tmp_path / "copy")))
    assert item_hashes(copy) == item_hashes(dataset)
    hashes = item_hashes(dataset)
    assert dataset_digest(dict(reversed(hashes.items()))) == dataset_digest(hashes)


def test_a_picture_that_changed_changes_its_questions_alone(dataset: Dataset) -> None:
    before = item_hashes(dataset)
    question = next(dataset.questions)
    file = dataset.path / question.media[0]["path"]
    file.write_bytes(file.read_bytes()[:-1])
    after = item_hashes(dataset)
    changed = {id for id in before if before[id] != after[id]}
    assert question.id in changed and len(changed) < len(before)
    with pytest.raises(UsageError, match=f"{len(changed)} questions differ"):
        check_unchanged(before.items(), after, "responses.jsonl")
    check_unchanged([("gone", "0" * 32), (question.id, "")], after, "responses.jsonl")
