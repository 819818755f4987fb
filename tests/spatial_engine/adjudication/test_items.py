"""Items by people: corrected and new questions, from the page to a dataset and its exports."""

import json
import shutil
from contextlib import contextmanager
from dataclasses import replace

import pytest

from spatial_engine.adjudication import to_dataset
from spatial_engine.adjudication.agreement import disagreements, human_audit, pairs, settled
from spatial_engine.adjudication.items import checked, item_of
from spatial_engine.adjudication.server import AdjudicationServer
from spatial_engine.adjudication.session import Session
from spatial_engine.adjudication.steps import Step, holding
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.cli import main as cli
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.part import write_part
from spatial_engine.errors import UsageError
from spatial_engine.export import export
from templates.answers.registry import format_of
from templates.question import Question
from tests.spatial_engine.adjudication.sessions import ask, clock, judge

GOAL = {
    "change": "written",
    "ability": "L4/Open-world Exploration/Self-Goaling",
    "format": "choice",
    "prompt": "Which task would be worth doing first in photo 1?",
    "options": ["Tidy the desk", "Paint the wall", "Open the window"],
    "answer": "b",
    "reason": "",
}
CHOICE, NUMERIC, YES_NO = "b0b2a51373c16aa3", "26df30dae713974b", "58f42e7b6abc3f69"
PICTURES, POINT = "caba76349c6e3658", "e4c179283d2f270c"
CORRECTION = {
    "change": "corrected",
    "prompt": "Which point is nearer?",
    "options": ["A", "B"],
    "answer": "B",
    "reason": "B is nearer",
}


@pytest.fixture
def copy(dataset_path, tmp_path):
    shutil.copytree(dataset_path, tmp_path / "d")
    return Dataset.open(tmp_path / "d")


@contextmanager
def page(dataset, annotator, *ids):
    """The page of an annotator on some questions, or else on the items of others: `say(place, body)`."""
    verdicts = Verdicts(dataset)
    others = [item.question for item in verdicts.items.values() if item.author != annotator]
    questions = [verdicts.question(id) for id in ids] or others
    with holding(verdicts.file(annotator)) as file:
        at_work = Session(questions, verdicts.history(annotator), file, clock())
        with AdjudicationServer(dataset.path, at_work, token="t") as server:

            def say(place, body=None):
                status, _, content = ask(server, "GET" if body is None else "POST", place, body)
                return status, json.loads(content)

            yield say


def write(dataset, annotator, id, *items):
    with page(dataset, annotator, id) as say:
        say("answer", {"id": id, "text": None})
        for item in items:
            status, screen = say("item", {"id": id, **item})
            assert status == 200, screen


def step(item, at="2026-01-01T00:00:00Z"):
    return Step(action="item", question="q", content="c", at=at, item=item)


def question(dataset, id, **changed) -> Question:
    return replace(Verdicts(dataset).questions[id], **changed)


def test_an_item_goes_from_the_page_to_an_export(copy, tmp_path):
    before = (copy.path / "questions.jsonl").read_bytes()
    with page(copy, "ann", CHOICE) as say:
        assert say("item", {"id": CHOICE, **GOAL})[0] == 409, "only after the own answer"
        recorded = say("answer", {"id": CHOICE, "text": None})[1]["recorded"]
        assert recorded["words"] and recorded["items"] == [] and len(recorded["leaves"]) == 27
        for item in (GOAL, {**CORRECTION, "answer": "A"}):
            assert say("item", {"id": CHOICE, **item})[0] == 200
        assert len(say("undo", {})[1]["recorded"]["items"]) == 1
        say("item", {"id": CHOICE, **CORRECTION})
    with page(copy, "ann", CHOICE) as say:  # stopped, and started again
        found = say("screen")[1]["recorded"]["items"]
        assert found == [f"written: {GOAL['prompt']}", f"corrected: {CORRECTION['prompt']}"]
        assert say("verdict", {"id": CHOICE, "verdict": "wrong", "note": ""})[1]["done"] == 1
    assert settled(Verdicts(copy)) == {}, "nobody else has seen them"
    assert to_dataset(Verdicts(copy), tmp_path / "none") == {"corrected": 0, "written": 0, "not_settled": 2}
    with page(copy, "bob") as say:
        while item := (screen := say("screen")[1])["item"]:
            assert screen["recorded"] is None and item["pictures"]
            assert say("answer", {"id": item["id"], "text": "B"})[1]["recorded"]["agrees"] is True
            assert say("evidence", {"id": item["id"]})[1]["evidence"]["author"] == "ann"
            say("verdict", {"id": item["id"], "verdict": "right", "note": ""})

    assert to_dataset(Verdicts(copy), tmp_path / "out") == {"corrected": 1, "written": 1, "not_settled": 0}
    found = {each.id: each for each in Dataset.open(tmp_path / "out").questions}
    old = {each.id: each for each in copy.questions}
    assert (copy.path / "questions.jsonl").read_bytes() == before
    assert old.keys() - found.keys() == {CHOICE} and len(found) == len(old) + 1
    new = {each.evidence["change"]: each for each in found.values() if each.template == "by_people"}
    assert new["corrected"].fact_id == old[CHOICE].fact_id and new["corrected"].answer == "B"
    assert (new["written"].ability, new["written"].answer) == (GOAL["ability"], "B")
    for each in new.values():
        assert (each.sigma, each.margin, each.evidence["people_who_agree"]) == (None, None, 2)
        assert (each.evidence["original"], each.evidence["at"][:4]) == (CHOICE, "2026")
        assert [record["expert"] for record in each.provenance] == ["person"]
        assert all((tmp_path / "out" / medium["path"]).is_file() for medium in each.media)
    assert "2 questions corrected or written by people" in (tmp_path / "out" / "README.md").read_text()
    export(tmp_path / "out", tmp_path / "exported", to="llava")
    assert GOAL["prompt"] in "".join(file.read_text() for file in (tmp_path / "exported").glob("*.json"))


