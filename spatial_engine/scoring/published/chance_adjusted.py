"""Chance-adjusted accuracy (SITE, arXiv 2505.05456; EASI): a guesser is at 0, all right at 1."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

UNKNOWN_OPTIONS = 4
"""What VLMEvalKit takes where a row does not say how many options there were; EASI's own script drops the row."""

Category = TypeVar("Category", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class ChanceAdjusted:
    """CAA = (Σ X_i - Σ 1/n_i) / (N - Σ 1/n_i) over N questions with n_i options, as fractions (tables print x 100)."""

    value: float
    """1 at best, 0 for a guesser, below 0 for worse; 0 where N or the denominator is 0."""
    accuracy: float
    chance: float
    """What a guesser is expected to get right."""
    count: int


def chance_adjusted(
    hits: Sequence[float], options: Sequence[int | None], *, drop_unknown: bool = False
) -> ChanceAdjusted:
    """Pooled over all questions: `hits[i]` is 1 for a right answer, `options[i]` the number of options of question i.

    None (or less than one option) counts as four options, as in VLMEvalKit, or is dropped, as by EASI's script.
    """
    rows = [(hit, n) for hit, given in zip(hits, options, strict=True) if (n := _options(given, drop_unknown))]
    count, right = len(rows), sum(hit for hit, _ in rows)
    guessed = sum(1 / n for _, n in rows)
    above = count - guessed
    return ChanceAdjusted(
        value=(right - guessed) / above if above else 0.0,
        accuracy=right / count if count else 0.0,
        chance=guessed / count if count else 0.0,
        count=count,
    )


def by_category(
    hits: Sequence[float], options: Sequence[int | None], categories: Sequence[Category], *, drop_unknown: bool = False
) -> dict[Category, ChanceAdjusted]:
    """Each category by itself, sorted by name. The overall score is pooled over all questions, never their mean."""
    rows = list(zip(hits, options, categories, strict=True))
    found = {}
    for category in sorted(set(categories), key=str):
        own = [(hit, n) for hit, n, of in rows if of == category]
        found[category] = chance_adjusted([hit for hit, _ in own], [n for _, n in own], drop_unknown=drop_unknown)
    return found


def macro(categories: Iterable[ChanceAdjusted]) -> float:
    """Mean of categories, for information only: no benchmark reports it. 0 of none."""
    values = [category.value for category in categories]
    return sum(values) / len(values) if values else 0.0


def _options(given: int | None, drop_unknown: bool) -> int:
    """0: drop the row."""
    if given is not None and given > 0:
        return given
    return 0 if drop_unknown else UNKNOWN_OPTIONS
