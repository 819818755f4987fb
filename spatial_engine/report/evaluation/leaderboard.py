"""The table of runs: who is best, by how much, and whether that is more than chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spatial_engine.evaluation.pairs import Pair
from spatial_engine.report.evaluation.standing import Standing

SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class Row:
    """A run in the table."""

    run: Standing
    place: int | None
    """From 1; None for baselines."""
    ink: int | None
    to_best: Pair | None
    """Against the best model; None for itself and where nothing was asked of both."""
    tied: bool
    """Not to be told from the best model."""


def rows(runs: Sequence[Standing], pairs: Mapping[tuple[str, str], Pair]) -> list[Row]:
    """`runs`: best first, baselines last. `pairs`: by both names, in either order."""
    models = [run for run in runs if not run.baseline]
    found = []
    for index, run in enumerate(runs):
        pair = pairs.get((run.name, models[0].name)) if models and run is not models[0] else None
        found.append(
            Row(
                run=run,
                place=None if run.baseline else index + 1,
                ink=None if run.baseline else index,
                to_best=pair,
                tied=not run.baseline and pair is not None and pair.p_holm is not None and pair.p_holm >= SIGNIFICANT,
            )
        )
    return found
