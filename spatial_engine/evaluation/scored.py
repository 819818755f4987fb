"""One line of `scores.jsonl`: a question, what a model said, and what that is worth."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
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


MEANS = {
    "gaussian": "Gaussian-uncertainty score of numbers and points",
    "relative_accuracy": "mean relative accuracy of numbers",
    "pairs_right": "share of pairs in the right order",
    "kendall_tau": "Kendall's τ of orders",
    "progress": "share of the way that a plan leads",
    "spl": "success of plans, weighted by their length",
}
"""Keys of `ScoredItem.detail` of which the mean is taken, in words."""
MEDIANS = {"angular_error_deg": "error of angles, in degrees", "distance_px": "distance of points, in pixels"}
"""Likewise the median: a single wild answer says nothing."""


def graded(items: Iterable[ScoredItem]) -> dict[str, Json]:
    """By key: `{"mean" | "median", "items"}` over the presentations that have it. What was not read is not in it, so
    these numbers stand beside a score, never for it."""
    found: dict[str, list[float]] = {key: [] for key in (*MEANS, *MEDIANS)}
    for item in items:
        for key in found.keys() & item.detail.keys():
            value = item.detail[key]
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[key].append(float(value))
    means = {key: {"mean": fmean(found[key]), "items": len(found[key])} for key in MEANS if found[key]}
    medians = {key: {"median": median(found[key]), "items": len(found[key])} for key in MEDIANS if found[key]}
    return {**means, **medians}
