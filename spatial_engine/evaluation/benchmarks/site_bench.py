"""SITE: choices about one picture, several, or a video."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Benchmark
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields, listed
from spatial_engine.evaluation.result import Capability

_VIDEO = (".mp4", ".mov", ".avi", ".mkv", ".webm")


class SiteBench(Benchmark):
    """SITE (Wang et al.)."""

    title: ClassVar[str] = "SITE"
    paper: ClassVar[str] = "2505.05456"
    layout: ClassVar[str] = (
        "lmms-eval (franky-veteran/SITE-Bench: pictures and videos in `visual`); VLMEvalKit (two TSV)"
    )
    files: ClassVar[Sequence[str]] = ("*.tsv", "**/*test*.parquet", "**/*.parquet", "*.jsonl", "*.json")
    columns: ClassVar[Columns] = {
        "images": ("image", "image_path", "visual"),
        "video": ("video_path", "video", "visual"),
    }
    scorer: ClassVar[str] = "site_vlmevalkit"
    capability: ClassVar[Capability] = "CR"
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "3d information": "MM",
        "multi-view": "PT",
        "spatial relationship": "SR",
        "localization": "SR",
    }

    def images(self, fields: Fields) -> Any:
        """The pictures, where it shows no video."""
        return None if self.video(fields) is not None else super().images(fields)

    def video(self, fields: Fields) -> str | None:
        """The video: the only file of `visual`, or a column of its own."""
        given = fields.get("video")
        first = str((listed(given) or [given])[0])
        return first if first.lower().endswith(_VIDEO) else None
