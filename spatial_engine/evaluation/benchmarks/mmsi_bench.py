"""MMSI-Bench: choices about several photos of one place."""

from collections.abc import Mapping
from typing import ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Benchmark, Human
from spatial_engine.evaluation.benchmarks.fields import Columns
from spatial_engine.evaluation.result import Capability


class MmsiBench(Benchmark):
    """MMSI-Bench (Yang et al.)."""

    title: ClassVar[str] = "MMSI-Bench"
    paper: ClassVar[str] = "2505.23764"
    layout: ClassVar[str] = "its README (RunsenXu/MMSI-Bench: MMSI_Bench.parquet); VLMEvalKit (TSV)"
    columns: ClassVar[Columns] = {"category": ("category", "question_type")}
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "Attr-Meas": "MM",
        "Attribute (Meas": "MM",
        "Attr": "MR",
        "Motion": "CR",
        "MSR": "CR",
        "Multi-Step": "CR",
        "Cam": "PT",
        "Pos": "SR",
    }
    human: ClassVar[Human | None] = Human(score=0.972, source="README of InternRobotics/MMSI-Bench, leaderboard")
