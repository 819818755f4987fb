"""How often and in which order of options a question is shown."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spatial_engine.evaluation import protocol
from templates.question import Question


@dataclass(frozen=True)
class Presentation:
    """One showing of one question."""

    question: Question
    """As it stands in the data set."""
    rotation: int = 0
    """Position p shows option (p + rotation) mod k."""

    @property
    def key(self) -> tuple[str, int]:
        """Question id and rotation."""
        return self.question.id, self.rotation

    @property
    def shown(self) -> Question:
        """The question with its options in the order shown, and the letter that is right then."""
        return protocol.rotated(self.question, self.rotation)


def presentations(questions: Iterable[Question], *, circular: bool) -> Iterator[Presentation]:
    """Every question once; with `circular`, a choice once for each rotation of its options."""
    for question in questions:
        count = protocol.presentations(question) if circular else 1
        yield from (Presentation(question, rotation) for rotation in range(count))


def sample(ids: Sequence[str], limit: int | None, seed: int) -> set[str]:
    """`limit` ids drawn by chance; a larger limit holds every smaller one of the same seed."""
    if limit is None or limit >= len(ids):
        return set(ids)
    order = sorted(ids)
    random.Random(seed).shuffle(order)
    return set(order[:limit])
