"""The result of scoring: a number with details, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class Score:
    """Score of a response."""

    value: float
    """From 0 to 1."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """Components of the value: JSON, all numbers finite."""
    nearness: float = 0.0
    """Closeness of the prediction to the target from 0 to 1, right or wrong (for rewards); 0 for labels."""


@dataclass(frozen=True, kw_only=True)
class Unscored:
    """No score, because the question is invalid. An invalid response scores 0 instead."""

    reason: str
    """Short and countable."""


class UnscorableError(ValueError):
    """A question is invalid; the message is the reason, which is counted."""
