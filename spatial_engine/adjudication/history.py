"""What an annotator's steps come to: the state of every question, after all undoing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spatial_engine.adjudication.step import Step


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