@pytest.mark.parametrize(
    ("id", "changed", "error"),
    [
        (CHOICE, {"prompt": " \n"}, "prompt has 0 characters; allowed: 1 to 2000; write it"),
        (CHOICE, {"prompt": "Which <b>one</b>?"}, "markup '<b'"),
        (CHOICE, {"prompt": "Which \ud800?"}, "markup"),
        (CHOICE, {"prompt": "Which one"}, "prompt ends with 'e'"),
        (CHOICE, {"prompt": "Is it in photo 2?"}, "photo 2; allowed: photos 1 to 1"),
        (CHOICE, {"prompt": 3}, "prompt is 3; allowed: text"),
        (CHOICE, {"options": ["One"]}, "options are 1; allowed: 2 to 26"),
        (CHOICE, {"options": "One"}, "options are 0"),
        (CHOICE, {"options": ["One", " one "]}, "'one' twice"),
        (CHOICE, {"options": ["One", " "]}, "options has 0 characters"),
        (CHOICE, {"options": ["A. One", "Two"]}, "'A. One' begins with a letter"),
        (CHOICE, {"answer": "D"}, "answer is 'D'; allowed: A, B, C"),
        (CHOICE, {"ability": "L4"}, "ability is 'L4'; allowed: L1/Geometry/Distance"),
        (CHOICE, {"format": "plan"}, "format is 'plan'; allowed: choice, yes_no, numeric"),
        (CHOICE, {"format": "yes_no"}, "answer is 'b'; allowed: yes, no"),
        (CHOICE, {"format": "numeric", "answer": "two"}, "answer is 'two'; allowed: one number"),
        (CHOICE, {"format": "numeric", "answer": 2, "unit": "m"}, "tolerance is None"),
        (CHOICE, {"format": "numeric", "answer": 2, "unit": "m", "tolerance": 0}, "tolerance is 0; allowed: more than"),
        (CHOICE, {"format": "numeric", "answer": 2, "unit": "m", "tolerance": 1}, "does not name the unit; write “met"),
        (CHOICE, {"format": "numeric", "answer": 2, "unit": "ell", "tolerance": 1}, "unit is 'ell'"),
        (CHOICE, {"format": "numeric", "answer": 2.5, "tolerance": 0}, "no whole number"),
        (CHOICE, {"change": ""}, "change is ''; allowed: corrected, written"),
        (CHOICE, {"change": "corrected"}, "reason has 0 characters"),
        (POINT, {"change": "corrected", "reason": "r"}, "format is 'point'; allowed: choice, yes_no, numeric; judge"),
    ],
)  # fmt: skip
def test_an_item_that_breaks_a_rule_is_refused(dataset, tmp_path, copy, id, changed, error):
    with page(copy, "ann", id) as say:
        say("answer", {"id": id, "text": None})
        status, content = say("item", {"id": id, **GOAL, **changed})
        assert status == 422 and error in content["error"]
        assert say("screen")[1]["recorded"]["items"] == []
    assert Verdicts(copy).items == {}


def test_a_correction_that_changes_nothing_is_refused(dataset):
    old = question(dataset, CHOICE)
    same = {**CORRECTION, "prompt": old.prompt, "options": [*old.options], "answer": old.answer}
    with pytest.raises(ValueError, match="nothing is changed"):
        checked(old, same)
    assert checked(old, {**same, "options": ["Point 1", "Point 2"]})["options"] == ["Point 1", "Point 2"]


