"""How near answers come that can be read: scores by degree, beside the one that is right or wrong."""

from collections.abc import Iterable
from statistics import fmean, median

from spatial_engine.evaluation.scored import ScoredItem
from templates.measured import Json

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
