"""CoreCognition: choices and yes/no questions about core knowledge."""

import re
from collections.abc import Mapping
from typing import ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Asked, Benchmark, choice
from spatial_engine.evaluation.benchmarks.choices import split
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from spatial_engine.evaluation.result import Capability
from templates.question import LETTERS

_YES_NO = ("YORN", "TF")
_LETTER = re.compile(r"\(?([A-F])\)?\.?")


class CoreCognition(Benchmark):
    """CoreCognition (Li et al.)."""

    title: ClassVar[str] = "CoreCognition"
    paper: ClassVar[str] = "2410.10855"
    layout: ClassVar[str] = "VLMEvalKit (TSV); lmms-eval (williamium/CoreCognition, frame-combined: parquet)"
    columns: ClassVar[Columns] = {
        "question": ("question", "prompt"),
        "category": ("l2-category", "concept", "category"),
        "kind": ("question_type", "type"),
        "images": ("image", "images", "image_paths"),
    }
    scorer: ClassVar[str] = ""
    capability: ClassVar[Capability] = "CR"
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "Perspective": "PT",
        "Spatial": "SR",
        "Boundary": "SR",
        "Continuity": "SR",
        "Permanence": "SR",
        "Conservation": "DA",
        "Mechanical": "DA",
    }

    def ask(self, fields: Fields) -> Asked:
        """Yes or no; else a choice. Where the options are only in the picture, their letters stand for them."""
        answer, question = fields.text("answer"), fields.text("question")
        if str(fields.get("kind") or "").upper() in _YES_NO or answer.lower() in ("yes", "no"):
            if answer.lower() not in ("yes", "no"):
                raise BrokenRow("an answer that is neither yes nor no")
            return Asked(format="yes_no", prompt=question, answer=answer.lower())
        mark = _LETTER.fullmatch(answer)
        if mark and not split(question)[1] and fields.get("options") is None:
            options = list(LETTERS[: max(4, LETTERS.index(mark[1]) + 1)])
            return Asked(format="choice", prompt=question, options=options, answer=mark[1])
        return choice(fields)
