"""Something about ground truth that a number shows."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about the ground truth that a number shows."""

    what: str
    """Short and countable: "poses look inverted"."""
    number: str
    """The measurement."""
    remedy: str
    """What to change in the manifest."""
    severe: bool
    """Whether the truth counts neither for nor against a label because of it."""
    frames: tuple[int, ...] = ()
    """Those concerned, ascending; empty: all."""
