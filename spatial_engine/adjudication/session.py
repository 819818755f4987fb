"""The session of one annotator: the question on the screen, and the effect of each key."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from spatial_engine.adjudication.items import FORMATS, checked
from spatial_engine.adjudication.showing import agrees, evidence, read_own, recorded, shown, times_s
from spatial_engine.adjudication.steps import MAX_NOTE, WORDS, Action, History, Judgement, Step
from spatial_engine.report.cards import tolerance_in_words
from templates.ability import LEAVES
from templates.answers.numbers import UNITS
from templates.columns import Json
from templates.question import Question

MAX_OWN = 4000
"""Longest own answer, in characters."""


@runtime_checkable
class Steps(Protocol):
    """A file of steps."""

    def append(self, step: Step) -> None:
        """Writes to disk before it returns; raises `OSError`."""


@dataclass(frozen=True)
class Clock:
    """A replaceable clock."""

    now: Callable[[], str]
    """ISO 8601 in UTC."""
    seconds: Callable[[], float]
    """Of a monotonic clock."""


class OutOfStep(Exception):  # noqa: N818 - the page is merely behind
    """The request is not about the current question: another tab has gone on."""


class Session:
    """Thread-safe. Every change is on disk before it is shown; every method returns the new screen."""

    def __init__(
        self, questions: Sequence[Question], history: History, file: Steps, clock: Clock, *, third: bool = False
    ) -> None:
        """`questions`: in the order of showing. `third`: a pass over the disagreements of others."""
        self.questions = {question.id: question for question in questions}
        self._history, self._file, self._clock, self._third = history, file, clock, third
        self._postponed: list[str] = []
        self._lock = threading.Lock()
        self._returned: str | None = None
        """The question that an undo brought back; it is shown first."""
        self._shown: dict[str, float] = {}
        self._evidence: set[str] = set()

    def screen(self) -> dict[str, Json]:
        """The content of the page."""
        with self._lock:
            return self._screen()

    def answer(self, id: str, text: str | None) -> dict[str, Json]:
        """Takes the own answer; None: could not tell. Raises `ValueError` if it is unreadable, `OutOfStep`,
        `OSError`."""
        with self._lock:
            question, judgement = self._current(id)
            if judgement.answer is not None:
                raise OutOfStep
            own = None if text is None else read_own(question, text[:MAX_OWN])
            self._add("answer", id, own=own, blind=question.fact_id not in self._history.revealed)
            return self._screen()

    def judge(self, id: str, word: str, note: str) -> dict[str, Json]:
        """Takes the verdict on the recorded answer. Raises `ValueError` for an unknown verdict, `OutOfStep`,
        `OSError`."""
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
        """The measurement behind the answer; only after the own answer. Raises `OutOfStep`."""
        with self._lock:
            question, judgement = self._current(id)
            if judgement.answer is None:
                raise OutOfStep
            self._evidence.add(id)
            return {"evidence": evidence(question)}

    def write(self, id: str, sent: Mapping[str, Json]) -> dict[str, Json]:
        """Takes a correction of the question, or a new one over its media; only after the own answer. Raises
        `ValueError` for one that breaks a rule, `OutOfStep`, `OSError`."""
        with self._lock:
            question, judgement = self._current(id)
            if judgement.answer is None:
                raise OutOfStep
            self._add("item", id, item=checked(question, sent))
            return self._screen()

    def undo(self) -> dict[str, Json]:
        """Undoes the last step, also one before a restart. Raises `OSError`."""
        with self._lock:
            if last := self._history.last(self.questions):
                self._add("undo", last)
                self._returned = last
            return self._screen()

    def postpone(self, id: str) -> dict[str, Json]:
        """Moves the question to the end. Raises `OutOfStep`."""
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
        """Ids without a verdict: first the one that an undo brought back, last the postponed ones."""
        first = [] if self._returned is None else [self._returned]
        others = (id for id in self.questions if id not in {*first, *self._postponed})
        last = (id for id in self._postponed if id not in first)
        return [id for id in (*first, *others, *last) if id not in self._history.judged]

    def _screen(self) -> dict[str, Json]:
        remaining = self._open()
        total = len(self.questions)
        known = {"done": total - len(remaining), "total": total, "third": self._third}
        known["undoable"] = self._history.last(self.questions) is not None
        if not remaining:
            return {**known, "item": None, "next": []}
        question = self.questions[remaining[0]]
        self._shown.setdefault(question.id, self._clock.seconds())
        answer = self._history.judgement(question.id).answer
        revealed = None if answer is None else {
            **recorded(question), "within": tolerance_in_words(question), "times_s": times_s(question),
            "own": answer.own, "blind": answer.blind, "words": question.prompt,
            "items": [f"{step.item['change']}: {step.item['prompt']}" for step in self._history.items(question.id)],
            "leaves": LEAVES, "formats": FORMATS, "units": UNITS,
        }  # fmt: skip
        if revealed is not None and answer is not None and answer.own is not None:
            revealed["agrees"] = agrees(question, answer.own)
        upcoming: dict[str, Json] = (
            shown(self.questions[remaining[1]]) if len(remaining) > 1 else {"id": "", "pictures": [], "options": []}
        )
        pictures = [
            *upcoming["pictures"],
            *(option["picture"] for option in upcoming["options"] if "picture" in option),
        ]
        following = [[upcoming["id"], picture["place"]] for picture in pictures]
        return {**known, "item": shown(question), "recorded": revealed, "next": following}
