"""What is wrong with a piece of ground truth."""

from dataclasses import dataclass
from typing import Literal

Quantity = Literal["poses", "depth", "up", "scale", "objects"]
"""What a mistake makes unusable; the rest of the ground truth counts."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A mistake in ground truth and the measurement that shows it."""

    what: str
    """Short and countable: "poses look inverted"."""
    number: str
    """The measurement."""
    remedy: str
    """What to change in the manifest."""
    severe: bool
    """Whether part of the truth counts neither for nor against a label because of it."""
    of: tuple[Quantity, ...] = ("poses", "depth", "up", "scale")
    """What does not count then; the camera itself is wrong where it is all."""
    frames: tuple[int, ...] = ()
    """The frames concerned, ascending; empty: all."""
    objects: tuple[int, ...] = ()
    """The objects concerned, by their place in the list; empty: not the objects but everything in those frames."""
