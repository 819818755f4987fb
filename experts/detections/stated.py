"""Detections as a file states them, before they are matched to frames; and why some are left out."""

import html
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

MOST_PER_FRAME = 100
"""Of more detections in a frame, the best are used (cost)."""
_LONGEST_NAME = 80


class NotDetections(ValueError):  # noqa: N818 - a property of the file, not a fault of the program
    """A file holds no detections that can be read; the message says what was found instead."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """How a file names the frame of its detections."""

    name: str = ""
    """Of the picture: "kitchen/frame_000012.jpg"; "" where the file names none."""
    number: int | None = None
    """Index of the frame, where the file states one."""


@dataclass(frozen=True, kw_only=True)
class RunLengths:
    """A mask as the lengths of its runs of pixels, column by column, the first run outside it (COCO)."""

    height_px: int
    width_px: int
    counts: Int64[np.ndarray, "r"]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """One detection. Coordinates are edges: the first pixel lies between 0 and 1."""

    name: str
    score: float
    """NaN where none is stated."""
    box: tuple[float, float, float, float] | None
    """Left, top, right, bottom."""
    polygons: tuple[Float64[np.ndarray, "m 2"], ...] = ()
    runs: RunLengths | None = None
    relative: bool = False
    """Whether box and polygons are shares of the picture."""

    @property
    def has_mask(self) -> bool:
        """Whether its pixels are known."""
        return bool(self.polygons) or self.runs is not None


@dataclass(kw_only=True)
class StatedFrame:
    """The detections of one picture."""

    frame: Frame
    size_px: tuple[int, int] | None = None
    """Width and height of the picture that was annotated; None where the file does not state them."""
    detections: list[Stated] = field(default_factory=list)


@dataclass(kw_only=True)
class StatedFile:
    """Everything that a file, or a folder of files, states."""

    format: str
    """For messages: "COCO"."""
    frames: list[StatedFrame] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of detections that are not used, by reason."""
    incomplete: set[str] = field(default_factory=set)
    """Names of detections that are left out; "*": of one whose name is not known."""

    def leave_out(self, reason: str, name: str = "*", count: int = 1) -> None:
        """Counts detections that are not used: not every object of their name is listed any more."""
        self.left_out[reason] += count
        self.incomplete.add(name)

    def add(self, frame: StatedFrame, name: Any, score: Any, **shape: Any) -> None:
        """Adds a detection, or the reason why it cannot be used. `shape`: fields of `Stated`."""
        plain = cleaned(name)
        value = _score(score)
        box = shape.get("box")
        if not plain:
            self.leave_out("no name")
        elif value is None:
            self.leave_out("the score is not a number from 0 to 1", plain)
        elif box is not None and not _has_extent(box):
            self.leave_out("the box has no extent", plain)
        elif box is None and not shape.get("polygons") and shape.get("runs") is None:
            self.leave_out("neither box nor mask", plain)
        else:
            frame.detections.append(Stated(name=plain, score=value, **({"box": None} | shape)))

    def keep_best(self) -> None:
        """Drops what is beyond the largest number of detections per frame."""
        for frame in self.frames:
            if len(frame.detections) > MOST_PER_FRAME:
                ranked = sorted(frame.detections, key=lambda one: -(1.0 if math.isnan(one.score) else one.score))
                frame.detections = ranked[:MOST_PER_FRAME]
                for one in ranked[MOST_PER_FRAME:]:
                    self.leave_out(f"beyond the best {MOST_PER_FRAME} of its frame", one.name)

    @property
    def names(self) -> list[str]:
        """Every name, in order."""
        return sorted({one.name for frame in self.frames for one in frame.detections})


def cleaned(name: Any) -> str:
    """A name without markup and control characters, in the user's language; "" if nothing is left."""
    if not isinstance(name, str):
        return ""
    plain = re.sub(r"<[^<>]*>", " ", html.unescape(html.unescape(name)))
    plain = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in plain)
    plain = unicodedata.normalize("NFC", " ".join(plain.split()))
    return plain[:_LONGEST_NAME].strip() if any(letter.isalnum() for letter in plain) else ""


def _score(score: Any) -> float | None:
    """NaN where none is stated; None if it is no probability."""
    if isinstance(score, list | tuple) and len(score) == 1:
        score = score[0]
    if score is None:
        return math.nan
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return float(score) if 0 <= score <= 1 else None


def _has_extent(box: tuple[float, float, float, float]) -> bool:
    return all(map(math.isfinite, box)) and box[2] > box[0] and box[3] > box[1]
