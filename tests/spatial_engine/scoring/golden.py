"""The golden vectors beside SPATIAL_ENGINE_DATA, and what it means to agree with one."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.scoring.official.reference import Metric

GOLDEN = Path(os.environ.get("SPATIAL_ENGINE_DATA", "/nowhere")).parent / "golden"

ODD_VALUES = (
    None, True, 3, -1, 10**400, 0.5, math.nan, math.inf, "", "x", "0.5", "L1", "Distance", "3D Detection",
    [], [1], ["Distance"], {}, {"score": 1}, {"score": 1, "spatree0": "L1"}, {"spatree1": [None]},
)  # fmt: skip
"""Of a field that should hold a score or a tag. A fixed list: recursive strategies take long on a busy machine."""


def golden(name: str) -> Mapping[str, Any]:
    """One file, floats that are not finite as such; empty if there is none."""
    path = GOLDEN / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"), object_hook=_number) if path.exists() else {}


def cases(name: str) -> list[Any]:
    """The parameters of a test over all cases of one file, named by id; one that skips if there is no file."""
    found = golden(name).get("cases", ())
    missing = pytest.param(None, marks=pytest.mark.skip(reason="no golden vectors beside SPATIAL_ENGINE_DATA"))
    return [pytest.param(case, id=case["id"]) for case in found] or [missing]


def agrees(ours: Any, theirs: Any) -> bool:
    """Whether ours holds all of theirs, numbers to 1e-9."""
    if isinstance(theirs, Mapping):
        return isinstance(ours, Mapping) and all(key in ours and agrees(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, float):
        return bool(ours == pytest.approx(theirs, rel=0, abs=1e-9, nan_ok=True))
    return bool(ours == theirs)


def assert_agrees(metric: Metric, case: Mapping[str, Any]) -> None:
    """The score of the official run, what the reference returned, and the exception it raised; unsafe or not."""
    for unsafe in (True, False):
        ours = metric(**case["input"], unsafe=unsafe)
        assert agrees(ours["score"], case["pipeline_score"])
        if isinstance(case["output"], Mapping):
            assert agrees(ours, case["output"])
        assert ours["detail"].get("reference_exception") == case["exception"]


def _number(decoded: dict[str, Any]) -> Any:
    return float(decoded["$float"]) if decoded.keys() == {"$float"} else decoded
