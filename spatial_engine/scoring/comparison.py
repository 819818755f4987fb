"""Two models on the same facts: by how much they differ, how sure that is, and whether chance would do as much."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from spatial_engine.scoring.intervals import DRAWS, clip_interval

FLIPS = 10_000
_ENUMERATED = 13
"""With so few clips all 2^n flips are taken: the p value is exact."""
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a model's scores are worth beside another's on the same facts."""

    difference: float
    """Mean of a - b."""
    interval: tuple[float, float] | None
    """95 % limits of it, by bootstrap over clips; None for a single clip."""
    p: float
    """How often at least this difference comes about where the sign of every clip's difference is a toss-up."""
    facts: int
    clips: int
    a_better: int
    """Facts on which a scored more, and b: McNemar's discordant counts where scores are right or wrong."""
    b_better: int


def compare(
    a: Sequence[float], b: Sequence[float], clips: Sequence[str], *, seed: int, draws: int = DRAWS, flips: int = FLIPS
) -> Comparison:
    """`a[i]` and `b[i]` are scores of one fact about `clips[i]`. Raises `ValueError` for no facts or other lengths.

    p is that of the two-sided sign-flip permutation test over clips (Fisher 1935; questions about one clip are flipped
    together, for they are not independent).
    """
    if not len(a) == len(b) == len(clips) or not len(a):
        raise ValueError(f"{len(a)} and {len(b)} scores of {len(clips)} clips: give equally many, one or more")
    apart = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    names, clip_of_fact = np.unique(np.asarray(clips), return_inverse=True)
    return Comparison(
        difference=float(apart.mean()),
        interval=clip_interval(apart.tolist(), clips, seed=seed, draws=draws),
        p=sign_flip_p(np.bincount(clip_of_fact, weights=apart), seed=seed, flips=flips),
        facts=len(apart),
        clips=len(names),
        a_better=int((apart > 0).sum()),
        b_better=int((apart < 0).sum()),
    )


def sign_flip_p(sums: Float64[np.ndarray, "c"], *, seed: int, flips: int = FLIPS) -> float:
    """Two-sided p of the sum of `sums` under random signs: exact for up to 13, else (1 + hits) / (1 + flips)."""
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
