"""VSI-Bench: choices and numbers about videos of rooms."""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Asked, Benchmark, Human, choice
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from spatial_engine.evaluation.result import Capability
from spatial_engine.scoring.published.vsi_bench import CHOICE, NUMERIC
from templates.columns import Json

_UNITS = {"object_abs_distance": "m", "object_size_estimation": "cm", "room_size_estimation": "m²"}


class VsiBench(Benchmark):
    """Thinking in Space (Yang et al.)."""

    title: ClassVar[str] = "VSI-Bench"
    paper: ClassVar[str] = "2412.14171"
    layout: ClassVar[str] = (
        "lmms-eval (nyu-visionx/VSI-Bench: test.jsonl or parquet, DATASET/SCENE.mp4); VLMEvalKit (TSV)"
    )
    files: ClassVar[Sequence[str]] = ("test.jsonl", "*.jsonl", "*.tsv", "*.parquet", "**/*.parquet")
    columns: ClassVar[Columns] = {
        "answer": ("ground_truth", "answer"),
        "category": ("question_type",),
        "dataset": ("dataset",),
    }
    needed: ClassVar[Sequence[str]] = ("question", "answer", "category")
    scorer: ClassVar[str] = "vsi_bench_vlmevalkit"
    capability: ClassVar[Capability] = "CR"
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "abs_distance": "MM",
        "size_estimation": "MM",
        "object_counting": "MR",
        "rel_distance": "SR",
        "rel_direction": "PT",
    }
    human: ClassVar[Human | None] = None

    def ask(self, fields: Fields) -> Asked:
        """A choice, or a number that is scored by its mean relative accuracy."""
        kind = fields.text("category")
        if kind in CHOICE:
            return choice(fields)
        if kind not in NUMERIC:
            raise BrokenRow("an unknown question_type")
        return number(fields, unit=_UNITS.get(kind, ""))

    def video(self, fields: Fields) -> str | None:
        """The column `video`, else DATASET/SCENE.mp4."""
        given = super().video(fields)
        return given if given is not None else f"{fields.text('dataset')}/{fields.text('scene')}.mp4"

    def scored(self, fields: Fields, asked: Asked) -> Mapping[str, Json]:
        """Its two fields."""
        return {"question_type": fields.text("category"), "ground_truth": str(asked.answer)}


def number(fields: Fields, *, unit: str = "") -> Asked:
    """A number, scored by its mean relative accuracy. Raises `BrokenRow`."""
    try:
        answer = float(fields.text("answer"))
    except ValueError as error:
        raise BrokenRow("the answer is no number") from error
    if not math.isfinite(answer):
        raise BrokenRow("the answer is no number")
    return Asked(
        format="numeric", prompt=fields.text("question"), answer=answer, scorer="relative_number", unit=unit,
        params={"name": "value"},
    )  # fmt: skip
