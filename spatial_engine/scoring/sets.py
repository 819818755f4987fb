"""Answers that are sets (which of these are visible; select all that apply)."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SetScores:
    """How well a set was named; all from 0 to 1."""

    exact: float
    precision: float
    recall: float
    f1: float
    jaccard: float


def set_scores(said: Collection[Hashable], true: Collection[Hashable]) -> SetScores:
    """Duplicates count once. Two empty sets are equal: all 1. One empty set: all 0 (van Rijsbergen 1979, ch. 7)."""
    named, meant = set(said), set(true)
    if not named and not meant:
        return SetScores(exact=1.0, precision=1.0, recall=1.0, f1=1.0, jaccard=1.0)
    common = len(named & meant)
    return SetScores(
        exact=float(named == meant),
        precision=common / len(named) if named else 0.0,
        recall=common / len(meant) if meant else 0.0,
        f1=2 * common / (len(named) + len(meant)),
        jaccard=common / len(named | meant),
    )
