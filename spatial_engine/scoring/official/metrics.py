"""Metrics of numbers, yes or no, and a judge's reply, as lmms-eval's spatialtreebench computes them."""

import json
import re
from math import exp
from typing import Any

from spatial_engine.scoring.official.reading import braced, fenced
from spatial_engine.scoring.official.reference import Result, metric
from templates.answers.measures import HARNESS_LIMITS, share_met

_NUMBER = re.compile(r"-?\d+\.?\d*")


@metric
def meanrelativeacc(response: Any, answer: Any, extra_info: Any) -> Result:
    """The share of ten thresholds that |p - t| / t does not exceed. p: the first number of `response`, commas ignored.

    `answer`: a number, as such or as text. The error is divided by t, not by |t|: every number meets a negative target,
    none meets 0.
    """
    match = _NUMBER.search(response.replace(",", ""))
    number = match[0] if match else ""
    truth = float(answer)
    error = abs(float(number) - truth) / truth
    return {"score": share_met(error, HARNESS_LIMITS), "details": {"pred_number": number, "gt_number": truth}}


@metric
def judgemodel(response: Any, answer: Any, extra_info: Any) -> Result:
    """1 if `answer`, in lower case, is the last "yes" or "no" in `response` (inside words too), or "other" for none."""
    truth = answer.lower()
    prediction = last_yes_or_no(response)
    return {"score": int(prediction == truth), "details": {"predict": prediction, "gt": truth}}


def last_yes_or_no(response: Any) -> str:
    """Which of "yes", "no" and "other". Raises AttributeError if `response` is neither text nor empty."""
    text = response.lower() if response else ""
    yes, no = text.rfind("yes"), text.rfind("no")
    if yes == no:  # neither occurs
        return "other"
    return "yes" if yes > no else "no"


_ANGLES = ("roll", "pitch", "vfov")
_IN_WORDS = {name: re.compile(rf"{name}[\"']?\s*[:=]\s*(-?\d+\.?\d*)", re.IGNORECASE) for name in _ANGLES}
_STRAY_COMMA = re.compile(r",\s*([}\]])")


@metric
def gravityeval(response: Any, answer: Any, extra_info: Any) -> Result:
    """The mean over roll, pitch and vfov of exp(-(p - g)² / 2σ²), degrees, angles not wrapped.

    `answer`: JSON text with the three. `extra_info`: their σ as roll_unc, pitch_unc, vfov_unc; 0 scores nothing.
    """
    try:
        prediction = _decoded_object(_json_text(response))
    except json.JSONDecodeError:
        return {
            "score": 0,
            "reason": "Failed to parse model response as JSON, even after attempting to fix common errors.",
        }
    truth = json.loads(answer)
    values = [prediction.get(name) for name in _ANGLES]
    if None in values:
        return {
            "score": 0,
            "reason": "Missing one or more required fields (roll, pitch, vfov) in model response.",
        }
    truths = [truth[name] for name in _ANGLES]
    sigmas = [extra_info[f"{name}_unc"] for name in _ANGLES]
    terms = [_term(*three) for three in zip(values, truths, sigmas, strict=True)]
    details = {f"{name}_score": term for name, term in zip(_ANGLES, terms, strict=True)}
    return {"score": sum(terms) / 3, "details": details}


def _json_text(response: Any) -> str:
    """The first fenced block, else the text between braces, else an object made of "name: number", else the whole."""
    for block in (fenced(response, "```json\n"), fenced(response, "```\n"), braced(response)):
        if block is not None:
            return block
    found = [pattern.search(response) for pattern in _IN_WORDS.values()]
    if not all(found):
        return response
    return "{" + ", ".join(f'"{name}": {match[1]}' for name, match in zip(_ANGLES, found, strict=True) if match) + "}"


def _decoded_object(text: str) -> Any:
    """JSON; on a second attempt without commas before a closing bracket."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(_STRAY_COMMA.sub(r"\1", text))


def _term(prediction: Any, truth: Any, sigma: Any) -> float:
    difference = abs(prediction - truth)
    kernel = exp(-(difference**2) / (2 * sigma**2)) if sigma > 0 else 0.0
    return kernel if 0 < kernel <= 1 else 0.0  # NaN is neither


_UNSIGNED = re.compile(r"\d+(?:\.\d+)?")
_NOTHING = -1


def gpteval(response: Any, answer: Any = None, extra_info: Any = None, *, unsafe: bool = False) -> Result:
    """The judge's score. `response` is the judge's reply, not the model's; the other two are not used.

    Asking the judge is not done here (the reference asks for {"answer_score": [[s]], "reason": ...}, up to five times
    while the reply is blank). Not clamped: a judge that says 85 gives 85.
    """
    return _gpteval(response, answer, extra_info, unsafe=unsafe)


@metric
def _gpteval(response: Any, answer: Any, extra_info: Any) -> Result:
    reply = (response or "").strip()
    if not reply:
        return {"score": 0, "details": {"error": "Failed to get evaluation from judge model."}}
    score, reason = _judged(reply)
    if score == _NOTHING:
        return {"score": 0, "details": {"error": f"Failed to parse score from review: {reason}"}}
    detail = {} if 0 <= score <= 1 else {"out_of_range": True}
    return {"score": score, "details": {"reason": reason}, "detail": detail}


def _judged(reply: str) -> tuple[float, Any]:
    """(score, reason) from the JSON asked for, else from the first digits of the reply, signs and all else ignored."""
    try:
        block = fenced(reply, "```json\n")
        prediction = json.loads((braced(reply) if block is None else block) or "")
        score = prediction.get("answer_score")
        while isinstance(score, list):
            score = score[0]
        return float(score), prediction.get("reason", "")
    except (ValueError, TypeError, IndexError):  # not JSON, no number, an empty list
        match = _UNSIGNED.search(reply)
    if match is None:
        return _NOTHING, "JSON parsing failed and no float found in review"
    return float(match[0]), "Fallback: Parsed float from text"
