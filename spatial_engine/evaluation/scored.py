"""One line of `scores.jsonl`: a question, the response of a model, and its score."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Literal

from templates.columns import Json

Status = Literal["answered", "unreadable", "refused", "timed_out", "failed", "missing"]
"""Every status except `answered` scores 0 and is counted separately."""


@dataclass(frozen=True, kw_only=True)
class ScoredItem:
    """The score of one presentation of one question."""

    id: str
    """Id of the question in the dataset."""
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
    """The answer that was read from the response; None if there is none."""
    how: Literal["tags", "rules", "judge"] | None
    """The step of the extraction that found it."""
    right: bool
    """By the definition of `templates.answers`."""
    score: float
    """From 0 to 1: 1 if the answer is right; `detail` has graded scores."""
    chance: float
    """Expected score of a uniform guess."""
    window_s: float | None
    """Time between the first and the last frame shown, in seconds; None without time stamps."""
    window_frames: int | None
    """Frames between the first and the last frame shown; None if no frame is shown."""
    official: float | None = None
    """Score of the official scorer for the same answer (a letter is passed as "Answer: B"); None if it has no metric
    for the question."""
    strict: float | None = None
    """Score of the strict scorer, likewise."""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    detail: Mapping[str, Json] = field(default_factory=dict)
    """Details of the score: error, Gaussian score, relative accuracy, ..."""


MEANS = {
    "gaussian": "Gaussian-uncertainty score of numbers and points",
    "relative_accuracy": "mean relative accuracy of numbers",
    "pairs_right": "share of pairs in the right order",
    "kendall_tau": "Kendall's τ of orders",
    "f1": "F1 of sets",
    "iou": "intersection over union of boxes",
    "progress": "share of the distance that a plan covers",
    "spl": "success of plans, weighted by their length",
}
"""Keys of `ScoredItem.detail` that are averaged, with a description."""
MEDIANS = {"angular_error_deg": "error of angles, in degrees", "distance_px": "distance of points, in pixels"}
"""Keys of which the median is taken, which outliers do not change."""


def graded(items: Iterable[ScoredItem]) -> dict[str, Json]:
    """By key: `{"mean" | "median", "items"}` over the presentations that have it. Unreadable answers are not included,
    so these numbers complement the score and do not replace it."""
    found: dict[str, list[float]] = {key: [] for key in (*MEANS, *MEDIANS)}
    for item in items:
        for key in found.keys() & item.detail.keys():
            value = item.detail[key]
            if isinstance(value, int | float) and not isinstance(value, bool):
                found[key].append(float(value))
    means = {key: {"mean": fmean(found[key]), "items": len(found[key])} for key in MEANS if found[key]}
    medians = {key: {"median": median(found[key]), "items": len(found[key])} for key in MEDIANS if found[key]}
    return {**means, **medians}
