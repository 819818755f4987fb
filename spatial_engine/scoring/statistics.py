"""Statistics of the whole project: intervals, bounds of rates, agreement beyond chance, and tests of differences.

Questions about one clip are not independent. Bootstraps therefore draw clips, tests flip the signs of whole clips, and
exact bounds count fewer trials (`effective_size`). Everything that is drawn takes a seed: equal input, equal numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

DRAWS = 2000
"""Resamples of a bootstrap."""
FLIPS = 10_000
"""Sign flips that a permutation test draws where there are too many to try all."""
ICC = 0.2
"""Intra-class correlation of the facts of one clip that `effective_size` assumes."""
_ENUMERATED = 13
"""Up to so many clips all 2^n sign flips are tried: the p value is exact."""
_AT_ONCE = 4_000_000
"""Counts drawn in one go (32 MB)."""
_ROUNDING = 1e-12


def clip_interval(
    values: Sequence[float], clips: Sequence[str], *, seed: int, level: float = 0.95, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Percentile limits of the mean of `values` (one per fact; `clips` names the clip of each), by `bootstrap_means`.

    None for fewer than two clips. Does not depend on the order of facts. Raises `ValueError` for values that are not
    finite, or other lengths.
    """
    if len(set(clips)) < 2:
        return None
    means = bootstrap_means(values, clips, seed=seed, draws=draws)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_means(
    values: Sequence[float], clips: Sequence[str], *, seed: int, draws: int = DRAWS
) -> Float64[np.ndarray, "draws"]:
    """Means of a two-stage cluster bootstrap: clips are drawn with replacement, and facts within each of them.

    Davison & Hinkley 1997, Bootstrap Methods and Their Application, §3.8. Resampling in both stages counts the scatter
    within clips a little more than once, so limits are wide; with fewer than about ten clips they are too narrow, as
    those of every cluster bootstrap. A clip's facts are drawn as counts of each distinct value.
    """
    facts = np.asarray(values, dtype=np.float64)
    if len(facts) != len(clips) or not len(facts) or not np.isfinite(facts).all():
        raise ValueError(f"{len(facts)} finite values, one or more, need as many clips, not {len(clips)}")
    _, clip_of_fact = np.unique(np.asarray(clips), return_inverse=True)
    groups = [np.sort(facts[clip_of_fact == clip]) for clip in range(clip_of_fact.max() + 1)]
    rng = np.random.default_rng(seed)
    chosen = resampled_clips(len(groups), draws, rng)
    totals = np.zeros(draws)
    for group, times in zip(groups, chosen.T, strict=True):
        totals += _resampled_sums(group, times, rng)
    return totals / (chosen @ np.array([len(group) for group in groups]))


def resampled_clips(clips: int, draws: int, rng: np.random.Generator) -> Int64[np.ndarray, "draws clips"]:
    """How often each of `clips` clips is drawn, in each resample of as many clips, with replacement."""
    return rng.multinomial(clips, np.full(clips, 1 / clips), size=draws)


def clip_bootstrap_bound(
    hits: Sequence[float], trials: Sequence[float], rng: np.random.Generator, *, level: float = 0.95
) -> float:
    """One-sided upper bound of a rate, by a bootstrap over clips: hits[i] of trials[i] facts of clip i."""
    counts = np.column_stack([hits, trials]).astype(np.float64)
    drawn = counts[rng.integers(len(counts), size=(DRAWS, len(counts)))].sum(axis=1)
    return float(np.quantile(drawn[:, 0] / drawn[:, 1], level))


def effective_size(trials: int, clips: int) -> float:
    """n / (1 + 0.2 (n / c - 1)): what n facts of c clips are worth as independent ones (Kish's design effect)."""
    return trials / (1 + ICC * (trials / clips - 1))


def clopper_pearson(
    hits: float, trials: float, *, tail: float = 0.025, clips: int | None = None
) -> tuple[float, float]:
    """Exact limits of a rate (Clopper & Pearson 1934), each with probability `tail` beyond it; (0, 1) of no trials.

    A one-sided bound is one of the two. With `clips`, hits and trials are scaled to the `effective_size`; they need
    not be whole numbers.
    """
    from scipy.special import betaincinv

    if clips is not None and trials:
        scale = effective_size(int(trials), clips) / trials
        hits, trials = hits * scale, trials * scale
    low = betaincinv(hits, trials - hits + 1, tail) if hits > 0 else 0.0
    high = betaincinv(hits + 1, trials - hits, 1 - tail) if hits < trials else 1.0
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class AnnotatorAgreement:
    """Agreement of two annotators on the questions that both judged."""

    questions: int
    agreement: float
    """Share of questions on which they say the same."""
    kappa: float | None
    """(p_o - p_e) / (1 - p_e); None where both say one word throughout, which says nothing of chance."""
    low: float | None
    """95 % interval of κ."""
    high: float | None


