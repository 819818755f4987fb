"""STARE: choices about visual simulations, from flat shapes to folded nets."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Benchmark
from spatial_engine.evaluation.benchmarks.fields import Columns
from spatial_engine.evaluation.result import Capability


class Stare(Benchmark):
    """STARE (Li et al.)."""

    title: ClassVar[str] = "STARE"
    paper: ClassVar[str] = "2506.04633"
    layout: ClassVar[str] = "its README and lmms-eval (kuvvi/STARE: parquet); VLMEvalKit (TSV)"
    files: ClassVar[Sequence[str]] = ("*.tsv", "All/*.parquet", "**/*.parquet", "*.jsonl")
    columns: ClassVar[Columns] = {"id": ("index", "qid", "pid", "id")}
    needed: ClassVar[Sequence[str]] = ("question", "answer", "category")
    scorer: ClassVar[str] = "stare"
    capability: ClassVar[Capability] = "DA"
    capabilities: ClassVar[Mapping[str, Capability]] = {"perspective": "PT", "temporal": "CR", "2d": "SR", "3d": "MR"}
