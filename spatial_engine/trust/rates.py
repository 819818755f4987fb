"""How often labels are wrong, with an upper bound that knows that facts of one clip are no independent trials."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spatial_engine.trust.verdict import Verdict

LEVEL = 0.95
"""Of one-sided upper bounds."""
ALIKE = 0.2
"""Intra-clip correlation that n_eff assumes: n / (1 + 0.2 (facts per clip - 1))."""
_DRAWS = 2000


@dataclass(frozen=True, kw_only=True)
class WrongRate:
    """Wrong answers among those that truth decides, counted in facts: a fact is wrong if any of its formats is."""

    right: int
    wrong: int
    undecidable: int
    """Facts of which truth decides no format."""
    clips: int
    """That hold a decided fact."""
    bound: float | None
    """95 % upper bound of the rate: the larger of Clopper-Pearson with n_eff and the bootstrap over clips; None where
    nothing was decided."""

    @property
    def rate(self) -> float | None:
        """wrong / (right + wrong)."""
        decided = self.right + self.wrong
        return self.wrong / decided if decided else None


def wrong_rate(verdicts: list[Verdict], rng: np.random.Generator) -> WrongRate:
    """The rate over some verdicts."""
    words: dict[tuple[str, str], set[str]] = {}
    for verdict in verdicts:
        words.setdefault((verdict.clip, verdict.fact_id), set()).add(verdict.word)
    decided: dict[str, list[bool]] = {}
    for (clip, _), said in words.items():
        if said & {"right", "wrong"}:
            decided.setdefault(clip, []).append("wrong" in said)
    n, wrong = sum(map(len, decided.values())), sum(map(sum, decided.values()))
    return WrongRate(
        right=n - wrong,
        wrong=wrong,
        undecidable=len(words) - n,
        clips=len(decided),
        bound=None if n == 0 else max(clopper_pearson(wrong, n, len(decided)), _bootstrap(decided, rng)),
    )


def clopper_pearson(wrong: int, n: int, clips: int) -> float:
    """Exact one-sided upper bound of a rate (Clopper and Pearson 1934), with n_eff trials for n facts of some clips."""
    from scipy.stats import beta

    shrink = 1 + ALIKE * (n / clips - 1)
    n_eff, wrong_eff = n / shrink, wrong / shrink
    return 1.0 if wrong_eff >= n_eff else float(beta.ppf(LEVEL, wrong_eff + 1, n_eff - wrong_eff))


def _bootstrap(decided: Mapping[str, list[bool]], rng: np.random.Generator) -> float:
    """Upper quantile of the rate over clips drawn with replacement."""
    counts = np.array([(sum(wrong), len(wrong)) for _, wrong in sorted(decided.items())], dtype=float)
    drawn = counts[rng.integers(len(counts), size=(_DRAWS, len(counts)))].sum(axis=1)
    return float(np.quantile(drawn[:, 0] / drawn[:, 1], LEVEL))
