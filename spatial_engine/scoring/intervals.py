"""How sure a mean is: questions about one clip hang together, so clips are resampled, and facts within them.

Two-stage cluster bootstrap (Davison & Hinkley 1997, Bootstrap Methods and Their Application, §3.8) with percentile
limits. Resampling in both stages counts the scatter within clips a little more than once: limits err on the wide side,
save for fewer than about ten clips, where every bootstrap of clusters is too narrow.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64

DRAWS = 2000
_AT_ONCE = 4_000_000
"""Counts drawn in one go (32 MB)."""


def clip_interval(
    values: Sequence[float], clips: Sequence[str], *, seed: int, level: float = 0.95, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Limits of the mean of `values` (one a fact; `clips` names the clip of each). None for fewer than two clips.

    Does not depend on the order of facts. Raises `ValueError` for values that are not finite, or other lengths.
    """
    if len(set(clips)) < 2:
        return None
    means = bootstrap_means(values, clips, seed=seed, draws=draws)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_means(
    values: Sequence[float], clips: Sequence[str], *, seed: int, draws: int = DRAWS
) -> Float64[np.ndarray, "draws"]:
    """Means of `draws` resamples: as many clips as there are, with replacement, and of each as many facts as it has.

    A clip's facts are drawn as counts of each distinct value: for right and wrong that is one binomial number.
    """
    facts = np.asarray(values, dtype=np.float64)
    if len(facts) != len(clips) or not len(facts) or not np.isfinite(facts).all():
        raise ValueError(f"{len(facts)} finite values, one or more, need as many clips, not {len(clips)}")
    _, clip_of_fact = np.unique(np.asarray(clips), return_inverse=True)
    groups = [np.sort(facts[clip_of_fact == clip]) for clip in range(clip_of_fact.max() + 1)]
    rng = np.random.default_rng(seed)
    chosen = rng.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=draws)
    totals = np.zeros(draws)
    for group, times in zip(groups, chosen.T, strict=True):
        totals += _resampled_sums(group, times, rng)
    return totals / (chosen @ np.array([len(group) for group in groups]))


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Exact limits of a rate of independent trials (Clopper & Pearson 1934); (0, 1) of no trials."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = betaincinv(successes, trials - successes + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - tail) if successes < trials else 1.0
    return float(low), float(high)


def _resampled_sums(
    group: Float64[np.ndarray, "n"], times: Int64[np.ndarray, "draws"], rng: np.random.Generator
) -> Float64[np.ndarray, "draws"]:
    """Sum of `times` · n facts drawn from a clip, for each draw."""
    distinct, counts = np.unique(group, return_counts=True)
    shares = counts / counts.sum()
    rows = max(1, _AT_ONCE // len(distinct))
    parts = [
        rng.multinomial(times[start : start + rows] * len(group), shares) @ distinct
        for start in range(0, len(times), rows)
    ]
    return np.concatenate(parts)
