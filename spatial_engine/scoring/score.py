"""What scoring gives: a number with its detail, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Score:
    """How good a response is."""

    value: float
    """From 0 to 1."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """What the value was made of: JSON values, all numbers finite."""


@dataclass(frozen=True, kw_only=True)
class Unscored:
    """Nothing can be said about a response (the question is at fault, never the response: a bad response scores 0)."""

    reason: str
    """Short and countable."""
