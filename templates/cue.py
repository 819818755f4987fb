"""What a measured answer tells about points of photos: a hint beside other questions about the same clip."""

from collections.abc import Mapping
from dataclasses import dataclass

from templates.measured import Json
from templates.question import Question

Pixel = tuple[int, float, float]
"""Frame, x, y."""


@dataclass(frozen=True, kw_only=True)
class Cue:
    """One measured fact, in words."""

    text: str
    values: tuple[float, ...] = ()
    """Numbers that it states, pixels apart."""
    pixels: tuple[Pixel, ...] = ()
    """Points that it speaks of."""


def photos(question: Question) -> list[Mapping[str, Json]]:
    """Entries of the photos that a question shows, options apart."""
    return [medium for medium in question.media if medium.get("kind") == "frames" and not medium.get("option")]


def marked(question: Question) -> list[Pixel]:
    """All marked points, in the order of photos and marks."""
    return [(medium["frames"][0], *mark["xy_px"]) for medium in photos(question) for mark in medium["marks"]]


def place(pixel: Pixel, numbers: Mapping[int, int]) -> str:
    """A point in words, in a photo by its number ("pixel [3, 4] of photo 2"); `numbers` by frame."""
    frame, x, y = pixel
    return f"pixel [{round(x)}, {round(y)}] of photo {numbers[frame]}"
