"""Yes or no."""

from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.reading import read_yes_no
from spatial_engine.scoring.strict.rows import RowFault, strict_metric, value_of


@strict_metric
def judgemodel(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """1 if the response concludes with the answer, "yes" or "no" in any case. `extra_info` is not looked at."""
    true = answer.strip().lower().rstrip(".") if isinstance(answer, str) else ""
    if true not in ("yes", "no"):
        raise RowFault("the answer is neither yes nor no")
    said = value_of(read_yes_no(response))
    return float(said == true), {"said": said}
