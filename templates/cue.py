"""Measured facts about points of photos, in words: hints beside other questions about the same clip."""

from collections.abc import Mapping
from dataclasses import dataclass

from templates.columns import Json
from templates.media import XY
from templates.question import Question

Pixel = tuple[int, float, float]
"""Frame, x, y."""


@dataclass(frozen=True, kw_only=True)
class Cue:
    """One measured fact, in words."""

    text: str
    values: tuple[float, ...] = ()
    """Numbers in the text, without pixel coordinates."""
    pixels: tuple[Pixel, ...] = ()
    """Points in the text."""


def photos(question: Question) -> list[Mapping[str, Json]]:
    """Photos that a question shows, without those that are options."""
    return [medium for medium in question.media if medium.get("kind") == "frames" and not medium.get("option")]


def marked(question: Question) -> list[Pixel]:
    """All marked points, in the order of photos and marks."""
    return [(medium["frames"][0], *mark["xy_px"]) for medium in photos(question) for mark in medium["marks"]]


def place(pixel: Pixel, numbers: Mapping[int, int]) -> str:
    """A point in words ("pixel [3, 4] of photo 2"). `numbers`: number of each photo, by frame."""
    frame, x, y = pixel
    return f"pixel [{round(x)}, {round(y)}] of photo {numbers[frame]}"


def boxes(question: Question) -> list[tuple[Pixel, XY, XY]]:
    """All boxes, in the order of photos and marks: their middle, and two opposite corners."""
    return [
        ((medium["frames"][0], *mark["xy_px"]), *mark["points_px"])
        for medium in photos(question)
        for mark in medium["marks"]
        if mark.get("shape") == "box"
    ]


def object_in(box: tuple[Pixel, XY, XY], numbers: Mapping[int, int]) -> str:
    """An object in words ("the object in the box [3, 4, 90, 80] of photo 2"). `numbers` as in `place`."""
    (frame, *_), first, second = box
    corners = (round(v) for v in (*first, *second))
    return f"the object in the box [{', '.join(map(str, corners))}] of photo {numbers[frame]}"
