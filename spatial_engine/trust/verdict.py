"""The verdict of ground truth on one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict of ground truth on one question, as it is written."""

    id: str
    """Of the question."""
    fact_id: str
    ability: str
    template: str
    format: str
    clip: str
    experts: str
    """The experts whose signals the answer is derived from, joined by "+"."""
    word: Literal["right", "wrong", "undecidable"]
    reason: str
    """Why the question is undecidable or its answer unreadable; else ""."""
    margin: float | None
    """Distance of a label from the nearest other one, in σ."""
    error: Mapping[str, float]
    """Answer minus truth of each number, in the answer's unit, wrapped for angles; {} for labels and without truth."""
    sigma: Mapping[str, float]
    """σ of these errors: that of the answer and that of the truth combined."""
    answer: Json
    target: Json
    """The answer measured on the true scene; None if it cannot be measured."""
    label: str = ""
    """The value of the answer if it is a word."""
