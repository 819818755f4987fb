"""The tables of an evaluation: the leaderboard, the tree of abilities, and how abilities correlate across models."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spatial_engine.evaluation.comparison import RunComparison
from spatial_engine.report.evaluation.run_summary import RunSummary
from templates.ability import LEAVES, LEVELS, TREE

SIGNIFICANT = 0.05
FEWEST_MODELS = 3
"""Least models for a correlation: two points always lie on a line."""
FEWEST_FACTS = 5
"""Least facts of a leaf in the correlations; with fewer its scores are mostly noise."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A run in the leaderboard."""

    run: RunSummary
    rank: int | None
    """Rank from 1; None for baselines."""
    to_best: RunComparison | None
    """Comparison with the best model; None for the best model itself, and without common facts."""
    tied: bool
    """Whether the difference to the best model is not significant."""


def leaderboard(runs: Sequence[RunSummary], pairs: Mapping[tuple[str, str], RunComparison]) -> list[Row]:
    """`runs`: best first, baselines last. `pairs`: by both names, in either order."""
    models = [run for run in runs if not run.baseline]
    found = []
    for index, run in enumerate(runs):
        pair = pairs.get((run.name, models[0].name)) if models and run is not models[0] else None
        tied = not run.baseline and pair is not None and pair.p_holm is not None and pair.p_holm >= SIGNIFICANT
        found.append(Row(run=run, rank=None if run.baseline else index + 1, to_best=pair, tied=tied))
    return found


@dataclass(frozen=True, kw_only=True)
class Node:
    """A cell of the tree."""

    name: str
    path: str
    rows: int
    """Leaves below it."""
    measure: Mapping[str, Any] | None
    """None if it was not asked."""
    note: str = ""
    """What a level means."""


def tree(result: Mapping[str, Any]) -> list[list[Node]]:
    """One row per leaf: the leaf, preceded by its level and branch where these begin."""
    table: list[list[Node]] = []
    for level, branches in TREE.items():
        count, measure = sum(map(len, branches.values())), result["levels"].get(level)
        starts = [Node(name=level, path=level, rows=count, measure=measure, note=LEVELS[level])]
        for branch, leaves in branches.items():
            path = f"{level}/{branch}"
            starts.append(Node(name=branch, path=path, rows=len(leaves), measure=result["branches"].get(path)))
            for leaf in leaves:
                path = f"{level}/{branch}/{leaf}"
                table.append([*starts, Node(name=leaf, path=path, rows=1, measure=result["leaves"].get(path))])
                starts = []
    return table


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """The correlation of two leaves."""

    r: float | None
    """Pearson's r; None if all models have the same score on one leaf, or if fewer than three have both."""
    models: int
    significant: bool
    """Whether r differs from 0 at 5 %, without correction for the number of pairs."""


@dataclass(frozen=True, kw_only=True)
class Correlations:
    """The correlations of all pairs of leaves."""

    leaves: tuple[str, ...]
    rows: tuple[tuple[Correlation, ...], ...]
    """Row i: leaf i + 1 with leaves 0 to i."""
    models: int
    least: float
    """Least significant |r| for that number of models."""
    skipped: tuple[str, ...]
    """Names of leaves with too few facts."""


def correlations(models: Sequence[RunSummary]) -> Correlations | None:
    """None with fewer than three models, or with fewer than two leaves that three models share."""
    scores = {leaf: [_score(model, leaf) for model in models] for leaf in LEAVES}
    asked = [leaf for leaf in LEAVES if sum(score is not None for score in scores[leaf]) >= FEWEST_MODELS]
    leaves = [leaf for leaf in asked if max(_facts(model, leaf) for model in models) >= FEWEST_FACTS]
    if len(models) < FEWEST_MODELS or len(leaves) < 2:
        return None
    return Correlations(
        leaves=tuple(leaves),
        rows=tuple(
            tuple(_correlation(scores[leaves[row]], scores[leaves[column]]) for column in range(row))
            for row in range(1, len(leaves))
        ),
        models=len(models),
        least=_least(len(models)),
        skipped=tuple(leaf.split("/")[2] for leaf in asked if leaf not in leaves),
    )


def _score(model: RunSummary, leaf: str) -> float | None:
    measure = model.leaf(leaf)
    return None if measure is None else measure["score"]


def _facts(model: RunSummary, leaf: str) -> int:
    measure = model.leaf(leaf)
    return 0 if measure is None else int(measure["facts"])


def _correlation(a: Sequence[float | None], b: Sequence[float | None]) -> Correlation:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    x, y = np.array(both, dtype=np.float64).reshape(-1, 2).T
    r = None
    if len(both) >= FEWEST_MODELS and np.ptp(x) > 1e-9 and np.ptp(y) > 1e-9:
        r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    return Correlation(r=r, models=len(both), significant=r is not None and abs(r) >= _least(len(both)))


def _least(models: int) -> float:
    """|r| at which Student's t of Pearson's r, with models - 2 degrees of freedom, reaches 5 % (two-sided)."""
    from scipy.stats import t  # slow to import

    if models < FEWEST_MODELS:
        return math.inf
    limit = float(t.isf(SIGNIFICANT / 2, models - 2))
    return limit / math.sqrt(limit**2 + models - 2)