@pytest.mark.parametrize(
    ("id", "sent", "expected"),
    [
        (NUMERIC, {"answer": "2"}, {"answer": 2, "tolerance": 0.23, "scorer": "numbers"}),
        (YES_NO, {"answer": "No"}, {"answer": "no", "value": "no", "tolerance": None, "scorer": "label"}),
        (PICTURES, {"answer": "c", "options": []}, {"answer": "C", "value": "6a07adac77d5bc92", "scorer": "label"}),
        (PICTURES, GOAL, {"value": "Paint the wall", "instructions": "", "scorer": "label"}),
        (CHOICE, {**GOAL, "format": "numeric", "answer": "3", "tolerance": "0"}, {"answer": 3, "scorer": "count"}),
        (CHOICE, {**GOAL, "format": "numeric", "answer": "3", "tolerance": "1", "unit": "cm", "prompt": "How many "
                  "centimetres?"}, {"unit": "cm", "instructions": "Answer with one number, in centimetres."}),
        (CHOICE, {**GOAL, "format": "yes_no", "answer": "yes"}, {"instructions": "Answer yes or no."}),
    ],
)  # fmt: skip
def test_items_of_every_format_score_their_own_answer(dataset, id, sent, expected):
    made = item_of(question(dataset, id), id, step({**CORRECTION, **sent}), "ann").question
    assert {name: getattr(made, name) for name in expected} == expected
    assert format_of(made.format).score(made, made.answer).value == 1.0 and made.sigma is made.margin is None
    corrects = "change" not in sent
    assert made.evidence["author"] == "ann" and (made.fact_id == made.id) is not corrects
    assert any(medium.get("option") for medium in made.media) is (corrects and id == PICTURES)


def test_an_item_needs_another_person_and_a_majority(copy):
    write(copy, "ann", CHOICE, GOAL)
    (id,) = Verdicts(copy).items
    judge_item(copy, "bob", "wrong", id)
    assert [one.question.id for one in disagreements(Verdicts(copy))] == [id] and settled(Verdicts(copy)) == {}
    judge_item(copy, "cat", "right", id)
    assert settled(Verdicts(copy))[id].evidence["people_who_agree"] == 2 and disagreements(Verdicts(copy)) == []
    assert human_audit(Verdicts(copy)) is None and pairs(Verdicts(copy)) == [], "no answer of the engine was judged"
    judge_item(copy, "dan", "bad", id)
    assert settled(Verdicts(copy)) == {}


def test_the_newest_of_several_settled_corrections_stands(copy):
    write(copy, "ann", CHOICE, CORRECTION)
    (first,) = Verdicts(copy).items
    write(copy, "bob", first, {**CORRECTION, "prompt": "Which of the two is nearer?"})  # of an item of another person
    (second,) = Verdicts(copy).items.keys() - {first}
    judge_item(copy, "cat", "right", first)
    assert settled(Verdicts(copy))[CHOICE].id == first
    judge_item(copy, "cat", "right", second)
    assert settled(Verdicts(copy)).keys() == {CHOICE} and settled(Verdicts(copy))[CHOICE].id == second


def judge_item(dataset, annotator, word, id):
    with page(dataset, annotator, id) as say:
        say("answer", {"id": id, "text": None})
        say("verdict", {"id": id, "verdict": word, "note": ""})


def test_items_on_changed_questions_are_counted_and_ignored(copy):
    write(copy, "ann", CHOICE, GOAL)
    changed = [replace(q, prompt="Else?") if q.id == CHOICE else q for q in copy.questions]
    write_part(copy, copy.path, changed, copy.audit["splits"], {})
    assert Verdicts(copy).items == {} and Verdicts(copy).outdated() == 1


def test_an_item_that_was_damaged_by_hand_is_named(copy):
    write(copy, "ann", CHOICE, GOAL)
    file = Verdicts(copy).file("ann")
    file.write_text(file.read_text().replace("Paint the wall", "Open the window"))
    with pytest.raises(UsageError, match=r"ann\.jsonl cannot be used: options hold 'open the window' twice"):
        Verdicts(copy)


def test_from_the_command_line(copy, tmp_path, capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main(["adjudicate", str(copy.path), *map(str, arguments)])
        told = capsys.readouterr()
        return ended.value.code, " ".join((told.out + told.err).split())

    assert "nobody else has corrected or written an item" in run("--items", "--annotator", "bob")[1]
    write(copy, "ann", CHOICE, GOAL)
    judge(copy, "bob", {CHOICE: "right"})
    assert "1 item corrected or written by people; 0 questions settled" in run("--summary")[1]
    code, told = run("--to-dataset", tmp_path / "out")
    assert code == 0 and "with 0 corrected and 0 new by people 1 item left out" in told
    code, told = run("--to-dataset", copy.path)
    assert code == 2 and "is the dataset itself" in told and "try:" in told
