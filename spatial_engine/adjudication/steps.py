"""The file of an annotator, a line per answer, verdict, item and undo, and the resulting state of every question."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from spatial_engine.atomic_file import one_writer
from spatial_engine.errors import UsageError
from templates.columns import Json

Word = Literal["right", "wrong", "undecided", "bad"]
"""The recorded answer is right | it is wrong | the pictures do not decide it | the question is bad."""
WORDS: tuple[Word, ...] = get_args(Word)
Action = Literal["answer", "verdict", "item", "undo"]
MAX_NOTE = 2000
"""Longest note, in characters."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """An annotator's answer, a verdict on the recorded answer, an item by the annotator, or an undo of the last step on
    that question."""

    action: Action
    question: str
    """Id of the question."""
    content: str
    """Hash of the question (`content_hash`): a verdict is valid only for the same content."""
    at: str
    """Time, ISO 8601 in UTC."""
    own: Json = None
    """Of an answer: the annotator's own answer, in the form of `Question.answer`; null: could not tell."""
    blind: bool = True
    """Of an answer: whether it was given before the recorded answer was shown."""
    verdict: Word | None = None
    note: str = ""
    evidence: bool = False
    """Of a verdict: whether the evidence was shown before."""
    third: bool = False
    """Of a verdict: whether it was given in a pass over disagreements, so that it does not count for agreement."""
    seconds: float | None = None
    """Of a verdict: seconds since the question was first shown."""
    item: Json = None
    """A correction of the question, or a new one over its media, as `items.checked` returns it."""

    def to_line(self) -> str:
        """One line without its end, with the fields of this action."""
        record = asdict(self)
        return json.dumps({name: record[name] for name in (*_SHARED, *_FIELDS[self.action])}, ensure_ascii=False)


_SHARED = ("action", "question", "content", "at")
_FIELDS: dict[Action, tuple[str, ...]] = {
    "answer": ("own", "blind"),
    "verdict": ("verdict", "note", "evidence", "third", "seconds"),
    "item": ("item",),
    "undo": (),
}


_HOLDS: dict[str, tuple[type, ...]] = {
    "action": (str,),
    "question": (str,),
    "content": (str,),
    "at": (str,),
    "blind": (bool,),
    "verdict": (str, type(None)),
    "note": (str,),
    "evidence": (bool,),
    "third": (bool,),
    "seconds": (int, float, type(None)),
    "item": (dict, type(None)),
}


def step_of(record: Any) -> Step:
    """The step of one line's object; unknown keys are ignored. Raises `ValueError`."""
    if not isinstance(record, dict):
        raise ValueError("not an object")
    if missing := sorted({"action", "question", "content", "at"} - record.keys()):
        raise ValueError(f"no {missing[0]}")
    known = {name: value for name, value in record.items() if name in _HOLDS}
    for name, value in known.items():
        if type(value) not in _HOLDS[name]:
            raise ValueError(f"{name} cannot be {str(value)[:40]!r}")
    if known["action"] not in get_args(Action):
        raise ValueError(f"action cannot be {known['action'][:40]!r}")
    if known.get("verdict") not in (WORDS if known["action"] == "verdict" else (None,)):
        raise ValueError(f"verdict cannot be {str(known.get('verdict'))[:40]!r} here")
    if (known["action"] == "item") != isinstance(known.get("item"), dict):
        raise ValueError(f"item cannot be {str(known.get('item'))[:40]!r} here")
    return Step(**known, own=record.get("own"))


class StepFile:
    """The locked file of an annotator."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file

    def append(self, step: Step) -> None:
        """Appends one line and syncs it to disk. On `OSError` the file is unchanged."""
        before = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(f"{step.to_line()}\n".encode("utf-8", "surrogatepass"))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(before)
            raise


@contextmanager
def holding(path: Path) -> Iterator[StepFile]:
    """Locks the file and repairs its last line. Raises `BusyError` if another process holds it."""
    with one_writer(path), path.open("ab", buffering=0) as file:
        _mend(path, file)
        yield StepFile(path, file)


def read_steps(path: Path) -> list[Step]:
    """All steps; an incomplete last line is ignored. Raises `UsageError` naming any other damaged line."""
    return list(_steps(path)) if path.is_file() else []


def _steps(path: Path) -> Iterator[Step]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield step_of(json.loads(line))
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    return  # killed while writing it
                cause = f"line {number} of {path} is no verdict: {error}"
                raise UsageError(cause, "remove that line: what it judged is asked again") from error


def _mend(path: Path, file: BinaryIO) -> None:
    """Completes the last line if its JSON is complete, else removes it."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == len(content):
        return
    try:
        step_of(json.loads(content[whole:]))
    except (ValueError, RecursionError):
        file.truncate(whole)
    else:
        file.write(b"\n")


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The current answer and verdict of an annotator on one question."""

    answer: Step | None = None
    verdict: Step | None = None


class History:
    """The valid steps of an annotator on the current questions."""

    def __init__(self, contents: Mapping[str, str], facts: Mapping[str, str]) -> None:
        """By question id: content hash, and fact id (one format of a fact reveals the answer of the others)."""
        self.contents, self._facts = contents, facts
        self.revealed: set[str] = set()
        """Facts with a recorded answer that was shown: later own answers are not blind."""
        self.judged: set[str] = set()
        """Ids of questions with a verdict."""
        self.outdated: set[str] = set()
        """Ids of judged questions that have changed or no longer exist."""
        self._order: list[str] = []
        """Question ids of all valid steps, oldest first."""
        self._of: dict[str, list[Step]] = {}

    def extend(self, steps: Iterable[Step]) -> "History":
        """Adds steps; those on changed questions are ignored."""
        for step in steps:
            if self.contents.get(step.question) == step.content:
                self.add(step)
            else:
                self.outdated.add(step.question)
        return self

    def add(self, step: Step) -> None:
        """Adds one step; an undo removes the last one of its question."""
        id, steps = step.question, self._of.setdefault(step.question, [])
        if step.action != "undo":
            self.revealed.add(self._facts[id])
            self._order.append(id)
            steps.append(step)
        elif steps:
            steps.pop()
            del self._order[len(self._order) - 1 - self._order[::-1].index(id)]
        if any(step.action == "verdict" for step in steps):
            self.judged.add(id)
        else:
            self.judged.discard(id)

    def last(self, among: Mapping[str, object]) -> str | None:
        """Question id of the last step on one of these; None if there is none."""
        return next((id for id in reversed(self._order) if id in among), None)

    def judgement(self, id: str) -> Judgement:
        """The last answer and the last verdict of one question."""
        found: dict[str, Step] = {step.action: step for step in self._of.get(id, ())}
        return Judgement(answer=found.get("answer"), verdict=found.get("verdict"))

    def items(self, id: str | None = None) -> list[Step]:
        """Standing items on one question, or on all, oldest first."""
        found = self._of.values() if id is None else [self._of.get(id, [])]
        return [step for steps in found for step in steps if step.action == "item"]

    def judgements(self) -> dict[str, Judgement]:
        """Judgements of all questions with a verdict, by id."""
        return {id: self.judgement(id) for id in self._of if id in self.judged}
