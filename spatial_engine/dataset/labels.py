"""Finds places for labels: inside the picture, beside what they name, off everything that is drawn."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8

from spatial_engine.dataset.canvas import Canvas, Path, Rect, label_size

Side = tuple[float, float]
"""Where a label stands: right and down of its anchor, each from -1 to 1."""
_SIDES: tuple[Side, ...] = ((1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1))
_DISTANCES = (11, 16, 26, 42)  # from the anchor to the label's near edge


class Label(NamedTuple):
    """A text, and where it may stand."""

    text: str
    anchors: Path
    """Points beside which it may stand, best first."""
    ahead: Side | None = None
    """The best side: a unit vector. None: any."""


def draw_labels(canvas: Canvas, labels: Sequence[Label], taken: UInt8[np.ndarray, "h w"], unit: float) -> None:
    """Draws the labels where `place_labels` places them."""
    for (text, *_), box in zip(labels, place_labels(labels, taken, unit), strict=True):
        canvas.label(text, box, unit)


def place_labels(labels: Sequence[Label], taken: UInt8[np.ndarray, "h w"], unit: float) -> list[Rect]:
    """The box of each label.

    `taken` weighs the pixels: 0 free, larger the worse to cover. Boxes that are placed are added to it.
    """
    boxes = []
    for label in labels:
        best = least = None
        for box in _places(label, taken.shape, unit):
            cost = int(_under(taken, box).sum(dtype=np.int64))
            if least is None or cost < least:
                best, least = box, cost
            if not cost:
                break
        assert best is not None  # there is at least one anchor
        _under(taken, best)[:] = 255
        boxes.append(best)
    return boxes


def _places(label: Label, shape: Sequence[int], unit: float) -> Iterator[Rect]:
    """Boxes around the anchors, near ones first, moved inside the picture."""
    (width, height), (rows, columns) = label_size(label.text, unit), shape
    for distance in _DISTANCES:
        for anchor in label.anchors:
            for right, down in _sides(label.ahead):
                aside = distance * unit / np.hypot(right, down)
                x = round(anchor[0] + right * (aside + width / 2) - width / 2)
                y = round(anchor[1] + down * (aside + height / 2) - height / 2)
                x, y = min(max(x, 0), max(columns - width, 0)), min(max(y, 0), max(rows - height, 0))
                yield x, y, x + width, y + height


def _sides(ahead: Side | None) -> Sequence[Side]:
    """The sides, the best first."""
    return (
        _SIDES if ahead is None else (ahead, *sorted(_SIDES, key=lambda side: -np.dot(side, ahead) / np.hypot(*side)))
    )


def _under(taken: np.ndarray, box: Rect) -> np.ndarray:
    left, top, right, bottom = box
    return taken[top:bottom, left:right]
