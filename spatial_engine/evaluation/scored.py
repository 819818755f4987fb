"""One line of `scores.jsonl`: a question, what a model said, and what that is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from templates.measured import Json

Status = Literal["answered", "unreadable", "refused", "timed_out", "failed", "missing"]
"""Everything but `answered` scores 0 and is counted apart."""


@dataclass(frozen=True, kw_only=True)
class ScoredItem:
    """The score of one presentation of one question."""

    id: str
    """The question's id; question, media, answer and evidence stand in the data set."""
    rotation: int
    ability: str
    """Leaf of the tree, spelt "L1/Geometry/Distance"."""
    format: str
    template: str
    fact_id: str
    clip: str
    status: Status
    response: str | None
    extracted: Json
    """What was read from the response, None if nothing."""
    how: Literal["tags", "rules", "judge"] | None
    """Which step of the extraction found it."""
    right: bool
    """By the definition of `templates/answer.py`."""
    score: float
    """From 0 to 1: `right` for labels, points and plans within tolerance; graded scores stand in `detail`."""
    chance: float
    """What a guesser expects of `score`."""
    window_s: float | None
    """Time between the first and the last frame shown; None without time stamps."""
    window_frames: int | None
    """Frames between the first and the last frame shown; None where nothing of the footage is shown."""
    official: float | None = None
    """Score of the official scorer for the same answer (a letter that was read is given as "Answer: B"); None where
    it has none for this question."""
    strict: float | None = None
    """Likewise of the strict one."""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    detail: Mapping[str, Json] = field(default_factory=dict)
    """Of the score: error, Gaussian score, relative accuracy, ..."""
