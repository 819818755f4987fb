from dataclasses import replace

import pytest

from spatial_engine.adjudication.session import OutOfStep
from spatial_engine.adjudication.showing import content_hash, evidence, picture_file, read_own, shown
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.errors import UsageError
from tests.spatial_engine.adjudication.sessions import Kept, session
from tests.spatial_engine.evaluation.drafted import said_once

SECRET = ("answer", "value", "sigma", "margin", "evidence", "tolerance", "provenance", "fact")


def test_the_recorded_answer_and_the_evidence_come_after_the_own_answer(dataset):
    at_work = session(dataset)
    screen = at_work.screen()
    assert screen["recorded"] is None and not set(SECRET) & set(screen["item"])
    assert "time" not in str(screen), "times tell the order of photos"
    id = screen["item"]["id"]
    with pytest.raises(OutOfStep):
        at_work.evidence(id)
    with pytest.raises(OutOfStep):
        at_work.judge(id, "right", "")
    screen = at_work.answer(id, None)
    question = at_work.questions[id]
    assert screen["item"]["id"] == id and screen["recorded"]["answer"] == question.answer
    assert screen["recorded"]["own"] is None and screen["recorded"]["blind"] is True
    assert screen["recorded"]["times_s"] == [(medium.get("times_s") or [None])[0] for medium in question.media]
    assert at_work.evidence(id)["evidence"]["residual_px"] == 0.25
    assert at_work.judge(id, "right", " a\n note ")["item"]["id"] != id


def test_what_was_done_is_in_the_steps(dataset):
    kept = Kept()
    at_work = session(dataset, file=kept)
    first = at_work.screen()["item"]["id"]
    at_work.answer(first, None)
    at_work.evidence(first)
    at_work.judge(first, "bad", " a\n note ")
    answer, verdict = kept.steps
    assert (answer.action, answer.own, answer.blind) == ("answer", None, True)
    assert (verdict.verdict, verdict.note, verdict.evidence) == ("bad", "a note", True)
    assert verdict.seconds > 0 and verdict.content == content_hash(at_work.questions[first])


def test_a_stopped_session_goes_on_where_it_was(dataset):
    kept = Kept()
    at_work = session(dataset, file=kept)
    first = at_work.screen()["item"]["id"]
    at_work.answer(first, None)
    at_work.judge(first, "right", "")
    second = at_work.screen()["item"]["id"]
    at_work.answer(second, None)
    again = session(dataset, steps=kept.steps).screen()
    assert again["item"]["id"] == second and again["recorded"] is not None and again["done"] == 1


def test_undo_goes_back_over_a_restart_and_what_was_seen_is_not_blind_again(dataset):
    kept = Kept()
    at_work = session(dataset, file=kept)
    first = at_work.screen()["item"]["id"]
    at_work.answer(first, None)
    at_work.judge(first, "right", "")
    again = session(dataset, steps=kept.steps, file=kept)
    screen = again.undo()
    assert screen["item"]["id"] == first and screen["recorded"] is not None and screen["done"] == 0
    screen = again.undo()
    assert screen["item"]["id"] == first and screen["recorded"] is None and not screen["undoable"]
    assert again.undo()["recorded"] is None
    assert again.answer(first, None)["recorded"]["blind"] is False
    assert session(dataset, steps=kept.steps).screen() == {**again.screen()}


def test_another_format_of_a_fact_that_was_seen_is_not_blind(dataset):
    at_work = session(dataset)
    facts, blind = set(), {}
    while item := at_work.screen()["item"]:
        fact = at_work.questions[item["id"]].fact_id
        blind.setdefault(fact in facts, set()).add(at_work.answer(item["id"], None)["recorded"]["blind"])
        facts.add(fact)
        at_work.judge(item["id"], "right", "")
    assert blind == {False: {True}, True: {False}}
    assert at_work.screen()["done"] == at_work.screen()["total"] == len(at_work.questions)


def test_postponed_questions_come_last(dataset):
    at_work = session(dataset, sample=3)
    ids = list(at_work.questions)
    assert at_work.postpone(ids[0])["item"]["id"] == ids[1]
    assert at_work.postpone(ids[1])["item"]["id"] == ids[2]
    at_work.answer(ids[2], None)
    assert at_work.judge(ids[2], "right", "")["item"]["id"] == ids[0]
    with pytest.raises(OutOfStep):
        at_work.answer(ids[1], None)


def test_a_step_that_cannot_be_saved_is_not_taken(dataset):
    class Full:
        def append(self, step):
            raise OSError(28, "No space left on device")

    at_work = session(dataset, file=Full())
    id = at_work.screen()["item"]["id"]
    with pytest.raises(OSError):
        at_work.answer(id, None)
    assert at_work.screen()["recorded"] is None


@pytest.mark.parametrize(
    ("format", "text", "own", "agrees"),
    [
        ("choice", "a", "A", None), ("yes_no", "yes", "yes", None), ("numeric", "1.5", 1.5, True),
        ("order", "3 5 2 4", [3, 5, 2, 4], True), ("point", "10, 20", [10.0, 20.0], False),
        ("plan", '{"actions": ["Dolly In"], "step_nums": [4]}', {"actions": ["Dolly In"], "step_nums": [4]}, None),
    ],
)  # fmt: skip
def test_own_answers_of_every_format_are_read(dataset, format, text, own, agrees):
    from spatial_engine.adjudication.showing import agrees as compared

    question = next(question for question in dataset.questions if question.format == format)
    assert read_own(question, text) == own
    said = compared(question, own)
    assert isinstance(said, bool) and agrees in (None, said)


def test_an_own_answer_that_cannot_be_read_is_refused(dataset):
    question = next(question for question in dataset.questions if question.format == "numeric")
    with pytest.raises(ValueError, match="no answer to this question"):
        read_own(question, "banana")


def test_objects_show_only_their_keys(dataset):
    question = next(question for question in dataset.questions if question.format == "json")
    assert shown(question)["names"] == sorted(question.answer)
    assert evidence(question)["experts"] == ["colmap 1"]


def test_no_picture_outside_the_data_set_is_found(dataset, tmp_path):
    from dataclasses import replace

    (tmp_path / "secret.png").write_bytes(b"x")
    question = next(iter(dataset.questions))
    assert picture_file(dataset.path, question, 0) is not None
    for path in (
        "../../secret.png",
        str(tmp_path / "secret.png"),
        "questions.jsonl",
        "media",
        "a\0.png",
        "media/no.png",
    ):
        assert picture_file(dataset.path, replace(question, media=[{**question.media[0], "path": path}]), 0) is None
    assert picture_file(dataset.path, question, 99) is None


def test_a_sample_is_drawn_by_seed_and_does_not_depend_on_the_rest(dataset):
    verdicts = Verdicts(dataset)
    everything = verdicts.chosen(leaf=None, sample=None, seed=3)
    assert verdicts.chosen(leaf=None, sample=5, seed=3) == everything[:5]
    assert verdicts.chosen(leaf=None, sample=None, seed=4) != everything
    motion = verdicts.chosen(leaf=["L1/Motion"], sample=None, seed=3)
    assert motion == [question for question in everything if question.ability.startswith("L1/Motion/")] != []
    with pytest.raises(UsageError, match="L1/Geometry/Distance"):
        verdicts.chosen(leaf=["L1/Mot"], sample=None, seed=0)


def test_an_annotator_reads_instructions_and_prompt(dataset):
    for question in dataset.questions:
        assert said_once(question, shown(question)["prompt"])
        assert content_hash(replace(question, instructions="?")) != content_hash(question)
    assert any(question.instructions for question in dataset.questions)
