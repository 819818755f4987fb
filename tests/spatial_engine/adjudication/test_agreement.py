import json
import shutil

import pytest

from spatial_engine.adjudication import fold_in
from spatial_engine.adjudication.agreement import disagreements, human_audit, pairs
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from tests.spatial_engine.adjudication.sessions import judge


@pytest.fixture
def dataset(dataset_path, tmp_path):
    shutil.copytree(dataset_path, tmp_path / "d")
    return Dataset.open(tmp_path / "d")


def test_without_verdicts_there_is_no_summary(dataset):
    before = (dataset.path / "audit.json").read_bytes()
    assert fold_in(dataset) is None and (dataset.path / "audit.json").read_bytes() == before
    assert "No person has judged" in (dataset.path / "README.md").read_text()


def test_counts_agreement_and_disputes(dataset):
    ids = [question.id for question in dataset.questions][:10]
    judge(dataset, "ann", dict.fromkeys(ids, "right") | {ids[0]: "wrong", ids[1]: "bad"})
    judge(dataset, "bob", dict.fromkeys(ids[:8], "right") | {ids[0]: "wrong", ids[2]: "undecided"})
    found = human_audit(Verdicts(dataset))
    assert found["annotators"] == 2 and found["questions"] == 10
    assert [found[word] for word in ("right", "wrong", "undecided", "bad", "disputed")] == [7, 1, 0, 0, 2]
    assert found["valid"] == 0.7 and 0.1 < found["valid_at_least"] < 0.5
    assert dict(map(tuple, found["not_right"])) == {ids[0]: "wrong", ids[1]: "disputed", ids[2]: "disputed"}
    assert sum(counts["disputed"] for counts in found["abilities"].values()) == 2
    (pair,) = pairs(Verdicts(dataset))
    assert pair.names == ("ann", "bob") and pair.agreement.questions == 8 and pair.agreement.agreement == 0.75
    assert sum(count for count, _ in pair.by_leaf.values()) == 8 and sum(s for _, s in pair.by_leaf.values()) == 6
    assert {one.question.id for one in disagreements(Verdicts(dataset))} == {ids[1], ids[2]}


def test_a_third_person_settles_and_is_no_measure_of_agreement(dataset):
    ids = [question.id for question in dataset.questions][:4]
    judge(dataset, "ann", dict.fromkeys(ids, "right"))
    judge(dataset, "bob", dict.fromkeys(ids, "right") | {ids[0]: "wrong"})
    judge(dataset, "cat", {ids[0]: "wrong"}, third=True)
    found = human_audit(Verdicts(dataset))
    assert found["wrong"] == 1 and found["disputed"] == 0 and found["annotators"] == 3
    assert [pair.names for pair in pairs(Verdicts(dataset))] == [("ann", "bob")]
    assert disagreements(Verdicts(dataset)) == []


def test_audit_and_card_have_the_summary_without_names_or_notes(dataset):
    ids = [question.id for question in dataset.questions][:6]
    before = dataset.audit
    judge(dataset, "zebedee", dict.fromkeys(ids, "right"))
    judge(dataset, "yolanda", dict.fromkeys(ids, "right") | {ids[0]: "bad"})
    found = fold_in(dataset.path)
    assert dataset.audit == {**before, "human": json.loads(json.dumps(found))}
    text = (dataset.path / "README.md").read_text()
    assert "Judged by 2 people: of 6 recorded answers" in text and "Two people agree in 83.3 % of 6 questions" in text
    for name in ("zebedee", "yolanda", "so says"):
        assert name not in text and name not in (dataset.path / "audit.json").read_text()


def test_verdicts_of_unchanged_questions_survive_a_new_data_set(dataset):
    questions = list(dataset.questions)
    judge(dataset, "ann", {question.id: "right" for question in questions[:6]})
    lines = (dataset.path / "questions.jsonl").read_text().splitlines(keepends=True)
    changed = {**json.loads(lines[0]), "prompt": "Otherwise?"}
    finer = {**json.loads(lines[1]), "seed": 9, "evidence": {}}
    kept = [json.dumps(changed) + "\n", json.dumps(finer) + "\n", *lines[3:]]
    (dataset.path / "questions.jsonl").write_text("".join(kept))
    again = Verdicts(Dataset.open(dataset.path))
    assert set(again.judged()["ann"]) == {question.id for question in questions[1:6]} - {questions[2].id}
    assert again.outdated() == 2 and fold_in(dataset.path)["questions"] == 4


def test_names_that_are_no_file_names_are_refused(dataset):
    verdicts = Verdicts(dataset)
    for name in ("", "../x", "a/b", ".x", "a b", "x" * 41, "é", "a\n"):
        with pytest.raises(UsageError, match="cannot name a file"):
            verdicts.file(name)


def test_an_empty_data_set_is_refused(dataset):
    (dataset.path / "questions.jsonl").write_text("")
    with pytest.raises(UsageError, match="has no questions"):
        Verdicts(dataset)
    with pytest.raises(UsageError, match="not a dataset"):
        fold_in(dataset.path / "media")


def test_a_damaged_file_is_named(dataset):
    folder = dataset.path.with_name("d.adjudication")
    folder.mkdir()
    (folder / "ann.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match=r"line 1 of .*ann\.jsonl"):
        fold_in(dataset.path)
