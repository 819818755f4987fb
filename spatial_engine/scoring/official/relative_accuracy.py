"""Mean relative accuracy of numbers (VSI-Bench), as lmms-eval's spatialtreebench computes it."""

import re
from typing import Any

import numpy as np

from spatial_engine.scoring.official.metric import Result, metric

_NUMBER = re.compile(r"-?\d+\.?\d*")
_ALLOWED_ERRORS = (1 - np.linspace(0.5, 0.95, 10)).tolist()
"""Not 0.5, 0.45, ... 0.05 but the floats next to them: an error of exactly 20 % or 45 % fails its threshold."""


@metric
def meanrelativeacc(response: Any, answer: Any, extra_info: Any) -> Result:
    """The share of ten thresholds that |p - t| / t does not exceed. p: the first number of `response`, commas ignored.

    `answer`: a number, or text that is nothing but one. The error is divided by t, not by |t|: negative truths are
    always met, zero never.
    """
    match = _NUMBER.search(response.replace(",", ""))
    number = match[0] if match else ""
    truth = float(answer)
    error = abs(float(number) - truth) / truth
    score = sum(error <= allowed for allowed in _ALLOWED_ERRORS) / len(_ALLOWED_ERRORS)
    return {"score": score, "details": {"pred_number": number, "gt_number": truth}}
