"""The score in a judge's reply."""

from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.reading import conclusion, read_number
from spatial_engine.scoring.reading.json_object import as_number, objects
from spatial_engine.scoring.strict.rows import Unread, strict_metric, value_of


@strict_metric
def gpteval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """What the judge gave, from 0 to 1, in the last JSON object with an `answer_score`; else the number concluded
    with. What lies outside is no score. `response` is the judge's reply; the other two are not looked at."""
    given = next((found["answer_score"] for found in objects(conclusion(response)) if "answer_score" in found), None)
    while isinstance(given, list) and len(given) == 1:
        given = given[0]
    score = value_of(read_number(response)) if given is None else as_number(given)
    if score is None or not 0 <= score <= 1:
        raise Unread("the judge's score is not from 0 to 1")
    return score, {}
