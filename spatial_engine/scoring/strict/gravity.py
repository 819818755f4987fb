"""Roll, pitch and vertical field of view, each within its σ (SpatialTree, eq. 5)."""

from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.gaussian import gaussian_score
from spatial_engine.scoring.reading import read_object
from spatial_engine.scoring.strict.rows import mapping, number, strict_metric, value_of

_PERIOD_DEG = {"roll": 360.0, "pitch": 360.0, "vfov": None}


@strict_metric
def gravityeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of exp(-d² / 2σ²) over roll, pitch, vfov in degrees, d the short way round. σ = 0: 1 if equal, else 0.

    `answer`: their JSON; `extra_info`: roll_unc, pitch_unc, vfov_unc. All three must be there and finite.
    """
    given = mapping(answer, "the answer")
    true = {name: number(given.get(name), f"the answer's {name}") for name in _PERIOD_DEG}
    sigma = {name: number(extra_info.get(f"{name}_unc"), f"{name}_unc") for name in _PERIOD_DEG}
    said = value_of(read_object(response, tuple(_PERIOD_DEG), unit="deg"))
    terms = {
        name: gaussian_score(said[name], true[name], sigma[name], period, exact_counts=True)
        for name, period in _PERIOD_DEG.items()
    }
    return sum(terms.values()) / len(terms), {"said": said, "terms": terms}
