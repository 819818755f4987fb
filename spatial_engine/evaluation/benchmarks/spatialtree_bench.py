"""SpatialTree-Bench: nine kinds of answers about pictures and videos, on the tree of 27 abilities."""

import json
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from spatial_engine.evaluation.benchmarks.benchmark import Asked, Benchmark, choice
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields, listed
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from spatial_engine.evaluation.benchmarks.vsi_bench import number
from spatial_engine.evaluation.result import Capability
from templates.columns import Json

_FORMS = {
    "gravityeval": "one JSON object with the keys roll, pitch and vfov, in degrees",
    "affmask": "one point [x, y], as fractions of the image's width (from the left) and height (from the top)",
    "cogmapeval": 'the map as one JSON object, then "Answer: " and the letter of the right option',
    "manipulateeval": "the JSON object that the question describes; every step number is from 0 to 10",
    "agenticnaveval": "the JSON object that the question describes; every step number is from 0 to 10",
}
_TOLD = {"choice": "Answer: {}", "yes_no": "{}", "numeric": "{}", "reply": "{}"}


class SpatialTreeBench(Benchmark):
    """SpatialTree (Xiao et al.)."""

    title: ClassVar[str] = "SpatialTree-Bench"
    paper: ClassVar[str] = "2512.20617"
    layout: ClassVar[str] = "lmms-eval (LongfeiLi/SpatialTree-Bench: parquet or JSON Lines, images/ and videos/)"
    files: ClassVar[Sequence[str]] = ("*.jsonl", "**/*test*.parquet", "**/*.parquet", "*.json", "*.tsv")
    columns: ClassVar[Columns] = {
        "id": ("session_id", "id", "index"),
        "options": ("option", "options"),
        "extra": ("extra_info",),
        "hint": ("hint",),
        "kind": ("question_type",),
        "info": ("video_info",),
    }
    needed: ClassVar[Sequence[str]] = ("question", "answer", "extra")
    scorer: ClassVar[str] = "spatialtree"
    capability: ClassVar[Capability] = "CR"
    capabilities: ClassVar[Mapping[str, Capability]] = {
        "Geometry-Shape": "MR",
        "Geometry": "MM",
        "Gravity": "MM",
        "Localization": "SR",
        "RelativeDirection": "SR",
        "Motion": "PT",
        "Orientation": "PT",
        "Correspondence": "PT",
        "Perspective": "PT",
        "CognitiveMap": "MR",
        "Affordance": "SR",
        "RelationUnderstanding": "SR",
        "GeometryPuzzles": "DA",
        "Dynamics": "DA",
    }

    def ask(self, fields: Fields) -> Asked:
        """By the metric of the row."""
        metric = str(_object(fields.need("extra")).get("metricfunc"))
        if metric == "multichoiceeval" and fields.get("kind") != "open":
            return choice(fields)
        if metric in ("multichoiceeval", "meanrelativeacc"):
            return number(fields)
        if metric == "judge":
            answer = fields.text("answer").lower().rstrip(".")
            if answer not in ("yes", "no"):
                raise BrokenRow("an answer that is neither yes nor no")
            return Asked(format="yes_no", prompt=fields.text("question"), answer=answer)
        if metric == "gpteval":
            raise BrokenRow("scored by a judge of its own (gpteval)")
        if metric not in _FORMS:
            raise BrokenRow("an unknown metricfunc")
        answer = _point(fields.text("answer")) if metric == "affmask" else str(fields.need("answer"))
        prompt = "\n".join([fields.text("question"), *map(str, listed(fields.get("options")) or ())])
        params: dict[str, Json] = {"form": _FORMS[metric]}
        return Asked(format="reply", prompt=prompt, answer=answer, scorer=self.scorer, params=params)

    def category(self, fields: Fields) -> str:
        """The path in the tree: "L1-Geometry-Distance"."""
        extra = _object(fields.need("extra"))
        return "-".join(str(extra[key]).replace(" ", "") for key in sorted(extra) if key.startswith("spatree")) or "all"

    def images(self, fields: Fields) -> Any:
        """The pictures of a row without video."""
        return None if self.video(fields) is not None else super().images(fields)

    def video(self, fields: Fields) -> str | None:
        """The first of the column."""
        given = fields.get("video")
        return None if given is None else str((listed(given) or [given])[0])

    def frames(self, fields: Fields) -> Sequence[int] | None:
        """`frame_index` of `video_info`."""
        info = (listed(fields.get("info")) or [{}])[0]
        found = info.get("frame_index") if isinstance(info, Mapping) else None
        return [int(frame) for frame in found] if found else None

    def scored(self, fields: Fields, asked: Asked) -> Mapping[str, Json]:
        """The row as the published code reads it."""
        return {
            "answer": fields.need("answer"),
            "extra_info": fields.need("extra"),
            "hint": fields.get("hint") or "",
            "option": listed(fields.get("options")) or [],
            "question_type": fields.get("kind") or "",
        }

    def told_of(self, asked: Asked) -> Json:
        """As its own prompts ask for it."""
        return _TOLD[asked.format]


def _object(value: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise BrokenRow("extra_info is not JSON") from error
    if not isinstance(found, Mapping):
        raise BrokenRow("extra_info is no object")
    return found


def _point(mask: str) -> str:
    """The place of the brightest pixel of a mask in base64, as fractions: a reply that scores full."""
    import cv2

    try:
        data = np.frombuffer(b64decode(mask.partition("base64,")[2] or mask), np.uint8)
        picture = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
    except (Base64Error, ValueError, cv2.error) as error:
        raise BrokenRow("a mask that cannot be decoded") from error
    if picture is None:
        raise BrokenRow("a mask that cannot be decoded")
    row, column = np.unravel_index(int(picture.argmax()), picture.shape)
    height, width = picture.shape
    return json.dumps([round(float(column) / max(1, width - 1), 4), round(float(row) / max(1, height - 1), 4)])
