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
    """The measurement of a fact on a scene: numbers with σ, or a label with its margin."""

    value: Float64[np.ndarray, "d"]
    """Measured components, in the units that the template's docstring states; also the numbers behind a label."""
    sigma: Float64[np.ndarray, "d"]
    """One standard deviation of each component, systematic part included; inf: unknown."""
    label: str | None = None
    """The answer to a question that asks for a name (of a motion, yes / no) rather than a number."""
    margin: float | None = None
    """Distance of the numbers from the nearest other label, in σ."""
    outlier_probability: float = 0.0
    """Probability that the measurement is an outlier (another point, a drifted track)."""
    evidence: Mapping[str, Json] = field(default_factory=dict)
    """Details for people: frames, residuals, angles, counts."""


@dataclass(frozen=True, kw_only=True)
class Undecided:
    """A scene does not decide the fact. Counted by `reason`."""

    reason: str
    """Short and stable ("point not triangulated")."""


def joined(
    first: Measured | Undecided, *others: Measured | Undecided, independent: bool = False
) -> Measured | Undecided:
    """One fact measured on several scenes: the first value, with σ that includes every disagreement.

    Undecided where labels differ. `independent` scenes rarely share an outlier, so that the smaller outlier probability
    counts where they agree; otherwise the larger one does.
    """
    if isinstance(first, Undecided):
        return first
    sigma, margin, outlier_probability = first.sigma, first.margin, first.outlier_probability
    for other in others:
        if isinstance(other, Undecided):
            return Undecided(reason=f"second reconstruction: {other.reason}")
        if other.label != first.label:
            return Undecided(reason="the two reconstructions give different labels")
        sigma = np.hypot(sigma, other.value - first.value)
        margin = None if margin is None or other.margin is None else min(margin, other.margin)
        outlier_probability = (min if independent else max)(outlier_probability, other.outlier_probability)
    return replace(first, sigma=sigma, margin=margin, outlier_probability=outlier_probability)
