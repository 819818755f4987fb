"""One question beside the truth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What ground truth says of one question as it was written."""

    id: str
    """The question's."""
    fact_id: str
    ability: str
    template: str
    format: str
    clip: str
    experts: str
    """Makers of the signals that the answer rests on, joined by "+"."""
    word: Literal["right", "wrong", "undecidable"]
    reason: str
    """Why it is undecidable, or cannot be read; "" otherwise."""
    margin: float | None
    """Of a label, in σ."""
    error: Mapping[str, float]
    """Answer minus truth of each number, in the answer's unit, the short way round for angles; {} for labels and where
    there is no truth."""
    sigma: Mapping[str, float]
    """σ of the same numbers, the truth's own included."""
    answer: Json
    target: Json
    """The answer that would have been written on the true scene; None where there is none."""
    label: str = ""
    """Of an answer that is a word: what its value says."""
