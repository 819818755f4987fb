"""One run as the pages show it: its result, and of its items what charts and tables are made of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from statistics import fmean
from typing import Any

from spatial_engine.evaluation.fact_scores import FactScore, fact_scores, grouped
from spatial_engine.evaluation.result import result
from spatial_engine.evaluation.runs import FinishedRun
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.report.cards import Sample, sample
from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run that has scores."""

    name: str
    """The run's folder: unique."""
    model: str
    """What `run.json` calls the model; may be the same in several runs."""
    slug: str
    """Stem of its page: safe in every file system and address."""
    baseline: bool
    result: Mapping[str, Any]
    items: Sequence[ScoredItem]
    """Without responses: they may be long, and only those in `answers` are shown."""
    answers: Sample
    damaged: int
    """Lines of `scores.jsonl` that could not be read."""

    @property
    def score(self) -> float:
        """Mean over facts."""
        return float(self.result["overall"]["score"])

    @cached_property
    def facts(self) -> list[FactScore]:
        """One row a fact."""
        return fact_scores(self.items)

    @cached_property
    def questions(self) -> dict[str, float]:
        """Score by question, mean over rotations."""
        return {id: fmean(item.score for item in items) for id, items in grouped(self.items, lambda i: i.id).items()}

    def leaf(self, path: str) -> Mapping[str, Any] | None:
        """Measures of one leaf, None where nothing was asked."""
        return self.result["leaves"].get(path)


def run_summary(run: FinishedRun, answers: Mapping[str, Json]) -> RunSummary | None:
    """None where a run has no scores yet."""
    items, damaged = run.scores()
    if not items:
        return None
    return RunSummary(
        name=run.name,
        model=str(run.record.get("model") or run.name),
        slug=slug(run.name),
        baseline=run.baseline,
        result=run.kept_result() or result(items, run=run.record, answers=answers),
        answers=sample(items),
        items=[replace(item, response=None, extracted=None, detail={}) for item in items],
        damaged=damaged,
    )


def slug(name: str) -> str:
    """Letters, digits and dashes, told apart by a hash."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40]
    return f"{plain or 'run'}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def ranked(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Best first, models before baselines."""
    return sorted(runs, key=lambda run: (run.baseline, -run.score, run.name))
