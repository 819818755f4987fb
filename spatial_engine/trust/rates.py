"""How often labels are wrong, with an upper bound that knows that facts of one clip are no independent trials."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spatial_engine.scoring.statistics import clip_bootstrap_bound, clopper_pearson
from spatial_engine.trust.verdict import Verdict

LEVEL = 0.95
"""Of one-sided upper bounds."""


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
        bound=_upper_bound(decided, rng) if n else None,
    )


def _upper_bound(wrong_by_clip: Mapping[str, list[bool]], rng: np.random.Generator) -> float:
    """The larger of both 95 % upper bounds."""
    facts = [wrong for _, wrong in sorted(wrong_by_clip.items())]
    wrong, trials = list(map(sum, facts)), list(map(len, facts))
    _, exact = clopper_pearson(sum(wrong), sum(trials), tail=1 - LEVEL, clips=len(facts))
    return max(exact, clip_bootstrap_bound(wrong, trials, rng, level=LEVEL))
