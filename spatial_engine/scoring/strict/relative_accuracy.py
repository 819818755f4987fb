"""Mean relative accuracy of one number."""

from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.reading import read_number
from spatial_engine.scoring.relative_accuracy import mean_relative_accuracy
from spatial_engine.scoring.strict.rows import number, strict_metric, value_of


@strict_metric
def meanrelativeacc(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Share of the limits 5 %, 10 %, ... 50 % that |said - true| / |true| keeps (a truth of 0: |said|).

    `answer`: a number; `extra_info["unit"]`, where given: its unit, into which the response's is converted.
    """
    true = number(answer, "the answer")
    unit = extra_info.get("unit", "")
    said = value_of(read_number(response, unit if isinstance(unit, str) else ""))
    return mean_relative_accuracy(said, true), {"said": said}
