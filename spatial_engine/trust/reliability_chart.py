"""The reliability curve as a drawing: how many errors lie within kσ, over how many should."""

from collections.abc import Mapping
from dataclasses import dataclass

from spatial_engine.trust.coverage import Coverage

SIDE, MARGIN = 360.0, 44.0
"""Of the drawing, in its own units."""
_FEWEST = 20
"""A curve of fewer numbers says nothing."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line."""

    name: str
    numbers: int
    clips: int
    points: tuple[tuple[float, float, str], ...]
    """x, y, and what the place says in words."""


def curves(coverages: Mapping[str, Coverage | None]) -> list[Curve]:
    """Those with enough numbers."""
    return [
        Curve(
            name=name,
            numbers=found.numbers,
            clips=found.clips,
            points=tuple(
                (x(at.nominal), y(at.observed), f"within {at.sigmas:.2f} σ: {at.observed:.0%}, due {at.nominal:.0%}")
                for at in found.curve
            ),
        )
        for name, found in coverages.items()
        if found is not None and found.numbers >= _FEWEST
    ]


def x(share: float) -> float:
    """Of a share that is due."""
    return round(MARGIN + (SIDE - MARGIN - 12) * share, 1)


def y(share: float) -> float:
    """Of a share that is observed."""
    return round(SIDE - MARGIN - (SIDE - MARGIN - 12) * share, 1)
