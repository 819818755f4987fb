"""A measurement with its uncertainty, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float64

Json = Any
"""A JSON value: dict, list, str, float, int, bool or None."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a scene says about a fact: numbers with σ, or a label with the margin that decides it."""

    value: Float64[np.ndarray, "d"]
    """The measured components, in the template's units (its docstring says which). A label's numbers too."""
    sigma: Float64[np.ndarray, "d"]
    """One standard deviation of each component, systematic part included. inf: not known."""
    label: str | None = None
    """For facts that are named rather than counted (a motion, yes / no)."""
    margin: float | None = None
    """How far, in σ, the numbers lie from the nearest other label."""
    outlier_probability: float = 0.0
    """Probability that the measurement is plainly wrong (another point, a slid track)."""
    evidence: Mapping[str, Json] = field(default_factory=dict)
    """What it rests on, for people: frames, residuals, angles, counts."""


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """A scene cannot say. Counted by `reason`."""

    reason: str
    """Short and stable ("point not triangulated")."""


def joined(
    first: Measured | Undecided, *others: Measured | Undecided, independent: bool = False
) -> Measured | Undecided:
    """One fact measured on several scenes: the first's value, every disagreement in σ, and labels that agree.

    Scenes of `independent` experts are not wrong in the same place: where they agree, the less doubtful one counts.
    """
    if isinstance(first, Undecided):
        return first
    sigma, margin, outlier_probability = first.sigma, first.margin, first.outlier_probability
    for other in others:
        if isinstance(other, Undecided):
            return Undecided(reason=f"second map: {other.reason}")
        if other.label != first.label:
            return Undecided(reason="the two maps name different answers")
        sigma = np.hypot(sigma, other.value - first.value)
        margin = None if margin is None or other.margin is None else min(margin, other.margin)
        outlier_probability = (
            min(outlier_probability, other.outlier_probability)
            if independent
            else max(outlier_probability, other.outlier_probability)
        )
    return replace(first, sigma=sigma, margin=margin, outlier_probability=outlier_probability)
