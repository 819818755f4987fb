"""Files that answers and replies are kept in."""

from pathlib import Path

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.responses import Response, ResponseFile
from spatial_engine.language.chat.asking import Cache, opened_cache
from spatial_engine.language.chat.request import Request

ANSWER = Response(id="a", text="A\n\x00\ud800 файл", seconds=1.25)
FAILED = Response(id="a", text=None, outcome="failed", error="500")
LATE = Response(id="a", text=None, outcome="timed_out")


@pytest.fixture
def file(tmp_path: Path) -> ResponseFile:
    return ResponseFile(tmp_path / "run" / "responses.jsonl")


def append(file: ResponseFile, *responses: Response) -> None:
    with file.appending() as lines:
        for response in responses:
            lines.append(response)


def test_what_is_written_is_read(file: ResponseFile) -> None:
    assert file.read() == {}
    append(file, ANSWER, Response(id="a", text="B", rotation=1))
    assert file.read()["a", 0] == ANSWER and file.read()["a", 1].text == "B"


def test_the_last_answer_counts_and_no_failure_replaces_it(file: ResponseFile) -> None:
    append(file, LATE, FAILED)
    assert file.read()["a", 0] == LATE
    append(file, Response(id="a", text="first"), ANSWER, LATE, FAILED)
    assert file.read()["a", 0] == ANSWER


@pytest.mark.parametrize("tail", [b'{"id": "b', b"{", b'{"id": "b", "text": "\xd0', b"x" * 200_000])
def test_a_torn_end_is_dropped_and_mended(file: ResponseFile, tail: bytes) -> None:
    append(file, ANSWER)
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + tail)
    assert file.read() == {("a", 0): ANSWER}
    append(file, Response(id="b", text="B"))
    assert file.path.read_bytes().startswith(whole + b'{"id": "b", "text": "B"')
    assert len(file.read()) == 2


def test_a_line_cut_to_nothing(file: ResponseFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(b'{"id"')
    append(file, ANSWER)
    assert file.read() == {("a", 0): ANSWER}


@pytest.mark.parametrize(
    "line", [b"nonsense", b"[1]", b'{"id": "a"}', b'{"id": 3, "text": ""}', b'{"id": "a", "text": "", "outcome": "x"}']
)
def test_a_damaged_line_is_named(file: ResponseFile, line: bytes) -> None:
    append(file, ANSWER)
    file.path.write_bytes(file.path.read_bytes() + line + b"\n")
    with pytest.raises(UsageError, match=r"line 2 of .* is not a valid response"):
        file.read()


def test_requests_differ_by_all_that_an_answer_depends_on(tmp_path: Path) -> None:
    picture, same, other = (tmp_path / name for name in ("a.jpg", "b.jpg", "c.jpg"))
    for path, data in ((picture, b"1"), (same, b"1"), (other, b"2")):
        path.write_bytes(data)
    base = Request(model="m", parts=("what?", picture), parameters={"temperature": 0.0})
    assert base.key == Request(model="m", parts=("what?", same), parameters={"temperature": 0.0}).key
    others = [
        Request(model="n", parts=base.parts, parameters=base.parameters),
        Request(model="m", parts=("what?", other), parameters=base.parameters),
        Request(model="m", parts=(picture, "what?"), parameters=base.parameters),
        Request(model="m", parts=base.parts, parameters={"temperature": 0.5}),
    ]
    assert len({base.key, *(request.key for request in others)}) == 5


def test_the_cache_returns_stored_replies(tmp_path: Path) -> None:
    for reply in ({"choices": []}, {"choices": ["\ud800"]}):
        with opened_cache(tmp_path, False) as cache:
            assert cache is not None
            cache.put("key", reply, 0.5)
        with opened_cache(tmp_path, True) as cache:
            assert cache is not None and cache.get("key") == (reply, 0.5) and cache.get("other") is None
    with opened_cache(None, False) as cache:
        assert cache is None


def test_another_file_is_not_overwritten_by_the_cache(tmp_path: Path) -> None:
    (tmp_path / "replies.sqlite").write_bytes(b"mine" * 100)
    with pytest.raises(UsageError, match="is not a cache of replies"):
        Cache(tmp_path)
    assert (tmp_path / "replies.sqlite").read_bytes() == b"mine" * 100
