"""Limits of difficulty, by which facts are selected. Imports nothing heavy: the command line reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MEASURES = {
    "margin": "distance from the nearest other answer, or tolerance of a number, in σ",
    "photos": "photos shown",
    "turn_deg": "largest angle between the cameras of two photos shown",
    "range_m": "distance of the farthest marked point, in metres",
    "picture_share": "share of the photo that the box of the smallest object covers",
    "objects": "objects in the fullest photo shown",
    "like_named": "other objects in the photo that have the name of one asked about",
}
"""Names of the measures, with what they mean. A question has those that are known for it."""

_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(-?[\d.]+(?:e-?\d+)?)\s*")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A limit of one measure. A fact without that measure does not meet it."""

    measure: str
    """A key of `MEASURES`."""
    at_least: bool
    """Else at most."""
    limit: float

    @classmethod
    def parsed(cls, text: str) -> "Condition":
        """From "turn_deg>=20" or "margin<=5". Raises `ValueError`."""
        found = _CONDITION.fullmatch(text)
        if found is None or found[1] not in MEASURES or found[3].count(".") > 1:
            raise ValueError(f"{text!r} is no condition; allowed: >= or <= between a number and {', '.join(MEASURES)}")
        return cls(measure=found[1], at_least=found[2] == ">=", limit=float(found[3]))

    def met(self, measures: Mapping[str, Any]) -> Any:
        """Whether each fact meets it, by its measures; False where none is known."""
        if self.measure not in measures:
            return False
        return measures[self.measure] >= self.limit if self.at_least else measures[self.measure] <= self.limit

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.measure}{'>=' if self.at_least else '<='}{self.limit:g}"
