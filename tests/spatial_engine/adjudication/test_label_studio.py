import json
import shutil
from xml.etree import ElementTree

import pytest

from spatial_engine.adjudication import Verdicts, from_label_studio, to_label_studio
from spatial_engine.adjudication.label_studio import CONFIG
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from tests.spatial_engine.adjudication.sessions import judge
from tests.spatial_engine.evaluation.drafted import said_once


@pytest.fixture
def verdicts(dataset_path, tmp_path):
    shutil.copytree(dataset_path, tmp_path / "d")
    dataset = Dataset.open(tmp_path / "d")
    questions = list(dataset.questions)
    judge(dataset, "ann", {question.id: "right" for question in questions[:5]} | {questions[1].id: "bad"})
    judge(dataset, "bob", {questions[0].id: "wrong"}, third=True)
    return Verdicts(dataset)


def exported(verdicts, tmp_path):
    to_label_studio(verdicts, list(verdicts.questions.values()), tmp_path / "tasks.json")
    return json.loads((tmp_path / "tasks.json").read_text())


def put(tmp_path, tasks):
    (tmp_path / "back.json").write_text(json.dumps(tasks))
    return tmp_path / "back.json"


def test_there_and_back(verdicts, tmp_path):
    before = verdicts.judged()
    exported(verdicts, tmp_path)
    shutil.rmtree(verdicts.folder)
    done = from_label_studio(verdicts, tmp_path / "tasks.json")
    assert done.verdicts == 6 and not done.left_out and verdicts.judged() == before
    again = from_label_studio(verdicts, tmp_path / "tasks.json")
    assert again.verdicts == 0 and again.left_out == {"already here, as new or newer": 6}
    assert verdicts.judged() == before


def test_tasks_fit_the_configuration(verdicts, tmp_path):
    tasks = exported(verdicts, tmp_path)
    assert (tmp_path / "tasks.config.xml").read_text() == CONFIG
    tags = list(ElementTree.fromstring(CONFIG).iter())
    taken = {tag.get(key)[1:] for tag in tags for key in ("value", "valueList") if (tag.get(key) or "").startswith("$")}
    controls = {tag.get("name"): tag for tag in tags if tag.get("toName")}
    assert len(tasks) == len(verdicts.questions)
    for task in tasks:
        assert said_once(verdicts.questions[task["data"]["question_id"]], task["data"]["prompt"])
        assert taken <= set(task["data"]) and all(
            path.startswith("/data/local-files/?d=d/media/") for path in task["data"]["pictures"]
        )
        for annotation in task["annotations"]:
            for region in annotation["result"]:
                control = controls[region["from_name"]]
                assert region["to_name"] == control.get("toName") and region["type"] == control.tag.lower()
                allowed = {choice.get("value") for choice in control}
                assert set(region["value"].get("choices", [])) <= allowed


def test_what_annotators_there_say_is_taken(verdicts, tmp_path):
    task = exported(verdicts, tmp_path)[7]
    region = {"from_name": "verdict", "to_name": "prompt", "type": "choices", "value": {"choices": ["wrong"]}}
    note = {"from_name": "note", "to_name": "prompt", "type": "textarea", "value": {"text": "<b>\n too near"}}
    own = {"from_name": "own", "to_name": "prompt", "type": "textarea", "value": {"text": ["B"]}}
    said = {
        "created_at": "2026-05-05T05:05:05.123Z",
        "lead_time": 4.5,
        "was_cancelled": False,
        "result": [region, note, own],
    }
    task["annotations"] = [{**said, "completed_by": 7}, {**said, "completed_by": {"email": "dora@example.org"}}]
    assert from_label_studio(verdicts, put(tmp_path, [task])).verdicts == 2
    dora = verdicts.judged()["dora"][task["data"]["question_id"]]
    assert (dora.verdict.verdict, dora.verdict.note, dora.verdict.seconds) == ("wrong", "<b> too near", 4.5)
    assert dora.answer.own == "B" and dora.answer.blind is False and "user-7" in verdicts.annotators()


def test_the_newer_verdict_stays(verdicts, tmp_path):
    task = exported(verdicts, tmp_path)[0]
    (annotation,) = (a for a in task["annotations"] if {"text": ["ann"]} in [r["value"] for r in a["result"]])
    for region in annotation["result"]:
        if region["from_name"] == "verdict":
            region["value"] = {"choices": ["undecided"]}
    task["annotations"] = [{**annotation, "updated_at": "2000-01-01T00:00:00Z"}]
    assert from_label_studio(verdicts, put(tmp_path, [task])).verdicts == 0
    task["annotations"] = [{**annotation, "updated_at": "2030-01-01T00:00:00Z"}]
    assert from_label_studio(verdicts, put(tmp_path, [task])).verdicts == 1
    assert verdicts.judged()["ann"][task["data"]["question_id"]].verdict.verdict == "undecided"


def test_unusable_entries_are_counted_and_skipped(verdicts, tmp_path):
    good = exported(verdicts, tmp_path)[0]
    shutil.rmtree(verdicts.folder)
    whole = good["annotations"][0]
    bad = [
        {**whole, "was_cancelled": True}, {**whole, "result": []}, {**whole, "result": "x"}, 5,
        {"result": [r for r in whole["result"] if r["from_name"] == "verdict"], "completed_by": {"email": "../x"}},
        {**whole, "result": [r for r in whole["result"] if r["from_name"] != "verdict"] + [None, {"value": 3}]},
    ]  # fmt: skip
    tasks = [
        5, {}, {**good, "data": {**good["data"], "question_id": "other"}},
        {**good, "data": {**good["data"], "content": "0"}}, {**good, "annotations": [*bad, whole]},
    ]  # fmt: skip
    done = from_label_studio(verdicts, put(tmp_path, tasks))
    assert done.verdicts == 1 and sum(done.left_out.values()) == 2 + 2 * len(good["annotations"]) + len(bad)


def test_no_list_of_tasks_is_refused(verdicts, tmp_path):
    for content in (b"", b"{}", b"\xff", b"[" * 100_000, b"[1, 2"):
        (tmp_path / "x.json").write_bytes(content)
        with pytest.raises(UsageError, match=r"x\.json"):
            from_label_studio(verdicts, tmp_path / "x.json")
