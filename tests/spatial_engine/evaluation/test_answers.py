"""Answers made elsewhere: what is taken, what is refused, and with which words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.answers import read_answers

IDS = {"a": 4, "b": 1, "7": 1}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*lines: Any) -> Path:
        path = tmp_path / "answers.jsonl"
        whole = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        path.write_bytes(b"".join(line + b"\n" for line in whole))
        return path

    return written


@pytest.mark.parametrize("key", ["text", "response", "answer", "prediction"])
def test_text_under_the_names_that_people_use(write: Write, key: str) -> None:
    found = read_answers(write({"question_id": "a", key: "B", "seconds": "fast"}), IDS)
    assert found.responses["a", 0].text == "B"
    assert found.taken == f"1 line with the id from 'question_id' and the text from {key!r}"


def test_the_first_known_key_counts_and_used_keys_are_printed(write: Write) -> None:
    path = write({"id": "a", "text": "A", "answer": "B"}, {"question_id": 7, "response": 3.5}, b"")
    found = read_answers(path, IDS)
    assert {key: one.text for key, one in found.responses.items()} == {("a", 0): "A", ("7", 0): "3.5"}
    assert "1 line with the id from 'id' and the text from 'text'" in found.taken
    assert "1 line with the id from 'question_id' and the text from 'response'" in found.taken


def test_answers_may_be_objects_lists_or_nothing(write: Write) -> None:
    found = read_answers(write({"id": "a", "answer": {"roll": 1}}, {"id": "b", "text": None}), IDS)
    assert found.responses["a", 0].text == '{"roll": 1}'
    assert found.responses["b", 0].text is None


def test_our_own_lines_keep_what_they_know(write: Write) -> None:
    line = {"id": "a", "text": "x", "rotation": 2, "item": "h", "outcome": "answered", "seconds": 1.5, "judged": "A"}
    (response,) = read_answers(write({**line, "judged": None}, line), IDS).responses.values()
    assert (response.rotation, response.item, response.seconds, response.judged) == (2, "h", 1.5, "A")


def test_a_failure_before_an_answer_contradicts_nothing(write: Write) -> None:
    failed = {"id": "a", "text": None, "rotation": 0, "item": "", "outcome": "failed", "error": "500"}
    found = read_answers(write(failed, {**failed, "text": "A", "outcome": "answered"}), IDS)
    assert found.responses["a", 0].text == "A"


def test_equal_lines_are_taken_once(write: Write) -> None:
    found = read_answers(write({"id": "a", "text": "A"}, {"id": "a", "text": "A"}), IDS)
    assert len(found.responses) == 1 and "1 line repeated" in found.taken


def test_lines_that_contradict_each_other_are_refused(write: Write) -> None:
    path = write({"id": "a", "text": "A"}, {"id": "b", "text": "x"}, {"id": "a", "text": "B"})
    with pytest.raises(UsageError, match=r"contradict each other: 1 and 3 \(a\)"):
        read_answers(path, IDS, skip_bad_lines=True)


BAD = {
    "not JSON": b'{"id": "a", ',
    "not an object": [1],
    "no question has the id 'zz'": {"id": "zz", "text": "A"},
    "no id or question_id": {"text": "A"},
    "no text or response or answer or prediction": {"id": "a"},
    "has no rotation 4": {"id": "a", "text": "A", "rotation": 4},
    "rotation cannot be 'x'": {"id": "a", "text": "A", "rotation": "x"},
    "rotation cannot be '-1'": {"id": "a", "text": "A", "rotation": -1, "item": "", "outcome": "answered"},
    "rotation cannot be 'True'": {"id": "a", "text": "A", "rotation": True},
    "seconds cannot be 'fast'": {"id": "a", "text": "A", "rotation": 1, "item": "", "outcome": "", "seconds": "fast"},
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_lines_are_named_or_skipped(write: Write, reason: str) -> None:
    path = write({"id": "b", "text": "A"}, BAD[reason])
    with pytest.raises(UsageError) as refused:
        read_answers(path, IDS)
    assert "1 line cannot be used: line 2: " in refused.value.cause and reason in refused.value.cause
    assert "--skip-bad-lines" in refused.value.remedy
    found = read_answers(path, IDS, skip_bad_lines=True)
    assert list(found.responses) == [("b", 0)] and "1 bad line skipped (line 2" in found.taken


@pytest.mark.parametrize(
    "line", [{"id": "a", "reply": "A"}, [{"id": "a", "text": "A"}], b'[{"id": "a", "text": "A"},', b"id,text", 3]
)
def test_malformed_lines_are_refused_with_an_example(write: Write, line: Any) -> None:
    for good in ([], [{"id": "b", "text": "A"}]):
        with pytest.raises(UsageError) as refused:
            read_answers(write(line, *good), IDS)
        assert refused.value.remedy.startswith('one object a line: {"id": "...", "text": "..."}')
        assert ("--skip-bad-lines" in refused.value.remedy) == bool(good)


def test_a_rotation_stays_whatever_else_a_line_holds(write: Write) -> None:
    found = read_answers(
        write({"id": "a", "text": "A", "rotation": 3, "seconds": "fast"}, {"id": "b", "text": "", "rotation": None}),
        IDS,
    )
    assert list(found.responses) == [("a", 3), ("b", 0)]


def test_hostile_lines_are_bad_lines(write: Write) -> None:
    hostile = [b"[" * 100_000, b'{"id": "a", "text": ' + b"[" * 100_000, b"\xff\xfe\x01", b"1" * 100_000, b"NaN"]
    found = read_answers(write({"id": "b", "text": "A"}, *hostile), IDS, skip_bad_lines=True)
    assert list(found.responses) == [("b", 0)] and "5 bad lines" in found.taken


@pytest.mark.parametrize(
    ("content", "cause"),
    [(b"", "holds no answer"), (b"\n \n", "holds no answer"), (b"\x89PNG\x00\x01", "is a binary file")],
)
def test_files_without_answers(tmp_path: Path, content: bytes, cause: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=cause):
        read_answers(path, IDS, skip_bad_lines=True)
    with pytest.raises(UsageError, match="is a folder"):
        read_answers(tmp_path, IDS)
    with pytest.raises(UsageError, match="no such file"):
        read_answers(tmp_path / "none", IDS)


def test_answers_to_another_data_set(write: Write) -> None:
    with pytest.raises(UsageError, match="are these answers to this dataset"):
        read_answers(write({"id": "x", "text": "A"}, {"id": "y", "text": "A"}), IDS, skip_bad_lines=True)
