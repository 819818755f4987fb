"""All runs of an evaluation folder, as few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.evaluation.finished_run import FinishedRun, finished_runs
from spatial_engine.evaluation.result import result


@dataclass(frozen=True, kw_only=True)
class Place:
    """One run among others."""

    name: str
    """Of its folder."""
    score: float | None
    """Mean over facts; None where nothing was scored."""
    interval: Sequence[float] | None
    """95 %; None where a single clip allows none."""
    facts: int
    """It was asked about."""
    baseline: bool


def places(out: Path) -> list[Place]:
    """Best first, models before baselines; runs without scores are left out."""
    found = [place for run in finished_runs(out) if (place := _place(run))]
    return sorted(found, key=lambda place: (place.baseline, -(place.score or 0.0), place.name))


def _place(run: FinishedRun) -> Place | None:
    """`result.json` where it is there and new enough; else its numbers from the scores."""
    kept = run.kept_result()
    if kept is None:
        items, _ = run.scores()
        if not items:
            return None
        kept = result(items, run=run.record)
    overall = kept["overall"]
    return Place(
        name=run.name,
        score=overall["score"],
        interval=overall["interval"],
        facts=overall["facts"],
        baseline=run.baseline,
    )
