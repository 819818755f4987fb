"""Cohen's κ: how far two annotators agree beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatial_engine.trust.rates import ALIKE

_TAIL = 0.025
"""Of each side of a 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Of two annotators on the questions that both judged."""

    questions: int
    agreement: float
    """Share of questions on which they say the same."""
    kappa: float | None
    """(p_o - p_e) / (1 - p_e); None where both say one word throughout, which says nothing of chance."""
    low: float | None
    """95 % interval of κ."""
    high: float | None


def cohens_kappa(pairs: Sequence[tuple[str, str]], clips: int) -> Agreement | None:
    """κ of pairs of words (Cohen 1960), with its interval; None without pairs.

    The interval is the wider of the large-sample one (Fleiss, Cohen and Everitt 1969, eq. 15) and of Clopper-Pearson
    on the agreement with p_e held: the first has no width where nobody disagrees. Both count n / (1 + 0.2 (questions
    per clip - 1)) trials, for questions of one clip are alike.
    """
    if not pairs:
        return None
    p = _table(pairs)
    observed = float(np.trace(p))
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    chance = float(rows @ columns)
    if chance >= 1.0 - 1e-12:
        return Agreement(questions=len(pairs), agreement=observed, kappa=None, low=None, high=None)
    kappa = (observed - chance) / (1 - chance)
    n_eff = len(pairs) / (1 + ALIKE * (len(pairs) / max(clips, 1) - 1))
    spread = 1.959964 * _deviation(p, rows, columns, kappa, chance) / np.sqrt(n_eff)
    exact = [(share - chance) / (1 - chance) for share in _clopper_pearson(observed, n_eff)]
    return Agreement(
        questions=len(pairs),
        agreement=observed,
        kappa=kappa,
        low=max(-1.0, min(float(kappa - spread), exact[0])),
        high=min(1.0, max(float(kappa + spread), exact[1])),
    )


def _table(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Shares by (first's word, second's word)."""
    words = sorted({word for pair in pairs for word in pair})
    table = np.zeros((len(words), len(words)))
    for first, second in pairs:
        table[words.index(first), words.index(second)] += 1
    return table / len(pairs)


def _deviation(p: np.ndarray, rows: np.ndarray, columns: np.ndarray, kappa: float, chance: float) -> float:
    """√(n Var κ), Fleiss, Cohen and Everitt 1969."""
    same = np.diag(p)
    a = same @ (1 - (rows + columns) * (1 - kappa)) ** 2
    crossed = (columns[:, None] + rows[None, :]) ** 2 * p
    b = (1 - kappa) ** 2 * (crossed.sum() - np.trace(crossed))
    c = (kappa - chance * (1 - kappa)) ** 2
    return float(np.sqrt(max(a + b - c, 0.0)) / (1 - chance))


def _clopper_pearson(share: float, n: float) -> tuple[float, float]:
    """Both ends of the exact interval (Clopper and Pearson 1934)."""
    from scipy.stats import beta

    hits = share * n
    low = 0.0 if hits <= 0 else float(beta.ppf(_TAIL, hits, n - hits + 1))
    return low, 1.0 if hits >= n else float(beta.ppf(1 - _TAIL, hits + 1, n - hits))
