"""`comparison.json`: compares every pair of runs on the facts that both were asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations

from spatial_engine.evaluation.fact_scores import FactScore
from spatial_engine.scoring.statistics import compare, holm
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Runs a and b on the facts that both were asked."""

    a: str
    b: str
    facts: int
    """Number of common facts."""
    difference: float | None = None
    """Mean score of a minus that of b on the common facts; None without any."""
    interval: tuple[float, float] | None = None
    """95 % interval by resampling clips, and facts within clips; None for a single clip."""
    p: float | None = None
    """Two-sided p of the sign-flip test over clips."""
    p_holm: float | None = None
    """p corrected for the number of pairs (Holm 1979, Scand. J. Statist. 6): pairs of models and pairs with
    a baseline are corrected separately."""
    clips: int = 0
    a_better: int = 0
    """Number of facts on which a scores higher, and b."""
    b_better: int = 0

    def swapped(self) -> "RunComparison":
        """The comparison of b with a."""
        difference = None if self.difference is None else -self.difference
        interval = None if self.interval is None else (-self.interval[1], -self.interval[0])
        better = {"a_better": self.b_better, "b_better": self.a_better}
        return replace(self, a=self.b, b=self.a, difference=difference, interval=interval, **better)


def compare_runs(
    runs: Mapping[str, Sequence[FactScore]], *, baselines: Collection[str] = (), seed: int = 0
) -> list[RunComparison]:
    """One comparison per pair of runs, in the given order; pairs with a baseline last."""
    found = [_pair(a, b, runs[a], runs[b], seed) for a, b in combinations(runs, 2)]
    beside = [pair for pair in found if pair.a in baselines or pair.b in baselines]
    return [*_corrected([pair for pair in found if pair not in beside]), *_corrected(beside)]


def comparison_json(found: Sequence[RunComparison]) -> list[dict[str, Json]]:
    """The content of `comparison.json`."""
    return [asdict(pair) for pair in found]


def _pair(a: str, b: str, of_a: Sequence[FactScore], of_b: Sequence[FactScore], seed: int) -> RunComparison:
    other = {(fact.clip, fact.fact_id): fact.score for fact in of_b}
    common = [(fact, other[fact.clip, fact.fact_id]) for fact in of_a if (fact.clip, fact.fact_id) in other]
    if not common:
        return RunComparison(a=a, b=b, facts=0)
    scores_a, scores_b = [fact.score for fact, _ in common], [score for _, score in common]
    found = compare(scores_a, scores_b, [fact.clip for fact, _ in common], seed=seed)
    return RunComparison(a=a, b=b, **asdict(found))


def _corrected(found: Sequence[RunComparison]) -> list[RunComparison]:
    """With `p_holm`, where there is a p."""
    corrected = iter(holm([pair.p for pair in found if pair.p is not None]))
    return [pair if pair.p is None else replace(pair, p_holm=next(corrected)) for pair in found]
