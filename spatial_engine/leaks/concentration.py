"""Numbers that are the answer again and again."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from spatial_engine.leaks.gains import Limits, clopper_pearson
from templates.measured import Json
from templates.question import Question

FEW = 3
LEAST = 20
"""Numbers of a template from which on they can be called concentrated."""


def concentration(questions: Sequence[Question], limits: Limits) -> dict[str, Json]:
    """Per template with numeric answers: how many there are, how many differ, the commonest three with their shares,
    and whether these three surely are the answer to more than `limits.fixed` of the questions."""
    found: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if question.format == "numeric" and isinstance(question.answer, int | float):
            found[question.template].append(question)
    return {template: _of(found[template], limits) for template in sorted(found)}


def _of(asked: Sequence[Question], limits: Limits) -> dict[str, Json]:
    counts = Counter(float(question.answer) for question in asked)
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:FEW]
    held = sum(count for _, count in top)
    tail = (1 - limits.level) / 2
    low, _ = clopper_pearson(held, len(asked), len({question.clip for question in asked}), tail)
    return {
        "answers": len(asked),
        "different": len(counts),
        "commonest": [{"answer": value, "share": round(count / len(asked), 4)} for value, count in top],
        "concentrated": len(asked) >= LEAST and low > limits.fixed,
    }
