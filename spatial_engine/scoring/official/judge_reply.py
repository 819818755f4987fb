"""The number in a judge's reply, as lmms-eval's spatialtreebench reads it for motion captions."""

import json
import re
from typing import Any

from spatial_engine.scoring.official.json_block import braced, fenced
from spatial_engine.scoring.official.metric import Result, metric

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NOTHING = -1


def gpteval(response: Any, answer: Any = None, extra_info: Any = None, *, unsafe: bool = False) -> Result:
    """What the judge gave. `response` is the judge's reply, not the model's; the other two are not looked at.

    Asking the judge is not done here (the reference asks for {"answer_score": [[s]], "reason": ...}, up to five times
    while the reply is blank). Not clamped: a judge that says 85 gives 85.
    """
    return _gpteval(response, answer, extra_info, unsafe=unsafe)


@metric
def _gpteval(response: Any, answer: Any, extra_info: Any) -> Result:
    reply = (response or "").strip()
    if not reply:
        return {"score": 0, "details": {"error": "Failed to get evaluation from judge model."}}
    score, reason = _read(reply)
    if score == _NOTHING:
        return {"score": 0, "details": {"error": f"Failed to parse score from review: {reason}"}}
    detail = {} if 0 <= score <= 1 else {"out_of_range": True}
    return {"score": score, "details": {"reason": reason}, "detail": detail}


def _read(reply: str) -> tuple[float, Any]:
    """(score, reason) from the JSON asked for, else from the first digits of the reply, signs and all else ignored."""
    try:
        block = fenced(reply, "```json\n")
        said = json.loads((braced(reply) if block is None else block) or "")
        score = said.get("answer_score")
        while isinstance(score, list):
            score = score[0]
        return float(score), said.get("reason", "")
    except (ValueError, TypeError, IndexError):  # not JSON, no number, an empty list
        match = _NUMBER.search(reply)
    if match is None:
        return _NOTHING, "JSON parsing failed and no float found in review"
    return float(match[0]), "Fallback: Parsed float from text"
