"""One fixed number, set of numbers or point for a whole template: how many tolerances does it hit?"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Bool, Float64, Int64

from spatial_engine.leaks.gains import Limits
from spatial_engine.leaks.guesses import Guesses
from spatial_engine.scoring.constant_answer import best_constant
from spatial_engine.scoring.statistics import clopper_pearson
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
    low, _ = clopper_pearson(held, len(asked), tail=tail, clips=len({question.clip for question in asked}))
    return {
        "answers": len(asked),
        "different": len(counts),
        "commonest": [{"answer": value, "share": round(count / len(asked), 4)} for value, count in top],
        "concentrated": len(asked) >= LEAST and low > limits.fixed,
    }


_Rows = Float64[np.ndarray, "n d"]


def fixed_numbers(guesses: Guesses, questions: Sequence[Question], folds: Int64[np.ndarray, "n"]) -> None:
    """Writes hits for numeric, json and point questions; the number is learnt on the other folds."""
    groups: dict[tuple[str, str, Hashable, float | None], list[int]] = defaultdict(list)
    for n, question in enumerate(questions):
        if (numbers := numbers_of(question)) is not None:
            names: Hashable = tuple(sorted(question.answer)) if question.format == "json" else len(numbers[0])
            groups[question.template, question.format, names, period_of(question)].append(n)
    for (_, form, _, period), members in groups.items():
        rows = np.array([numbers_of(questions[n]) for n in members], dtype=np.float64)
        index, answers, tolerances = np.array(members), rows[:, 0], rows[:, 1]
        for fold in np.unique(folds[index]):
            test = folds[index] == fold
            if test.all():
                continue
            best = _best(answers[~test], tolerances[~test], period, form == "point")
            near = _within(answers[test], tolerances[test], best[None], period, form == "point")
            guesses.hits[index[test]] = near[0]


def numbers_of(question: Question) -> tuple[list[float], list[float]] | None:
    """Answer and tolerance as lists of one length; None where the answer is no numbers, or has no tolerance."""
    answer, tolerance = question.answer, question.tolerance
    try:
        if question.format == "numeric":
            pair = [float(answer)], [float(tolerance)]
        elif question.format == "json":
            pair = [float(answer[k]) for k in sorted(answer)], [float(tolerance[k]) for k in sorted(answer)]
        elif question.format == "point":
            pair = [float(v) for v in answer], [float(tolerance)] * len(answer)
        else:
            return None
    except (TypeError, ValueError, KeyError):
        return None
    return pair if pair[0] and np.isfinite(pair).all() else None


def period_of(question: Question) -> float | None:
    """Of angles: 360; None for other numbers."""
    period = question.scorer_params.get("period")
    return float(period) if isinstance(period, int | float) and period > 0 else None


def _best(answers: _Rows, tolerances: _Rows, period: float | None, point: bool) -> Float64[np.ndarray, "d"]:
    order = np.lexsort(answers.T[::-1])

    def hits(tried: Sequence[tuple[float, ...]], on: Sequence[int]) -> list[int]:
        rows = order[on]
        return _within(answers[rows], tolerances[rows], np.array(tried), period, point).sum(axis=1).tolist()

    return np.array(best_constant([tuple(row) for row in answers[order].tolist()], hits), dtype=np.float64)


def _within(
    answers: _Rows, tolerances: _Rows, said: Float64[np.ndarray, "k d"], period: float | None, point: bool
) -> Bool[np.ndarray, "k n"]:
    apart = np.abs(said[:, None] - answers[None])
    if period is not None:
        apart = np.minimum(apart % period, period - apart % period)
    if point:
        return np.hypot.reduce(apart, axis=2) <= tolerances[None, :, 0]
    return (apart <= tolerances[None]).all(axis=2)
