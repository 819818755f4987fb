"""The files of a dataset's questions: `questions.jsonl`, and `provenance.jsonl` with what many questions share."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from shutil import copyfileobj
from typing import IO

import numpy as np

from spatial_engine.atomic_file import atomic_file
from spatial_engine.dataset.question_line import dumped, from_record
from spatial_engine.errors import UsageError
from templates.columns import Json
from templates.question import Question

_AGAIN = "generate the dataset again"
SHARED = ("instructions", "provenance", "licence")
"""Fields that stand in `provenance.jsonl`, once for all questions in which they are equal. A line names them by its
`origin`."""


class _Shared:
    """What questions share, in the order in which it comes."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}
        self._known: dict[tuple[int, ...], tuple[str, list[Json]]] = {}

    def line(self, question: Question) -> str:
        """A question as a line that names what it shares."""
        record = question.to_json()
        shared = {name: record.pop(name) for name in SHARED}
        key = tuple(map(id, shared.values()))
        if key not in self._known:  # the values are kept, so that their ids stay theirs
            text = dumped(shared)
            origin = self._origins.setdefault(text, sha256(text.encode()).hexdigest()[:12])
            self._known[key] = origin, [*shared.values()]
        return f"{dumped(record | {'origin': self._known[key][0]})}\n"

    def lines(self) -> list[str]:
        """Those of `provenance.jsonl`."""
        return [f"{dumped({'origin': origin} | json.loads(text))}\n" for text, origin in self._origins.items()]


def write_questions(folder: Path, questions: Iterable[Question]) -> None:
    """Writes both files. Equal questions give equal bytes."""
    shared = _Shared()
    with _opened(folder / "questions.jsonl") as file:
        file.writelines(map(shared.line, questions))
    with _opened(folder / "provenance.jsonl") as file:
        file.writelines(shared.lines())


def write_part(path: Path, questions: Iterable[Question]) -> None:
    """Writes some questions as one file, which `join_parts` reads: what they share, an empty line, their lines."""
    shared = _Shared()
    lines = [*map(shared.line, questions)]
    with atomic_file(path) as temporary, _opened(temporary) as file:
        file.writelines([*shared.lines(), "\n", *lines])


def join_parts(folder: Path, parts: Iterable[Path]) -> None:
    """Writes both files, with the questions of all parts in their order: as `write_questions`, without holding them."""
    shared: dict[str, None] = {}
    with (folder / "questions.jsonl").open("wb") as questions:
        for part in parts:
            with part.open("rb") as lines:
                shared |= dict.fromkeys(line.decode() for line in iter(lines.readline, b"\n"))
                copyfileobj(lines, questions)
    with _opened(folder / "provenance.jsonl") as file:
        file.writelines(shared)


def _opened(path: Path) -> IO[str]:
    return path.open("w", encoding="utf-8", newline="\n")


def read_questions(folder: Path) -> Iterator[Question]:
    """All questions, read one at a time. Raises `UsageError` for a line that is no question, and where what it shares
    with others is missing."""
    shared = _read_shared(folder)
    for number, record in enumerate(_records(folder / "questions.jsonl"), start=1):
        yield _question(record, shared, f"line {number} of {folder / 'questions.jsonl'} is not a question")


class QuestionLines:
    """The lines of `questions.jsonl`, of which any can be read."""

    def __init__(self, folder: Path) -> None:
        """Finds where each line begins."""
        self._folder, self._shared = folder, _read_shared(folder)
        with (folder / "questions.jsonl").open("rb") as lines:
            self._ends = np.cumsum(np.fromiter(map(len, lines), dtype=np.int64))

    def __call__(self, rows: Sequence[int]) -> list[Question]:
        """The questions in these lines, counted from 0. Raises as `read_questions`."""
        path, found = self._folder / "questions.jsonl", []
        with path.open("rb") as file:
            for row in rows:
                file.seek(int(self._ends[row - 1]) if row else 0)
                where = f"line {row + 1} of {path} is not a question"
                found.append(_question(json.loads(file.readline()), self._shared, where))
        return found


def _read_shared(folder: Path) -> dict[str, dict[str, Json]]:
    return {str(record.pop("origin", None)): record for record in _records(folder / "provenance.jsonl")}


def _question(record: dict[str, Json], shared: Mapping[str, Mapping[str, Json]], where: str) -> Question:
    origin = record.pop("origin", None)
    if not isinstance(origin, str) or origin not in shared:
        raise UsageError(f"{where}: provenance.jsonl has no origin {origin!r}", _AGAIN)
    try:
        return from_record({**record, **shared[origin]})
    except ValueError as error:
        raise UsageError(f"{where}: {error}", _AGAIN) from error


def _records(file: Path) -> Iterator[dict[str, Json]]:
    if not file.is_file():
        raise UsageError(f"{file} is missing", _AGAIN)
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"line {number} of {file} is not JSON: {error}", _AGAIN) from error
            if not isinstance(record, dict):
                raise UsageError(f"line {number} of {file} is not an object", _AGAIN)
            yield record
