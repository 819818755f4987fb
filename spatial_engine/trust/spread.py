"""How far margins and answers are spread: labels that are all near a border, or all alike, prove less."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatial_engine.trust.verdict import Verdict

_WORDS = 8


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Of questions that truth decides."""

    margins: tuple[float, float, float] | None
    """5 %, 50 %, 95 % of the margins of labels, in σ; None without labels."""
    words: dict[str, int]
    """Answers that are words, by template and answer, most frequent first."""
    numbers: dict[str, tuple[float, float, float]]
    """5 %, 50 %, 95 % of answers that are one number, by template."""


def spread(verdicts: Sequence[Verdict]) -> Spread:
    """Over some verdicts."""
    decided = [verdict for verdict in verdicts if verdict.word != "undecidable"]
    margins = [verdict.margin for verdict in decided if verdict.margin is not None]
    words: Counter[str] = Counter()
    numbers: dict[str, list[float]] = {}
    for verdict in decided:
        if verdict.label:
            words[f"{verdict.template}: {verdict.label}"] += 1
        elif isinstance(verdict.answer, int | float):
            numbers.setdefault(verdict.template, []).append(float(verdict.answer))
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    return Spread(
        margins=_quantiles(margins) if margins else None,
        words=dict(ranked[:_WORDS]),
        numbers={name: _quantiles(values) for name, values in sorted(numbers.items())},
    )


def _quantiles(values: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
    return low, middle, high
