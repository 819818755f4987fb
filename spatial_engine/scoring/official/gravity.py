"""Roll, pitch and field of view against a Gaussian of the truth's own uncertainty (SpatialTree eq. 5; lmms-eval)."""

import json
import re
from math import exp
from typing import Any

from spatial_engine.scoring.official.json_block import braced, fenced
from spatial_engine.scoring.official.metric import Result, metric

NAMES = ("roll", "pitch", "vfov")
_IN_WORDS = {name: re.compile(rf"{name}[\"']?\s*[:=]\s*(-?\d+\.?\d*)", re.IGNORECASE) for name in NAMES}
_STRAY_COMMA = re.compile(r",\s*([}\]])")


@metric
def gravityeval(response: Any, answer: Any, extra_info: Any) -> Result:
    """The mean over roll, pitch and vfov of exp(-(p - g)² / 2σ²), degrees, angles not wrapped.

    `answer`: JSON text with the three. `extra_info`: their σ as roll_unc, pitch_unc, vfov_unc; 0 scores nothing.
    """
    try:
        said = _decoded(_json_text(response))
    except json.JSONDecodeError:
        return {
            "score": 0,
            "reason": "Failed to parse model response as JSON, even after attempting to fix common errors.",
        }
    truth = json.loads(answer)
    values = [said.get(name) for name in NAMES]
    if None in values:
        return {
            "score": 0,
            "reason": "Missing one or more required fields (roll, pitch, vfov) in model response.",
        }
    truths = [truth[name] for name in NAMES]
    sigmas = [extra_info[f"{name}_unc"] for name in NAMES]
    terms = [_term(*three) for three in zip(values, truths, sigmas, strict=True)]
    details = {f"{name}_score": term for name, term in zip(NAMES, terms, strict=True)}
    return {"score": sum(terms) / 3, "details": details}


def _json_text(response: Any) -> str:
    """The first fenced block, else what braces enclose, else an object made of "name: number", else all of it."""
    for block in (fenced(response, "```json\n"), fenced(response, "```\n"), braced(response)):
        if block is not None:
            return block
    found = [pattern.search(response) for pattern in _IN_WORDS.values()]
    if not all(found):
        return response
    return "{" + ", ".join(f'"{name}": {match[1]}' for name, match in zip(NAMES, found, strict=True) if match) + "}"


def _decoded(text: str) -> Any:
    """JSON, if need be without commas before a closing bracket."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(_STRAY_COMMA.sub(r"\1", text))


def _term(said: Any, truth: Any, sigma: Any) -> float:
    apart = abs(said - truth)
    kernel = exp(-(apart**2) / (2 * sigma**2)) if sigma > 0 else 0.0
    return kernel if 0 < kernel <= 1 else 0.0  # NaN is neither
