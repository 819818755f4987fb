"""Pointing at a mask, as lmms-eval's spatialtreebench scores it."""

import base64
import re
from typing import Any

import numpy as np

from spatial_engine.scoring.official.reference import Result, metric

_NUMBER = r"([-+]?(?<!\d)\d+(?:\.\d+)?)"
"""Never begins inside a number. That changes no match, since a match that fails from the first digit of a number fails
from each of its digits; but the time stays linear in a response of digits alone."""
_PAIRS = (
    re.compile(rf"x\s*[:=]\s*{_NUMBER}\D+?y\s*[:=]\s*{_NUMBER}", re.IGNORECASE),
    re.compile(rf"y\s*[:=]\s*{_NUMBER}\D+?x\s*[:=]\s*{_NUMBER}", re.IGNORECASE),
    re.compile(rf"\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)"),
    re.compile(rf"\[\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\]"),
    re.compile(rf"{_NUMBER}\s*,\s*{_NUMBER}"),
)
_Y_FIRST = _PAIRS[1]


@metric
def aff_mask_metric(response: Any, answer: Any, extra_info: Any) -> Result:
    """The grey value, from 0 to 1, of the mask `answer` (base64 of a picture file) where `response` points.

    The last pair of numbers counts: fractions of the picture if both are from 0 to 1, else pixels, clamped to it.
    """
    point = last_pair(response) if isinstance(response, str) else None
    if point is None:
        return {"score": 0.0, "detail": {"reason": "no point"}}
    mask = _decoded(answer)
    if mask is None or mask.size == 0:
        return {"score": 0.0, "detail": {"reason": "no mask"}}
    (x, y), (height, width) = point, mask.shape
    in_fractions = 0 <= x <= 1 and 0 <= y <= 1
    column, row = (round(x * (width - 1)), round(y * (height - 1))) if in_fractions else (round(x), round(y))
    column, row = min(max(column, 0), width - 1), min(max(row, 0), height - 1)
    value = float(mask[row, column])
    details = {"x_pred": x, "y_pred": y, "col": column, "row": row, "pixel_val": value}
    return {"score": value / 255, "details": details}


def last_pair(text: str) -> tuple[float, float] | None:
    """(x, y) of the pair that ends last; of several that end there, the one in the first of the five notations."""
    last = None
    for pattern in _PAIRS:
        for match in pattern.finditer(text):
            if last is None or match.end() > last.end():
                last = match
    if last is None:
        return None
    first, second = float(last[1]), float(last[2])
    return (second, first) if last.re is _Y_FIRST else (first, second)


def _decoded(mask: Any) -> np.ndarray | None:
    """Grey values (h, w), or None if the text is no picture. Raises cv2.error for an empty file."""
    import cv2

    if not mask:
        return None
    text = mask.split("base64,", 1)[-1]
    for padding in ("", "==="):
        try:
            data = base64.b64decode(text + padding)
        except ValueError:
            continue
        return cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_GRAYSCALE)
    return None
