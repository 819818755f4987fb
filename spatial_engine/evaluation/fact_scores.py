"""Averages scores to facts, and facts to groups with an interval.

Rotations of one choice and formats of one fact are not independent. So rotations are averaged to a question first, and
questions to a fact. The score of a group is the mean of its facts; its interval resamples clips, and facts within
clips.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.scoring.accuracy import chance_adjusted
from spatial_engine.scoring.statistics import clip_interval
from templates.answers.registry import format_of
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class FactScore:
    """The score of a run on one fact."""

    fact_id: str
    clip: str
    score: float
    """Mean over the fact's questions, each the mean over its rotations."""


def fact_scores(
    items: Iterable[ScoredItem], value: Callable[[ScoredItem], float] = lambda item: item.score
) -> list[FactScore]:
    """One row per fact, sorted by clip and fact."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        found[item.clip, item.fact_id][item.id].append(value(item))
    return [
        FactScore(fact_id=fact, clip=clip, score=fmean(fmean(rotations) for rotations in questions.values()))
        for (clip, fact), questions in sorted(found.items())
    ]


def measure(items: Sequence[ScoredItem], seed: int) -> dict[str, Json]:
    """The metrics of a group: counts, score, 95 % interval (null for a single clip), and chance-adjusted accuracy of
    choices and yes/no questions (null without any)."""
    facts = fact_scores(items)
    return {
        "items": len({item.id for item in items}),
        "facts": len(facts),
        "clips": len({fact.clip for fact in facts}),
        "score": fmean(fact.score for fact in facts) if facts else None,
        "interval": interval(facts, seed),
        "chance_adjusted": above_chance(items),
    }


def interval(facts: Sequence[FactScore], seed: int) -> list[float] | None:
    """95 % interval of the mean over facts."""
    found = clip_interval([fact.score for fact in facts], [fact.clip for fact in facts], seed=seed)
    return None if found is None else list(found)


def above_chance(items: Iterable[ScoredItem]) -> float | None:
    """Chance-adjusted accuracy over the first presentation of each choice and yes/no question; None without any."""
    asked = [item for item in items if item.rotation == 0 and format_of(item.format).closed]
    if not asked:
        return None
    return chance_adjusted([float(item.right) for item in asked], [options(item) for item in asked]).value


def options(item: ScoredItem) -> int:
    """Number of options of a choice or yes/no question."""
    return max(1, round(1 / item.chance)) if item.chance > 0 else 1


def grouped(items: Iterable[ScoredItem], key: Callable[[ScoredItem], str]) -> dict[str, list[ScoredItem]]:
    """Items by a key, sorted by it."""
    groups: dict[str, list[ScoredItem]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return dict(sorted(groups.items()))