def cohens_kappa(pairs: Sequence[tuple[str, str]], clips: int) -> AnnotatorAgreement | None:
    """Cohen's κ (1960) of pairs of words, with its interval; None without pairs.

    The interval is the wider of the large-sample one (Fleiss, Cohen and Everitt 1969, eq. 15) and of Clopper-Pearson
    on the agreement with p_e held fixed: the first has no width where nobody disagrees. Both use the `effective_size`.
    """
    if not pairs:
        return None
    table = _shares(pairs)
    observed = float(np.trace(table))
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    chance = float(rows @ columns)
    if chance >= 1.0 - _ROUNDING:
        return AnnotatorAgreement(questions=len(pairs), agreement=observed, kappa=None, low=None, high=None)
    kappa = (observed - chance) / (1 - chance)
    size = effective_size(len(pairs), max(clips, 1))
    half_width = 1.959964 * kappa_deviation(table, kappa) / np.sqrt(size)
    exact = [(share - chance) / (1 - chance) for share in clopper_pearson(observed * size, size)]
    return AnnotatorAgreement(
        questions=len(pairs),
        agreement=observed,
        kappa=kappa,
        low=max(-1.0, min(float(kappa - half_width), exact[0])),
        high=min(1.0, max(float(kappa + half_width), exact[1])),
    )


def kappa_deviation(table: Float64[np.ndarray, "k k"], kappa: float) -> float:
    """√(n Var κ) of a table of shares (Fleiss, Cohen and Everitt 1969)."""
    rows, columns, same = table.sum(axis=1), table.sum(axis=0), np.diag(table)
    chance = float(rows @ columns)
    a = same @ (1 - (rows + columns) * (1 - kappa)) ** 2
    crossed = (columns[:, None] + rows[None, :]) ** 2 * table
    b = (1 - kappa) ** 2 * (crossed.sum() - np.trace(crossed))
    c = (kappa - chance * (1 - kappa)) ** 2
    return float(np.sqrt(max(a + b - c, 0.0)) / (1 - chance))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One model's scores beside another's on the same facts."""

    difference: float
    """Mean of a - b."""
    interval: tuple[float, float] | None
    """95 % limits of it, by bootstrap over clips; None for a single clip."""
    p: float
    """p value of a difference if the sign of every clip's difference is random (sign-flip test)."""
    facts: int
    clips: int
    a_better: int
    """Facts on which a scored more, and b: McNemar's discordant counts where scores are right or wrong."""
    b_better: int


def compare(
    a: Sequence[float], b: Sequence[float], clips: Sequence[str], *, seed: int, draws: int = DRAWS, flips: int = FLIPS
) -> Comparison:
    """`a[i]` and `b[i]` are scores of one fact about `clips[i]`. Raises `ValueError` for no facts or other lengths."""
    if not len(a) == len(b) == len(clips) or not len(a):
        raise ValueError(f"{len(a)} and {len(b)} scores of {len(clips)} clips: give equally many, one or more")
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    names, clip_of_fact = np.unique(np.asarray(clips), return_inverse=True)
    return Comparison(
        difference=float(differences.mean()),
        interval=clip_interval(differences.tolist(), clips, seed=seed, draws=draws),
        p=sign_flip_p(np.bincount(clip_of_fact, weights=differences), seed=seed, flips=flips),
        facts=len(differences),
        clips=len(names),
        a_better=int((differences > 0).sum()),
        b_better=int((differences < 0).sum()),
    )


def sign_flip_p(sums: Float64[np.ndarray, "c"], *, seed: int, flips: int = FLIPS) -> float:
    """Two-sided p of the sign-flip permutation test (Fisher 1935) of the sum of `sums`, one per clip.

    Exact for up to 13 clips, else (1 + hits) / (1 + flips).
    """
    seen = abs(sums.sum()) - _ROUNDING * np.abs(sums).sum()
    if len(sums) <= _ENUMERATED:
        signs = 1 - 2 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        return float(np.mean(np.abs(signs @ sums) >= seen))
    rng = np.random.default_rng(seed)
    hits = 0
    for start in range(0, flips, 1000):
        signs = 1 - 2 * rng.integers(0, 2, size=(min(1000, flips - start), len(sums)))
        hits += int(np.count_nonzero(np.abs(signs @ sums) >= seen))
    return (1 + hits) / (1 + flips)


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for their number (Holm 1979, Scand. J. Statist. 6), in the order given.

    The k-th smallest of n is multiplied by n - k + 1, and none falls below a smaller one's.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.maximum.accumulate(np.minimum(1.0, values[order] * np.arange(len(values), 0, -1)))
    return corrected.tolist()


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


def _shares(pairs: Sequence[tuple[str, str]]) -> Float64[np.ndarray, "k k"]:
    """Shares by (first's word, second's word)."""
    words = sorted({word for pair in pairs for word in pair})
    table = np.zeros((len(words), len(words)))
    for first, second in pairs:
        table[words.index(first), words.index(second)] += 1
    return table / len(pairs)
