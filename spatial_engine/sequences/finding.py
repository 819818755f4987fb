"""What is wrong with a piece of ground truth."""

from dataclasses import dataclass


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
    """Whether the truth counts neither for nor against a label because of it."""
    frames: tuple[int, ...] = ()
    """The frames concerned, ascending; empty: all."""
    objects: tuple[int, ...] = ()
    """The objects concerned, by their place in the list; empty: not the objects but everything in those frames."""
