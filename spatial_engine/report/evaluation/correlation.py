"""Which abilities go together: correlation of leaf scores across models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatial_engine.report.evaluation.standing import Standing
from templates.ability import LEAVES

FEWEST = 3
"""Models; through two points there is always a line."""
FEWEST_FACTS = 5
"""A leaf that rests on fewer is left out: its scores are mostly luck."""
_SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Two leaves."""

    row: int
    column: int
    r: float | None
    """Pearson's; None where all models score alike on one of the two, or fewer than three did both."""
    models: int
    decided: bool
    """Whether it differs from 0 at 5 %, for this pair alone."""


@dataclass(frozen=True, kw_only=True)
class Correlations:
    """Below the diagonal; above it would be the same."""

    leaves: tuple[str, ...]
    cells: tuple[Cell, ...]
    models: int
    least: float
    """|r| from which on it is decided with that many models."""
    thin: tuple[str, ...]
    """Leaves with too few facts, by their last word."""


def correlations(models: Sequence[Standing]) -> Correlations | None:
    """None with fewer than three models, or fewer than two leaves that three of them did."""
    by_leaf = {leaf: [_score(model, leaf) for model in models] for leaf in LEAVES}
    leaves = [leaf for leaf, scores in by_leaf.items() if sum(score is not None for score in scores) >= FEWEST]
    thin = [leaf for leaf in leaves if max(_facts(model, leaf) for model in models) < FEWEST_FACTS]
    leaves = [leaf for leaf in leaves if leaf not in thin]
    if len(models) < FEWEST or len(leaves) < 2:
        return None
    cells = [
        _cell(row, column, by_leaf[leaves[row]], by_leaf[leaves[column]])
        for row in range(1, len(leaves))
        for column in range(row)
    ]
    return Correlations(
        leaves=tuple(leaves), cells=tuple(cells), models=len(models), least=_least(len(models)),
        thin=tuple(leaf.split("/")[2] for leaf in thin),
    )  # fmt: skip


def _score(model: Standing, leaf: str) -> float | None:
    measure = model.leaf(leaf)
    return None if measure is None else measure["score"]


def _facts(model: Standing, leaf: str) -> int:
    measure = model.leaf(leaf)
    return 0 if measure is None else int(measure["facts"])


def _cell(row: int, column: int, a: Sequence[float | None], b: Sequence[float | None]) -> Cell:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    x, y = np.array(both, dtype=np.float64).reshape(-1, 2).T
    r = None
    if len(both) >= FEWEST and np.ptp(x) > 1e-9 and np.ptp(y) > 1e-9:
        r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    return Cell(row=row, column=column, r=r, models=len(both), decided=r is not None and abs(r) >= _least(len(both)))


def _least(models: int) -> float:
    """|r| at which Student's t of Pearson's r, with models - 2 degrees of freedom, reaches 5 % (two-sided)."""
    from scipy.stats import t  # slow to import

    if models < FEWEST:
        return math.inf
    limit = float(t.isf(_SIGNIFICANT / 2, models - 2))
    return limit / math.sqrt(limit**2 + models - 2)
