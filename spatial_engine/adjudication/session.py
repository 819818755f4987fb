"""One annotator at work: which question stands on the screen, and what each key does to it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from spatial_engine.adjudication.showing import agrees, evidence, read_own, recorded, shown
from spatial_engine.adjudication.steps import MAX_NOTE, WORDS, Action, History, Judgement, Step
from spatial_engine.report.cards import tolerance_in_words
from templates.measured import Json
from templates.question import Question

MAX_OWN = 4000
"""Characters of an own answer that are read."""


@runtime_checkable
class Steps(Protocol):
    """Where steps are kept."""

    def append(self, step: Step) -> None:
        """On disk when it returns; raises `OSError`."""


@dataclass(frozen=True)
class Clock:
    """Time, as an argument."""

    now: Callable[[], str]
    """ISO 8601 in UTC."""
    seconds: Callable[[], float]
    """Of any clock that only goes forward."""


class OutOfStep(Exception):  # noqa: N818 - the page is merely behind
    """What was sent is not for the question on the screen: another tab went on."""


class Session:
    """Safe for several threads. Every change is on disk before it shows; every method returns the new screen."""

    def __init__(
        self, questions: Sequence[Question], history: History, file: Steps, clock: Clock, *, third: bool = False
    ) -> None:
        """`questions`: in the order in which they are shown. `third`: a pass over what others disagree on."""
        self.questions = {question.id: question for question in questions}
        self._history, self._file, self._clock, self._third = history, file, clock, third
        self._postponed: list[str] = []
        self._lock = threading.Lock()
        self._returned: str | None = None
        """Question that an undo brought back: it is shown before any other."""
        self._shown: dict[str, float] = {}
        self._evidence: set[str] = set()

    def screen(self) -> dict[str, Json]:
        """What the page draws."""
        with self._lock:
            return self._screen()

    def answer(self, id: str, text: str | None) -> dict[str, Json]:
        """The own answer; None: could not tell. Raises `ValueError` if it cannot be read, `OutOfStep`, `OSError`."""
        with self._lock:
            question, judgement = self._current(id)
            if judgement.answer is not None:
                raise OutOfStep
            own = None if text is None else read_own(question, text[:MAX_OWN])
            self._add("answer", id, own=own, blind=question.fact_id not in self._history.revealed)
            return self._screen()

    def judge(self, id: str, word: str, note: str) -> dict[str, Json]:
        """The verdict on the recorded answer. Raises `ValueError` if it is no verdict, `OutOfStep`, `OSError`."""
        with self._lock:
            _, judgement = self._current(id)
            if judgement.answer is None:
                raise OutOfStep
            if word not in WORDS:
                raise ValueError(f"a verdict is one of {', '.join(WORDS)}")
            seconds = round(self._clock.seconds() - self._shown[id], 2)
            self._add(
                "verdict", id, verdict=word, note=" ".join(note.split())[:MAX_NOTE], third=self._third,
                evidence=id in self._evidence, seconds=seconds,
            )  # fmt: skip
            return self._screen()

    def evidence(self, id: str) -> dict[str, Json]:
        """How the answer was measured, once the own answer is given. Raises `OutOfStep`."""
        with self._lock:
            question, judgement = self._current(id)
            if judgement.answer is None:
                raise OutOfStep
            self._evidence.add(id)
            return {"evidence": evidence(question)}

    def undo(self) -> dict[str, Json]:
        """Takes the last step back, over restarts too; nothing if there is none. Raises `OSError`."""
        with self._lock:
            if last := self._history.last(self.questions):
                self._add("undo", last)
                self._returned = last
            return self._screen()

    def postpone(self, id: str) -> dict[str, Json]:
        """Puts the question behind all others. Raises `OutOfStep`."""
        with self._lock:
            self._current(id)
            self._returned = None
            self._postponed = [*(other for other in self._postponed if other != id), id]
            return self._screen()

    def _add(self, action: Action, id: str, **content: Json) -> None:
        step = Step(action=action, question=id, content=self._history.contents[id], at=self._clock.now(), **content)
        self._file.append(step)
        self._history.add(step)
        if action == "verdict":
            self._returned = None

    def _current(self, id: str) -> tuple[Question, Judgement]:
        if id != next(iter(self._open()), None):
            raise OutOfStep
        return self.questions[id], self._history.judgement(id)

    def _open(self) -> list[str]:
        """Ids without a verdict: first what an undo brought back, last what was postponed."""
        first = [] if self._returned is None else [self._returned]
        apart = {*first, *self._postponed}
        between = (id for id in self.questions if id not in apart)
        behind = (id for id in self._postponed if id not in first)
        return [id for id in (*first, *between, *behind) if id not in self._history.judged]

    def _screen(self) -> dict[str, Json]:
        left = self._open()
        total = len(self.questions)
        known = {"done": total - len(left), "total": total, "third": self._third}
        known["undoable"] = self._history.last(self.questions) is not None
        if not left:
            return {**known, "item": None, "next": []}
        question = self.questions[left[0]]
        self._shown.setdefault(question.id, self._clock.seconds())
        answer = self._history.judgement(question.id).answer
        revealed = None if answer is None else {
            **recorded(question), "within": tolerance_in_words(question), "own": answer.own, "blind": answer.blind
        }  # fmt: skip
        if revealed is not None and answer is not None and answer.own is not None:
            revealed["agrees"] = agrees(question, answer.own)
        upcoming: dict[str, Json] = (
            shown(self.questions[left[1]]) if len(left) > 1 else {"id": "", "pictures": [], "options": []}
        )
        pictures = [
            *upcoming["pictures"],
            *(option["picture"] for option in upcoming["options"] if "picture" in option),
        ]
        following = [[upcoming["id"], picture["place"]] for picture in pictures]
        return {**known, "item": shown(question), "recorded": revealed, "next": following}
