"""What the official scorer gives to right answers, measured by running it: a leaf where that is not 1.0 is named."""

import json
import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from spatial_engine.export.exporter import counted
from spatial_engine.scoring import official
from templates.measured import Json

_EXACT = 1e-9


class OracleReport:
    """Collects, per leaf, rows with the score of their right answer, and what could not become a row."""

    def __init__(self) -> None:
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._why: dict[str, list[str]] = defaultdict(list)

    def answer(self, leaf: str, row: Mapping[str, Json]) -> None:
        """Answers a row rightly and takes down what the official scorer says."""
        item = official.process_results(row, [right_response(row)])["SpaTreeBench"]
        self._scores[leaf].append(float(item["score"]))
        if not math.isclose(item["score"], 1.0, abs_tol=_EXACT):
            self._why[leaf].append(_reason(row))

    def left_out(self, leaf: str, reason: str) -> None:
        """Takes down a question that has no row."""
        self._why[leaf].append(f"left out: {reason}")

    def by_leaf(self) -> dict[str, Json]:
        """Per leaf: rows, the mean score of right answers (null without rows), and why it or they fall short."""
        return {
            leaf: {
                "rows": len(scores := self._scores.get(leaf, [])),
                "score": round(sum(scores) / len(scores), 9) if scores else None,
                "why": counted(self._why.get(leaf, ())),
            }
            for leaf in sorted({*self._scores, *self._why})
        }


def right_response(row: Mapping[str, Json]) -> str:
    """A reply that is right and obeys the official prompt of its metric."""
    match json.loads(row["extra_info"])["metricfunc"]:
        case "multichoiceeval":
            return f"answer: {row['answer']}"
        case "meanrelativeacc":
            return np.format_float_positional(float(row["answer"]), trim="-")  # the scorer reads no exponents
        case "gravityeval" | "agenticnaveval":
            return f"```json\n{row['answer']}\n```"
    return str(row["answer"])


def _reason(row: Mapping[str, Json]) -> str:
    metric = json.loads(row["extra_info"])["metricfunc"]
    if metric == "gravityeval" and any(sigma <= 0 for sigma in json.loads(row["hint"]).values()):
        return "the official gravity score is 0 where σ is 0"
    return f"the official {metric} gives its own right answer less than 1"
