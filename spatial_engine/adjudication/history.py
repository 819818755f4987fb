"""What an annotator's steps come to: the state of every question, after all undoing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spatial_engine.adjudication.step import Step


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Where an annotator is with one question."""

    answer: Step | None = None
    verdict: Step | None = None


@dataclass
class History:
    """Steps that still count, oldest first, of questions as they are now."""

    contents: Mapping[str, str]
    """Content hash by id of every question of the data set."""
    facts: Mapping[str, str]
    """Fact id by id of every question: formats of one fact give each other's answer away."""
    steps: list[Step] = field(default_factory=list)
    revealed: set[str] = field(default_factory=set)
    """Facts of which a recorded answer was shown once: an own answer after that is not blind."""
    outdated: set[str] = field(default_factory=set)
    """Ids of questions that were judged, and that are no longer there or no longer the same."""

    def extend(self, steps: Iterable[Step]) -> "History":
        """Adds steps; those of questions that changed are set aside."""
        for step in steps:
            if self.contents.get(step.question) == step.content:
                self.add(step)
            else:
                self.outdated.add(step.question)
        return self

    def add(self, step: Step) -> None:
        """One step more."""
        if step.deed == "undo":
            place = next((k for k in reversed(range(len(self.steps))) if self.steps[k].question == step.question), None)
            if place is not None:
                del self.steps[place]
            return
        self.revealed.add(self.facts[step.question])
        self.steps.append(step)

    def judgements(self) -> dict[str, Judgement]:
        """By question id. The last answer and the last verdict count; a later answer takes no verdict back."""
        found: dict[str, Judgement] = {}
        for step in self.steps:
            before = found.get(step.question, Judgement())
            found[step.question] = (
                Judgement(answer=step, verdict=before.verdict)
                if step.deed == "answer"
                else Judgement(answer=before.answer, verdict=step)
            )
        return found
