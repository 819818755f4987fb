"""Rows that lmms-eval's task `spatialtreebench` reads, scored by its own metrics.

A row has question, option, answer, question_type, hint, extra_info, image, video, video_info; `hint` and
`extra_info` are JSON strings. Media stand in `images/`: set SPATREEBENCH_MEDIA_ROOT to the folder.
"""

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.export.exporter import Exported, counted, write_rows
from spatial_engine.output_folder import place_file
from spatial_engine.scoring import official
from spatial_engine.scoring.official.row import image_path, row
from templates.answers.score import Unscored
from templates.columns import Json

ROWS = "test.jsonl"
_EXACT = 1e-9
_README = """\
Rows for the task `spatialtreebench` of lmms-eval, in `test.jsonl`; pictures in `images/`.

Point the task's `dataset_path` at `json` with `data_files: {test: .../test.jsonl}`, and set `SPATREEBENCH_MEDIA_ROOT`
to this folder. Its root score counts leaves without rows as zero: compare leaves, not the root.
What could not be put into rows, and why, stands in `export_report.json`; its `oracle` says per leaf what the official
scorer gives to right answers.
"""


def export_spatialtree(dataset: Dataset, folder: Path) -> Exported:
    """Writes `test.jsonl`, `images/` and a README into `folder`."""
    (folder / "images").mkdir()
    rows, left_out, oracle = [], [], OracleReport()
    for question in dataset.questions:
        made = row(question)
        if isinstance(made, Unscored):
            left_out.append(made.reason)
            oracle.left_out(question.ability, made.reason)
            continue
        rows.append(made)
        oracle.answer(question.ability, made)
        for medium in question.media:
            target = folder / image_path(medium["path"])
            if not target.exists():
                place_file(dataset.path / medium["path"], target)
    write_rows(folder / ROWS, rows)
    (folder / "README.md").write_text(_README, encoding="utf-8")
    return Exported(
        rows=len(rows),
        left_out=counted(left_out),
        files=(ROWS, "images", "README.md"),
        detail={"oracle": oracle.by_leaf()},
    )


class OracleReport:
    """What the official scorer gives to right answers, measured by running it: per leaf, and why it is not 1.0."""

    def __init__(self) -> None:
        self._scores: dict[str, list[float]] = defaultdict(list)
        self._why: dict[str, list[str]] = defaultdict(list)

    def answer(self, leaf: str, row: Mapping[str, Json]) -> None:
        """Scores the right answer of a row."""
        if json.loads(row["extra_info"])["metricfunc"] == "gpteval":
            self._why[leaf].append("a judge model scores it")
            return
        item = official.process_results(row, [right_response(row)])["SpaTreeBench"]
        self._scores[leaf].append(float(item["score"]))
        if not math.isclose(item["score"], 1.0, abs_tol=_EXACT):
            self._why[leaf].append(_reason(row))

    def left_out(self, leaf: str, reason: str) -> None:
        """Counts a question that has no row."""
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
        case "gravityeval" | "agenticnaveval" | "manipulateeval":
            return f"```json\n{row['answer']}\n```"
        case "cogmapeval":
            right_map = json.dumps(json.loads(row["hint"])["cogmap"])
            return f"```json\n{right_map}\n```\n<Answer>My answer is {row['answer']}</Answer>"
        case "affmask":
            return str(json.loads(row["hint"])["point"])
    return str(row["answer"])


def _reason(row: Mapping[str, Json]) -> str:
    metric = json.loads(row["extra_info"])["metricfunc"]
    if metric == "gravityeval" and any(sigma <= 0 for sigma in json.loads(row["hint"]).values()):
        return "the official gravity score is 0 where σ is 0"
    return f"the official {metric} gives its own right answer less than 1"
