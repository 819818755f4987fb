"""SpatialViz-Bench: choices about drawings to be turned, folded, cut and moved in the mind."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Benchmark, Human
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.result import Capability

_PARTS = ("family", "category", "level", "picture")


class SpatialViz(Benchmark):
    """SpatialViz-Bench (Wang et al.)."""

    title: ClassVar[str] = "SpatialViz"
    paper: ClassVar[str] = "2507.07610"
    layout: ClassVar[str] = (
        "lmms-eval (PLM-Team/Spatial-Visualization-Benchmark: parquet, unpacked images.zip); VLMEvalKit (TSV)"
    )
    columns: ClassVar[Columns] = {
        "id": ("index", "DataID", "id"),
        "question": ("Question", "question"),
        "options": ("Choices", "options"),
        "answer": ("Answer", "answer"),
        "family": ("Category", "category"),
        "category": ("Task", "task"),
        "level": ("Level", "level"),
        "picture": ("Image_id", "image_id"),
    }
    capability: ClassVar[Capability] = "DA"
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "Rotation": "MR",
        "Projection": "PT",
        "CrossSection": "MR",
        "CubeCounting": "MR",
        "Moving": "CR",
        "Mechanical": "CR",
    }
    human: ClassVar[Human | None] = Human(
        score=0.8246, source="papernotes.org on arXiv 2507.07610 (ICLR 2026), second-hand"
    )

    def images(self, fields: Fields) -> Any:
        """The column of pictures, else CATEGORY/TASK/LEVEL/IMAGE_ID.png."""
        given = super().images(fields)
        return given if given is not None else f"{'/'.join(fields.text(part) for part in _PARTS)}.png"
