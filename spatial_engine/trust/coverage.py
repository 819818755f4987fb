"""Whether σ mean what they say: how many errors lie within them, beside how many should."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from experts.sigma_calibration.fitting import MEDIAN_OF_CHI_SQUARE
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


NOMINAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.6827, 0.8, 0.9, 0.9545, 0.99)
"""Probabilities at which the curve is read; 1 σ and 2 σ among them."""


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """One place of the curve."""

    nominal: float
    """Share of errors that should lie within `sigmas`, were they normal."""
    sigmas: float
    observed: float
    """Share that does."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Errors in σ. Every number of every fact counts once, however often it is asked."""

    numbers: int
    facts: int
    clips: int
    within_1: float
    """Share of |error| ≤ 1 σ: 0.683 is due."""
    within_2: float
    """Share of |error| ≤ 2 σ: 0.954 is due."""
    stretch: float
    """√(median of (error / σ)² / 0.455): 1 is due, 2 says that true σ are twice the stated ones."""
    largest: float
    """Largest |error| / σ."""
    curve: tuple[Reliability, ...]


def coverage(verdicts: Iterable[Verdict]) -> Coverage | None:
    """Over the numbers of some verdicts; None where truth knows none of them. What truth is unsure of by place counts
    not."""
    found: dict[tuple[str, str, str], float] = {}
    for verdict in verdicts:
        if verdict.word == "undecidable" and verdict.true is not None and "within a few pixels" in verdict.reason:
            continue
        for name, share in in_sigmas(verdict).items():
            found[verdict.clip, verdict.fact_id, name] = share
    if not found:
        return None
    z = np.array(list(found.values()))
    return Coverage(
        numbers=len(z),
        facts=len({key[:2] for key in found}),
        clips=len({clip for clip, *_ in found}),
        within_1=float(np.mean(z <= 1)),
        within_2=float(np.mean(z <= 2)),
        stretch=float(np.sqrt(np.median(z**2) / MEDIAN_OF_CHI_SQUARE)),
        largest=float(z.max()),
        curve=tuple(
            Reliability(nominal=p, sigmas=reach, observed=float(np.mean(z <= reach)))
            for p, reach in zip(NOMINAL, norm.isf((1 - np.array(NOMINAL)) / 2).tolist(), strict=True)
        ),
    )


def in_sigmas(verdict: Verdict) -> dict[str, float]:
    """|error| / σ of each number; without those whose σ is none."""
    shares = {name: abs(error) / verdict.sigma[name] for name, error in verdict.error.items() if verdict.sigma[name]}
    return {name: z for name, z in shares.items() if math.isfinite(z)}
