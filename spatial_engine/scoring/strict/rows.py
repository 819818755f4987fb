"""What the strict metrics share: the form of their results, and how they read the fields of a row."""

import json
import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Protocol, runtime_checkable

from spatial_engine.scoring.reading import Reading, Unreadable
from templates.answers.score import UnscorableError

Result = dict[str, Any]
"""{"score": from 0 to 1, "detail": {...}}, all numbers finite. `detail` holds "unread" (why no answer was read), or
"fault" (what is wrong with the row, so that no response can be scored), or the terms of the score."""


class UnreadableError(ValueError):
    """No answer was read from a response; the message is the reason."""


@runtime_checkable
class StrictMetric(Protocol):
    """The correct counterpart of a published metric."""

    def __call__(self, response: Any, answer: Any = None, extra_info: Any = None) -> Result:
        """Arguments as the published one has them. Never raises."""


def strict_metric(measure: Callable[[str, Any, Mapping[str, Any]], tuple[float, dict[str, Any]]]) -> StrictMetric:
    """Makes a metric of a function that gives (score, detail) or raises `UnreadableError` or `UnscorableError`."""

    @wraps(measure)
    def scored(response: Any, answer: Any = None, extra_info: Any = None) -> Result:
        extra = extra_info if isinstance(extra_info, Mapping) else {}
        try:
            score, detail = measure(response if isinstance(response, str) else "", answer, extra)
        except UnreadableError as unread:
            return {"score": 0.0, "detail": {"unread": str(unread)}}
        except UnscorableError as fault:
            return {"score": 0.0, "detail": {"fault": str(fault)}}
        return {"score": min(max(score, 0.0), 1.0) if math.isfinite(score) else 0.0, "detail": detail}

    return scored


def value_of(reading: Reading | Unreadable) -> Any:
    """The answer that was read. Raises `UnreadableError`."""
    if isinstance(reading, Unreadable):
        raise UnreadableError(reading.reason)
    return reading.value


def number(value: Any, what: str) -> float:
    """A finite number of the row, which may be written as text. Raises `UnscorableError`."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not math.isfinite(found):
        raise UnscorableError(f"{what} is not a finite number")
    return found


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """An object of the row, which may be written as JSON. Raises `UnscorableError`."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, Mapping):
        raise UnscorableError(f"{what} is not an object")
    return value
