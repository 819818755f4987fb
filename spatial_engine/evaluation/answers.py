"""Reads answers made elsewhere: a JSON Lines file with an id and a text per line, under the usual names."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.responses import Key, Response, one_that_counts, response_of
from spatial_engine.progress import counted

IDS = ("id", "question_id")
TEXTS = ("text", "response", "answer", "prediction")
_NAMED = 5  # lines that an error names
_LINE = '{"id": "...", "text": "..."}'


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers of a file."""

    responses: Mapping[Key, Response]
    taken: str
    """In words: the keys of ids and texts, and the skipped lines."""


class _BadLine(ValueError):  # noqa: N818 - counted, not shown
    """A line that is not an answer to a question of this dataset."""


class _Misshapen(_BadLine):
    """A line that is not an answer at all."""


def read_answers(
    path: str | Path,
    rotations: Mapping[str, int],
    *,
    skip_bad_lines: bool = False,
    ids: Sequence[str] = IDS,
    texts: Sequence[str] = TEXTS,
) -> Answers:
    """All answers of a file, by question and rotation. Equal lines of one question count once.

    `rotations`: how many presentations each question has, by id. `ids` and `texts`: the keys that may hold them. A line
    is bad if it is no JSON object, if it has no id or no text, or if the dataset does not have its id or rotation.
    Raises `UsageError` naming the bad lines (unless they are skipped), lines that contradict each other, and files that
    hold no answer at all.
    """
    path = Path(path)
    found: dict[Key, tuple[int, Response]] = {}
    bad: dict[int, _BadLine] = {}
    contradicting: list[str] = []
    taken: Counter[str] = Counter()
    for number, line in _lines(path):
        try:
            response, keys = _answer(line, rotations, ids, texts)
        except _BadLine as error:
            bad[number] = error
            continue
        earlier = found.setdefault((response.id, response.rotation), (number, response))
        if earlier[0] != number:
            if earlier[1].text != response.text and earlier[1].outcome == response.outcome == "answered":
                contradicting.append(f"{earlier[0]} and {number} ({response.id})")
            found[earlier[1].id, earlier[1].rotation] = (earlier[0], one_that_counts(earlier[1], response))
            keys = "repeated"
        taken[keys] += 1
    _check(path, found, bad, contradicting, skip_bad_lines)
    words = [f"{counted(count, 'line')} {keys}" for keys, count in sorted(taken.items())]
    if bad:
        words.append(f"{counted(len(bad), 'bad line')} skipped ({_some(bad)})")
    return Answers(responses={key: response for key, (_, response) in found.items()}, taken="; ".join(words))


def check_file(path: Path) -> None:
    """Raises `UsageError` if there is no such file."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder", f"name the file of answers in it, with lines such as {_LINE}")
    if not path.is_file():
        raise UsageError(f"{path}: no such file", f"give a file of lines such as {_LINE}")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers from 1, without blank ones."""
    check_file(path)
    with path.open("rb") as file:
        if b"\x00" in file.read(4096):
            raise UsageError(f"{path} is a binary file", f"give a text file of lines: {_LINE}")
        file.seek(0)
        yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())


def _answer(
    line: bytes, rotations: Mapping[str, int], ids: Sequence[str], texts: Sequence[str]
) -> tuple[Response, str]:
    """The answer of a line, and the keys that were used. Raises `_BadLine`."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _Misshapen(f"not JSON: {str(error)[:80]}") from error
    if not isinstance(record, dict):
        raise _Misshapen("a list, not an object" if isinstance(record, list) else "not an object")
    id_key = next((key for key in ids if isinstance(record.get(key), str | int)), None)
    text_key = next((key for key in texts if key in record), None)
    if id_key is None or text_key is None:
        raise _Misshapen(f"no {' or '.join(ids if id_key is None else texts)}")
    id = str(record[id_key])
    if id not in rotations:
        raise _BadLine(f"no question has the id {id[:40]!r}")
    response = _response({**record, "id": id, "text": _text(record[text_key])})
    if response.rotation >= rotations[id]:
        raise _BadLine(f"question {id} has no rotation {response.rotation}")
    return response, f"with the id from {id_key!r} and the text from {text_key!r}"


def _response(record: Mapping[str, Any]) -> Response:
    """All fields of our own lines; of other lines only id, text and rotation, because other keys may mean something
    else. Raises `_BadLine`."""
    rotation = 0 if record.get("rotation") is None else record["rotation"]
    if type(rotation) is not int or rotation < 0:
        raise _BadLine(f"rotation cannot be {str(rotation)[:40]!r}: it is a whole number from 0")
    try:
        return response_of({**record, "rotation": rotation})
    except ValueError as error:
        if record.keys() >= {"rotation", "item", "outcome"}:
            raise _BadLine(str(error)) from error
    return Response(id=record["id"], text=record["text"], rotation=rotation)


def _text(value: Any) -> str | None:
    """A reply as text; numbers, lists and objects become JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _check(
    path: Path,
    found: Mapping[Key, tuple[int, Response]],
    bad: Mapping[int, _BadLine],
    contradicting: list[str],
    skip_bad_lines: bool,
) -> None:
    if contradicting:
        some = ", ".join(contradicting[:_NAMED]) + (", ..." if len(contradicting) > _NAMED else "")
        raise UsageError(f"{path}: lines contradict each other: {some}", "keep one answer for each question")
    if bad and (not skip_bad_lines or not found):
        raise UsageError(f"{path}: {counted(len(bad), 'line')} cannot be used: {_some(bad)}", _remedy(bad, bool(found)))
    if not found:
        raise UsageError(f"{path} holds no answer", f"give a file of lines: {_LINE}")


def _remedy(bad: Mapping[int, _BadLine], some_are_good: bool) -> str:
    hints = [f"one object a line: {_LINE}"] if any(isinstance(error, _Misshapen) for error in bad.values()) else []
    if some_are_good:
        hints.append("--skip-bad-lines leaves the bad ones out")
    return "; ".join(hints) or "are these answers to this dataset?"


def _some(bad: Mapping[int, _BadLine]) -> str:
    some = "; ".join(f"line {number}: {reason}" for number, reason in list(bad.items())[:_NAMED])
    return some + ("; ..." if len(bad) > _NAMED else "")
