"""Scorers for rows of SpatialTree-Bench: the published metrics, the corrected ones, and the paper's score of plans."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spatial_engine.scoring import official, strict
from spatial_engine.scoring.published import spatialtree_paper
from spatial_engine.scoring.scorers import Item, ScoredItem, Scorer, Totals
from spatial_engine.scoring.strict.rows import StrictMetric
from templates.answers.score import Score

_STRICT: Mapping[str, StrictMetric] = {
    "gravityeval": strict.gravityeval,
    "multichoiceeval": strict.multichoiceeval,
    "meanrelativeacc": strict.meanrelativeacc,
    "cogmapeval": strict.cogmapeval,
    "gpteval": strict.gpteval,
    "judge": strict.judgemodel,
    "affmask": strict.aff_mask_metric,
    "manipulateeval": strict.manipulateeval,
    "agenticnaveval": strict.agenticnaveval,
}
_TAG = "spatree"


class SpatialTree(Scorer):
    """As lmms-eval's task `spatialtreebench` computes it, with the weights of the paper; invalid plans score 0."""

    source: ClassVar[str] = "the benchmark's nine metrics (lmms-eval, task spatialtreebench), with the paper's weights"
    fields: ClassVar[Mapping[str, str]] = {
        "answer": "the right answer",
        "extra_info": "JSON with metricfunc and the tags spatree0, spatree1, ...",
        "hint": "JSON that the metric needs, or an empty text",
    }

    def score(self, item: Item, response: str) -> Score:
        """The metric that the row names; `judge_reply` of an item is the judge's reply where one scores."""
        judge = [item["judge_reply"]] if "judge_reply" in item else []
        found = official.process_results(item, [response, *judge])["SpaTreeBench"]
        return Score(value=float(found["score"]), detail=found.get("detail", {}))

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """Every node of the tree; `hierarchy_json` is the score with the weights of the published code."""
        items = [{"score": one.score.value, **_tags(one.item)} for one in scored]
        found = official.aggregate(items)
        other = official.aggregate(items, weights="hierarchy-json")["score"]
        return _totals(found, hierarchy_json=other)


class SpatialTreeStrict(Scorer):
    """The same metrics without their known defects (docs/scoring.md)."""

    source: ClassVar[str] = "the same metrics without their quirks; leaves without items are left out of the tree"
    fields: ClassVar[Mapping[str, str]] = SpatialTree.fields
    metrics: ClassVar[Mapping[str, StrictMetric]] = _STRICT

    def score(self, item: Item, response: str) -> Score:
        """The strict metric that the row names; 0 with a `fault` where the row names none."""
        row = _decoded(item["extra_info"])
        name, extra = str(row.get("metricfunc")), _decoded(item["hint"])
        if name == "multichoiceeval" and item.get("question_type") == "open":
            name = "meanrelativeacc"
        elif name == "multichoiceeval":
            extra = {**extra, "option": item.get("option", [])}
        if name not in self.metrics:
            return Score(value=0.0, detail={"fault": f"unknown metric {name[:40]}"})
        text = item.get("judge_reply") if name == "gpteval" else response
        found = self.metrics[name](text, item["answer"], extra)
        return Score(value=found["score"], detail=found["detail"])

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """Every node of the tree that has items, with the published weights."""
        return _totals(strict.aggregate([{"score": one.score.value, **_tags(one.item)} for one in scored]))


class SpatialTreePaper(SpatialTreeStrict):
    """The strict metrics, and plans by the formula of the paper."""

    source: ClassVar[str] = "strict, but plans step by step as in the paper's appendix (v1)"
    metrics: ClassVar[Mapping[str, StrictMetric]] = {
        **_STRICT,
        "manipulateeval": spatialtree_paper.manipulateeval,
        "agenticnaveval": spatialtree_paper.agenticnaveval,
    }


def _totals(found: Mapping[str, Any], **more: Any) -> Totals:
    detail = {name: found[name] for name in ("coverage", "missing", "weights", "detail")}
    return Totals(score=found["score"], categories=found["nodes"], detail={**detail, **more})


def _tags(item: Item) -> dict[str, Any]:
    return {name: value for name, value in _decoded(item["extra_info"]).items() if name.startswith(_TAG)}


def _decoded(text: Any) -> dict[str, Any]:
    """The object in a field that holds JSON; empty if it holds none."""
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return {}
    return dict(found) if isinstance(found, Mapping) else {}
