"""From a row of the benchmark and a response to the item that `aggregate` takes, as lmms-eval's spatialtreebench."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from spatial_engine.scoring.official.choice import multichoiceeval
from spatial_engine.scoring.official.cognitive_map import cogmapeval
from spatial_engine.scoring.official.manipulation import manipulateeval
from spatial_engine.scoring.official.mask import aff_mask_metric
from spatial_engine.scoring.official.metrics import gpteval, gravityeval, judgemodel, meanrelativeacc
from spatial_engine.scoring.official.navigation import agenticnaveval
from spatial_engine.scoring.official.reference import Metric, Result

METRICS: Mapping[str, Metric] = {
    "gravityeval": gravityeval,
    "multichoiceeval": multichoiceeval,
    "meanrelativeacc": meanrelativeacc,
    "cogmapeval": cogmapeval,
    "gpteval": gpteval,
    "judge": judgemodel,
    "affmask": aff_mask_metric,
    "manipulateeval": manipulateeval,
    "agenticnaveval": agenticnaveval,
}
"""By the names in `metricfunc`, which are not always the functions' own."""
_OURS = ("reference_score", "expectation", "reference_abort", "no_judge")


def process_results(
    doc: Mapping[str, Any], results: Sequence[str | None], *, unsafe: bool = False
) -> dict[str, dict[str, Any]]:
    """{"SpaTreeBench": {"score", every tag of the row that begins with "spatree"}}.

    `doc`: a row; its `extra_info` (names the metric, holds the tags) and `hint` are JSON texts. `results`: the
    response; where a judge scores, the judge's reply after it. Where the score differs from the reference's, the item
    has a `detail` with the reason: an expectation, a `reference_score`, or the `reference_abort` that would have ended
    the run.
    """
    tags: dict[str, Any] = {}
    try:
        extra_info = json.loads(doc["extra_info"])
        name = extra_info.get("metricfunc")
        tags = {key: value for key, value in extra_info.items() if key.startswith("spatree")}
        result: Result = _scored(name, doc, results, unsafe) if name in METRICS else {"score": 0}
    except Exception as error:
        result = {"score": 0, "detail": {"reference_abort": type(error).__name__}}
    detail = result.get("detail", {})
    shown = {"detail": detail} if any(key in detail for key in _OURS) else {}
    return {"SpaTreeBench": {"score": result["score"], **tags, **shown}}


def _scored(name: str, doc: Mapping[str, Any], results: Sequence[str | None], unsafe: bool) -> Result:
    """Raises where a row ends the run of the reference."""
    response, *judge = results
    hint = doc.get("hint", "{}")
    extra_info = {} if hint == "" else json.loads(hint)
    if name == "gpteval":
        if not judge:
            return {"score": 0, "detail": {"no_judge": True}}
        response = judge[0]
    if name == "multichoiceeval":
        if doc.get("question_type") == "open":
            name = "meanrelativeacc"
        else:
            extra_info.update(option=doc.get("option", []))
    return METRICS[name](response, doc.get("answer"), extra_info, unsafe=unsafe)
