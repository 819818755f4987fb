"""SpatialLogic-Bench: which of two photos of a robot's task is closer to its completion."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Asked, Benchmark
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from spatial_engine.evaluation.result import Capability
from templates.columns import Json

_TARGETS = ("img1", "img2")
_QUESTION = 'A robot carries out the task "{}". Which of the two images shows a state closer to its completion?'


class SpatialLogic(Benchmark):
    """SpatialLogic-Bench (Yang et al.)."""

    title: ClassVar[str] = "SpatialLogic"
    paper: ClassVar[str] = ""
    layout: ClassVar[str] = "assumed: a table as its inference script reads (gt.csv), with the right image in `target`"
    files: ClassVar[Sequence[str]] = ("gt.csv", "*.csv", "*.tsv", "*.jsonl", "*.json", "**/*.parquet")
    columns: ClassVar[Columns] = {
        "question": ("task_name",),
        "answer": ("target", "closer_to_completion"),
        "first": ("video_path1", "image1", "img1"),
        "second": ("video_path2", "image2", "img2"),
        "window": ("window", "interval"),
        "pair": ("pair",),
    }
    needed: ClassVar[Sequence[str]] = ("question", "answer", "first", "second")
    scorer: ClassVar[str] = "spatiallogic"
    told: ClassVar[Json] = {"A": "closer to completion: img1", "B": "closer to completion: img2"}
    capability: ClassVar[Capability] = "CR"

    def ask(self, fields: Fields) -> Asked:
        """A choice between two images, which do not change their places."""
        target = fields.text("answer")
        if target not in _TARGETS:
            raise BrokenRow("a target that is neither img1 nor img2")
        return Asked(
            format="choice",
            prompt=_QUESTION.format(fields.text("question")),
            options=("image 1", "image 2"),
            answer="AB"[_TARGETS.index(target)],
            params={"fixed_options": True},
        )

    def category(self, fields: Fields) -> str:
        """The order: forward if the second image is the later one."""
        return "forward" if fields.text("answer") == "img2" else "inverse"

    def images(self, fields: Fields) -> Any:
        """Both."""
        return [fields.text("first").removeprefix("_/"), fields.text("second").removeprefix("_/")]

    def scored(self, fields: Fields, asked: Asked) -> Mapping[str, Json]:
        """Target, window (0 where the table has none) and pair."""
        pair = fields.get("pair")
        window = str(fields.get("window") or 0)
        if not window.isdecimal():
            raise BrokenRow("a window that is no whole number")
        shown = {"target": fields.text("answer"), "window": int(window)}
        return shown if pair is None else {**shown, "pair": str(pair)}
