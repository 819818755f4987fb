import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from spatial_engine.adjudication.steps import Step, holding, read_steps, step_of
from spatial_engine.errors import BusyError, UsageError

STEP = Step(action="answer", question="q", content="c", at="2026-01-01T00:00:00Z", own=[1.5, "ü\n", None])
VERDICT = Step(
    action="verdict", question="q", content="c", at="t", verdict="wrong", note='"<b>', third=True, seconds=2.5
)


def written(path, *steps):
    with holding(path) as file:
        for step in steps:
            file.append(step)


def test_steps_come_back(tmp_path):
    path = tmp_path / "new" / "a.jsonl"
    written(path, STEP, VERDICT, Step(action="undo", question="q", content="c", at="t"))
    assert read_steps(path)[:2] == [STEP, VERDICT] and len(read_steps(path)) == 3
    assert read_steps(tmp_path / "none.jsonl") == []


def test_an_incomplete_last_line_is_ignored_and_removed(tmp_path):
    path = tmp_path / "a.jsonl"
    written(path, STEP)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    assert read_steps(path) == [STEP]
    written(path, VERDICT)
    assert read_steps(path) == [STEP, VERDICT]


def test_a_whole_last_line_without_its_end_stays(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(STEP.to_line())
    written(path, VERDICT)
    assert read_steps(path) == [STEP, VERDICT]


@pytest.mark.parametrize(
    "line",
    [b"x", b"[]", b"\xff", b'{"action": "verdict"}', VERDICT.to_line().replace("wrong", "fine").encode(),
     STEP.to_line().replace("answer", "verdict").encode(), b"[" * 100_000,
     STEP.to_line().replace("answer", "item").encode()],
)  # fmt: skip
def test_a_damaged_line_is_named(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_bytes(STEP.to_line().encode() + b"\n" + line + b"\n" + STEP.to_line().encode() + b"\n")
    with pytest.raises(UsageError, match=r"line 2 of .*a\.jsonl"):
        read_steps(path)


def test_unknown_keys_are_ignored():
    assert step_of({"action": "undo", "question": "q", "content": "c", "at": "t", "new": {}}).action == "undo"


def test_two_processes_cannot_be_the_same_annotator(tmp_path):
    with holding(tmp_path / "a.jsonl"), ThreadPoolExecutor(1) as other, pytest.raises(BusyError):
        other.submit(written, tmp_path / "a.jsonl").result()
    with holding(tmp_path / "a.jsonl"), holding(tmp_path / "b.jsonl"):
        pass


def _write_until_killed(path, ready):
    with holding(path) as file:
        while True:
            file.append(STEP)
            ready.set()


def test_a_kill_while_saving_loses_no_answer(tmp_path):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=_write_until_killed, args=(tmp_path / "a.jsonl", ready))
    process.start()
    assert ready.wait(10)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    before = read_steps(tmp_path / "a.jsonl")
    assert before and {step.to_line() for step in before} == {STEP.to_line()}
    written(tmp_path / "a.jsonl", VERDICT)
    assert read_steps(tmp_path / "a.jsonl") == [*before, VERDICT]
