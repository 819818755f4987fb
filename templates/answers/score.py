"""The result of scoring: a number with its detail, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Score:
    """Score of a response."""

    value: float
    """From 0 to 1."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """What the value consists of: JSON values, all numbers finite."""
    nearness: float = 0.0
    """From 0 to 1: how near the prediction comes to the target, right or wrong (for rewards); 0 of labels."""


@dataclass(frozen=True, kw_only=True)
class Unscored:
    """No score: the question is invalid (a bad response is not; it scores 0)."""

    reason: str
    """Short and countable."""


class UnscorableError(ValueError):
    """The fields of a question allow no score; the message is the counted reason."""
