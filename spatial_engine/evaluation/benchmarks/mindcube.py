"""MindCube and MindCube-Tiny: choices about a place seen from a few sides."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Benchmark
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.result import Capability

_SETTINGS = ("among", "around", "rotation")


class MindCube(Benchmark):
    """MindCube (Yin et al.)."""

    title: ClassVar[str] = "MindCube"
    paper: ClassVar[str] = "2506.21458"
    layout: ClassVar[str] = "its repository (MindCube.jsonl); lmms-eval (parquet); VLMEvalKit (TSV)"
    files: ClassVar[Sequence[str]] = (
        "MindCube.jsonl", "raw/MindCube.jsonl", "*_raw_qa.tsv", "*.tsv", "**/*.parquet", "*.jsonl",
    )  # fmt: skip
    columns: ClassVar[Columns] = {
        "id": ("id", "index"),
        "question": ("question", "input_prompt"),
        "answer": ("gt_answer", "answer"),
        "images": ("image", "images", "image_path"),
    }
    capability: ClassVar[Capability] = "MR"
    capabilities: ClassVar[Mapping[str, Capability]] = {"rotation": "PT", "among": "MR", "around": "MR"}

    def category(self, fields: Fields) -> str:
        """The setting: how the id begins, else the column `category`."""
        for text in (str(fields.get("id")), str(fields.get("category"))):
            if found := next((setting for setting in _SETTINGS if setting in text.lower()), None):
                return found
        return "other"


class MindCubeTiny(MindCube):
    """Its test set of 1050 items."""

    title: ClassVar[str] = "MindCube-Tiny"
    files: ClassVar[Sequence[str]] = (
        "MindCube_tinybench.jsonl", "raw/MindCube_tinybench.jsonl", "*tiny*.tsv", "**/*tiny*.parquet", "tiny/*.parquet",
    )  # fmt: skip
