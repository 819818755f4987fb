"""OmniSpatial: choices about one picture."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Benchmark, Human
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.result import Capability


class OmniSpatial(Benchmark):
    """OmniSpatial (Jia et al.)."""

    title: ClassVar[str] = "OmniSpatial"
    paper: ClassVar[str] = "2506.03135"
    layout: ClassVar[str] = "its README and api_eval.py (data.json, TASK/ID.png); lmms-eval (parquet); VLMEvalKit (TSV)"
    files: ClassVar[Sequence[str]] = ("data.json", "*/data.json", "*.tsv", "**/*.parquet", "*.jsonl")
    columns: ClassVar[Columns] = {
        "answer": ("gt", "answer"),
        "category": ("sub_task_type", "task_type"),
        "task": ("task_type",),
    }
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "Egocentric": "SR",
        "Allocentric": "PT",
        "Hypothetical": "PT",
        "Geometric": "DA",
        "Pattern": "DA",
        "Localization": "SR",
    }
    human: ClassVar[Human | None] = Human(score=0.926, source="README of qizekun/OmniSpatial, leaderboard")

    def images(self, fields: Fields) -> Any:
        """The column of pictures, else TASK/ID.png with the part of the id before "_"."""
        given = super().images(fields)
        name = fields.text("id").partition("_")[0]
        return given if given is not None else f"{fields.text('task')}/{name}.png"
