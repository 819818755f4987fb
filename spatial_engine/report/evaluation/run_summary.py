"""One run for the pages: its result, and the data of charts and tables."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from statistics import fmean
from typing import Any

from spatial_engine.evaluation.fact_scores import FactScore, fact_scores, grouped
from spatial_engine.evaluation.result import result
from spatial_engine.evaluation.runs import CLAIMS, FinishedRun
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.report.cards import Sample, sample
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run that has scores."""

    name: str
    """Name of the folder of the run, which is unique."""
    model: str
    """Name of the model in `run.json`; several runs may have the same."""
    slug: str
    """Stem of the file of its page: valid in every file system and URL."""
    baseline: bool
    hints: Sequence[str]
    """Kinds of hints in the prompts."""
    hint_pictures: Sequence[str]
    """Kinds of hints shown as pictures."""
    result: Mapping[str, Any]
    items: Sequence[ScoredItem]
    """Items without responses; only those in `answers` are shown."""
    answers: Sample
    judged: Sample
    """Free text that a judge scored; it is in no score but `result["judged"]`."""
    damaged: int
    """Number of unreadable lines of `scores.jsonl` and `claims.jsonl`."""

    @property
    def score(self) -> float:
        """Mean over facts."""
        return float(self.result["overall"]["score"])

    @property
    def shown(self) -> Sequence[ScoredItem]:
        """The answers of its page."""
        return [*self.answers.shown, *self.judged.shown]

    @cached_property
    def facts(self) -> list[FactScore]:
        """One row per fact."""
        return fact_scores(self.items)

    @cached_property
    def questions(self) -> dict[str, float]:
        """Score by question, mean over rotations."""
        return {id: fmean(item.score for item in items) for id, items in grouped(self.items, lambda i: i.id).items()}

    def leaf(self, path: str) -> Mapping[str, Any] | None:
        """Metrics of one leaf; None if it was not asked."""
        return self.result["leaves"].get(path)


def run_summary(run: FinishedRun, answers: Mapping[str, Json]) -> RunSummary | None:
    """None if the run has no scores yet."""
    (items, damaged), (judged, broken) = run.scores(), run.scores(CLAIMS)
    if not items:
        return None
    return RunSummary(
        name=run.name,
        model=str(run.record.get("model") or run.name),
        slug=slug(run.name),
        baseline=run.baseline,
        hints=run.record.get("hints") or (),
        hint_pictures=run.record.get("hint_pictures") or (),
        result=run.kept_result() or result(items, run=run.record, answers=answers, judged=judged),
        answers=sample(items),
        judged=sample(judged),
        items=[replace(item, response=None, extracted=None, detail={}) for item in items],
        damaged=damaged + broken,
    )


def slug(name: str) -> str:
    """Letters, digits and dashes, with a hash that makes it unique."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40]
    return f"{plain or 'run'}-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def ranked(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Best first, models before baselines."""
    return sorted(runs, key=lambda run: (run.baseline, -run.score, run.name))
