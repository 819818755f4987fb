"""`responses.jsonl` of a run: one answer per line, appended and synced at once, so that a kill loses none."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO, Literal

from spatial_engine.atomic_file import atomic_file, one_writer
from spatial_engine.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Response:
    """The reply of a model to one presentation. Answers made elsewhere need only `id` and `text`."""

    id: str
    """Id of the question."""
    text: str | None
    """The reply; None if there is none."""
    rotation: int = 0
    """Rotation of the options: position p shows option (p + rotation) mod k."""
    item: str = ""
    """Hash of what was asked (`evaluation.item.item_hash`); "" if unknown."""
    outcome: Literal["answered", "timed_out", "failed"] = "answered"
    error: str = ""
    """Why there is no reply."""
    judged: str | None = None
    """The answer that the judge found in `text` where rules found none; None if it was not asked."""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    def to_line(self) -> str:
        """One line, without its end."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)


NAME = "responses.jsonl"
Key = tuple[str, int]
"""(question id, rotation)."""

_WORDS, _PERHAPS_WORDS, _PERHAPS_NUMBER = (str,), (str, NoneType), (int, float, NoneType)
_HOLDS: Mapping[str, tuple[type, ...]] = {
    "id": _WORDS,
    "text": _PERHAPS_WORDS,
    "rotation": (int,),
    "item": _WORDS,
    "outcome": _WORDS,
    "error": _WORDS,
    "judged": _PERHAPS_WORDS,
    "seconds": _PERHAPS_NUMBER,
    "input_tokens": (int, NoneType),
    "output_tokens": (int, NoneType),
}
_RANK = {"failed": 0, "timed_out": 1, "answered": 2}


class ResponseFile:
    """The answers of one run. The last line of a presentation (a question, one rotation of its options) counts, except
    that a failure does not replace an answer."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[Key, Response]:
        """All answers by presentation; an incomplete last line is ignored. Raises `UsageError`."""
        return latest(self._lines()) if self.path.is_file() else {}

    @contextmanager
    def appending(self) -> Iterator["Appender"]:
        """Locks the file and cuts off an incomplete last line. Raises `BusyError` if another process writes."""
        with one_writer(self.path), self.path.open("ab") as file:
            os.truncate(self.path, _bytes_of_complete_lines(self.path))
            yield Appender(file)

    @contextmanager
    def replacing(self) -> Iterator["Appender"]:
        """A new file that replaces this one when the block ends."""
        with atomic_file(self.path) as temporary, temporary.open("wb") as file:
            yield Appender(file, sync=False)

    def _lines(self) -> Iterator[Response]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield response_of(json.loads(line))
                except (ValueError, RecursionError) as error:
                    if not line.endswith(b"\n"):
                        return  # killed while writing it
                    cause = f"line {number} of {self.path} is not a valid response: {error}"
                    raise UsageError(cause, "remove that line: its question is asked again") from error


class Appender:
    """An open `responses.jsonl`."""

    def __init__(self, file: BinaryIO, *, sync: bool = True) -> None:
        self._file, self._sync = file, sync

    def append(self, response: Response) -> None:
        """Appends one line; syncs it to disk unless the file is being replaced."""
        self._file.write(f"{response.to_line()}\n".encode("utf-8", "surrogatepass"))
        if self._sync:
            self._file.flush()
            os.fsync(self._file.fileno())


def response_of(record: Any) -> Response:
    """The answer of one line's object; unknown keys are ignored. Raises `ValueError`."""
    if not isinstance(record, dict):
        raise ValueError("not an object")
    known = {name: value for name, value in record.items() if name in _HOLDS}
    if missing := sorted({"id", "text"} - known.keys()):
        raise ValueError(f"no {missing[0]}")
    for name, value in known.items():
        if type(value) not in _HOLDS[name]:
            raise ValueError(f"{name} cannot be {str(value)[:40]!r}")
    if known.get("rotation", 0) < 0 or known.get("outcome", "answered") not in _RANK:
        raise ValueError("invalid rotation or outcome")
    return Response(**known)


def latest(responses: Iterable[Response]) -> dict[Key, Response]:
    """By presentation: the last answer, else the last time-out, else the last failure."""
    found: dict[Key, Response] = {}
    for response in responses:
        key = response.id, response.rotation
        found[key] = one_that_counts(found.get(key, response), response)
    return found


def one_that_counts(earlier: Response, later: Response) -> Response:
    """Which of two lines of one presentation counts."""
    return later if _RANK[later.outcome] >= _RANK[earlier.outcome] else earlier


def _bytes_of_complete_lines(path: Path) -> int:
    """Bytes up to the end of the last whole line."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        while position:
            start = max(0, position - 65536)
            file.seek(start)
            end = file.read(position - start).rfind(b"\n")
            if end >= 0:
                return start + end + 1
            position = start
    return 0
