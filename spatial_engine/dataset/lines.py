"""The files of a data set's questions: `questions.jsonl`, and `provenance.jsonl` with what many questions share."""

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from spatial_engine.dataset.question_line import dumped, from_record
from spatial_engine.errors import UsageError
from templates.columns import Json
from templates.question import Question

_AGAIN = "generate the data set again"
SHARED = ("instructions", "provenance", "licence")
"""Fields that stand in `provenance.jsonl`, once for all questions in which they are equal. A line names them by its
`origin`."""


def write_questions(folder: Path, questions: Iterable[Question]) -> None:
    """Writes both files. Equal questions give equal bytes."""
    origins: dict[str, str] = {}
    known: dict[tuple[int, ...], tuple[str, list[Json]]] = {}
    with (folder / "questions.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        for question in questions:
            record = question.to_json()
            shared = {name: record.pop(name) for name in SHARED}
            key = tuple(map(id, shared.values()))
            if key not in known:  # the values are kept, so that their ids stay theirs
                text = dumped(shared)
                origin = origins.setdefault(text, sha256(text.encode()).hexdigest()[:12])
                known[key] = origin, [*shared.values()]
            lines.write(f"{dumped(record | {'origin': known[key][0]})}\n")
    with (folder / "provenance.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(f"{dumped({'origin': origin} | json.loads(text))}\n" for text, origin in origins.items())


def read_questions(folder: Path) -> Iterator[Question]:
    """All questions, read one at a time. Raises `UsageError` for a line that is no question, and where what it shares
    with others is missing."""
    shared = {record.pop("origin", None): record for record in _records(folder / "provenance.jsonl")}
    for number, record in enumerate(_records(folder / "questions.jsonl"), start=1):
        origin = record.pop("origin", None)
        where = f"line {number} of {folder / 'questions.jsonl'} is not a question"
        if not isinstance(origin, str) or origin not in shared:
            raise UsageError(f"{where}: provenance.jsonl has no origin {origin!r}", _AGAIN)
        try:
            yield from_record(record | shared[origin])
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
