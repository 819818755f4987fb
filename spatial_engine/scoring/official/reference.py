"""Shared by the published metrics: none of them raises, and by default exploits score 0."""

from collections.abc import Callable
from functools import wraps
from math import isfinite
from typing import Any, Protocol, runtime_checkable

Result = dict[str, Any]
"""The reference's own keys ("score", and mostly "details"), and "detail": our remarks on the score."""


@runtime_checkable
class Metric(Protocol):
    """One published score of one response."""

    def __call__(self, response: Any, answer: Any, extra_info: Any, *, unsafe: bool = False) -> Result:
        """`extra_info`: the row's hint, decoded. Never raises, for any arguments."""


def metric(reference: Callable[[Any, Any, Any], Result]) -> Metric:
    """Makes a metric of a function that does what the reference does, its exceptions included.

    The official run counts an exception 0, and so do we: `detail["reference_exception"]` is its name. If the reference
    rewards a response that deserves nothing, the function gives the reason in `detail["refused"]`; then, and where it
    is not finite, the score is 0.0 and `detail["reference_score"]` that of the reference, unless `unsafe`.
    """

    @wraps(reference)
    def scored(response: Any, answer: Any, extra_info: Any, *, unsafe: bool = False) -> Result:
        try:
            result = reference(response, answer, extra_info)
        except Exception as error:
            return {"score": 0, "detail": {"reference_exception": type(error).__name__}}
        detail, score = result.setdefault("detail", {}), result["score"]
        if not isfinite(score):
            detail.setdefault("refused", "the score is not finite")
        if not unsafe and "refused" in detail:
            detail["reference_score"] = score
            result["score"] = 0.0
        return result

    return scored
