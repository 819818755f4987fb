"""An annotator's file: a line for each answer, verdict and undo; and the state of every question that follows."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from spatial_engine.errors import UsageError
from templates.measured import Json

Word = Literal["right", "wrong", "undecided", "bad"]
"""The recorded answer is right | it is wrong | the pictures do not decide it | the question itself is at fault."""
WORDS: tuple[Word, ...] = get_args(Word)
Action = Literal["answer", "verdict", "undo"]
MAX_NOTE = 2000
"""Characters of a note that are kept."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """An own answer, a verdict on the recorded one, or an undo of the last step on that question."""

    action: Action
    question: str
    """Id of the question."""
    content: str
    """Hash of what the question showed (`content_hash`): a verdict holds only for a question of the same content."""
    at: str
    """When, ISO 8601 in UTC."""
    own: Json = None
    """Of an answer: what the annotator says, in the form of `Question.answer`; null: could not tell."""
    blind: bool = True
    """Of an answer: given before the recorded answer was ever shown."""
    verdict: Word | None = None
    note: str = ""
    evidence: bool = False
    """Of a verdict: the evidence had been looked at."""
    third: bool = False
    """Of a verdict: given in a pass over what others disagree on, so no fair measure of agreement."""
    seconds: float | None = None
    """Of a verdict: since the question was first shown."""

    def to_line(self) -> str:
        """One line, without its end: the fields that this action has."""
        record = asdict(self)
        return json.dumps({name: record[name] for name in (*_SHARED, *_FIELDS[self.action])}, ensure_ascii=False)


_SHARED = ("action", "question", "content", "at")
_FIELDS: dict[Action, tuple[str, ...]] = {
    "answer": ("own", "blind"),
    "verdict": ("verdict", "note", "evidence", "third", "seconds"),
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
}


def step_of(record: Any) -> Step:
    """The step of one line's object; keys that are not known are ignored. Raises `ValueError`."""
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
    return Step(**known, own=record.get("own"))


class StepFile:
    """An annotator's file that this process holds."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file

    def append(self, step: Step) -> None:
        """One line more: on disk when this returns. Raises `OSError`, and then the file is as it was before."""
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
    """Takes the file for this process and mends its end. Raises `UsageError` if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            cause = f"{path}: another process has this annotator's file open"
            raise UsageError(cause, "end that one, or choose another --annotator") from error
        _mend(path, file)
        yield StepFile(path, file)


def read_steps(path: Path) -> list[Step]:
    """All steps. A last line that was cut short is left out. Raises `UsageError` naming any other damaged line."""
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
    """Ends the last line if it is whole, else takes it away."""
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
    """Where an annotator is with one question."""

    answer: Step | None = None
    verdict: Step | None = None


class History:
    """Steps that still count, of questions as they are now."""

    def __init__(self, contents: Mapping[str, str], facts: Mapping[str, str]) -> None:
        """By question id: content hash, and fact id (formats of one fact give each other's answer away)."""
        self.contents, self._facts = contents, facts
        self.revealed: set[str] = set()
        """Facts of which a recorded answer was shown once: an own answer after that is not blind."""
        self.judged: set[str] = set()
        """Ids of questions with a verdict."""
        self.outdated: set[str] = set()
        """Ids of questions that were judged, and that are no longer there or no longer the same."""
        self._order: list[str] = []
        """Ids of the questions of all steps that count, oldest first."""
        self._of: dict[str, list[Step]] = {}

    def extend(self, steps: Iterable[Step]) -> "History":
        """Adds steps; those of questions that changed are set aside."""
        for step in steps:
            if self.contents.get(step.question) == step.content:
                self.add(step)
            else:
                self.outdated.add(step.question)
        return self

    def add(self, step: Step) -> None:
        """One step more; an undo takes the last one on its question away."""
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
        """Id of the question of the last step on one of these; None if there is none."""
        return next((id for id in reversed(self._order) if id in among), None)

    def judgement(self, id: str) -> Judgement:
        """Of one question: its last answer and its last verdict."""
        found: dict[str, Step] = {step.action: step for step in self._of.get(id, ())}
        return Judgement(answer=found.get("answer"), verdict=found.get("verdict"))

    def judgements(self) -> dict[str, Judgement]:
        """Of all questions with a verdict, by id."""
        return {id: self.judgement(id) for id in self._of if id in self.judged}
