"""SpatialLogic: which of two images of a task is closer to its completion, shown in both orders.

Forward shows (start, end), so that the second is right; inverse (end, start), so that the first is.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from spatial_engine.scoring.reading.conclusion import conclusion

_LONG = 12
_RIGHT = {"forward": 2, "inverse": 1}
_ASKED_FOR = (
    re.compile("closer to completion:"),
    re.compile(r"closer\s++to\s++completion\s*+:", re.IGNORECASE),
)
_ORDINALS = ("first", "second")
_IMAGE = re.compile(r"\b(?:img|image)\s*_?([12])\b|\b(first|second)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One order of one pair."""

    pair: int | str
    window: int
    """How far apart the images are, in steps."""
    direction: Literal["forward", "inverse"]
    prediction: int | None
    """1 or 2; None if no answer was read: wrong."""

    @property
    def right(self) -> bool:
        """Whether the image nearer to the end was named."""
        return self.prediction == _RIGHT[self.direction]


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Per cent; None where there are no items."""

    forward: float | None
    inverse: float | None

    @property
    def mean(self) -> float | None:
        """Of both directions, unweighted."""
        both = self.forward is not None and self.inverse is not None
        return (self.forward + self.inverse) / 2 if both else None  # type: ignore[operator]

    @property
    def bias(self) -> float | None:
        """Chronological bias, in points: forward - inverse. Above 0: the second image is named whatever it shows."""
        both = self.forward is not None and self.inverse is not None
        return self.forward - self.inverse if both else None  # type: ignore[operator]


@dataclass(frozen=True, kw_only=True)
class SpatialLogic:
    """Per cent; None where there are no items."""

    windows: Mapping[str, Accuracy]
    """By window: "5" to "11" (or less), and ">=12"."""
    accuracy: Accuracy
    pooled: float | None
    """Right answers among all."""
    second_image_rate: float | None
    """Share of "2" among the answers that were read."""
    pair_consistent: float | None
    """Share of pairs of which both orders were answered right, among pairs that were shown in both."""


def spatiallogic(items: Sequence[Item]) -> SpatialLogic:
    """Scores over both directions of any number of pairs."""
    windows: dict[int, list[Item]] = defaultdict(list)
    pairs: dict[int | str, dict[str, bool]] = defaultdict(dict)
    for item in items:
        windows[min(item.window, _LONG)].append(item)
        pairs[item.pair][item.direction] = item.right
    read = [item.prediction for item in items if item.prediction is not None]
    return SpatialLogic(
        windows={_name(window): _accuracy(windows[window]) for window in sorted(windows)},
        accuracy=_accuracy(items),
        pooled=_per_cent([item.right for item in items]),
        second_image_rate=_per_cent([prediction == 2 for prediction in read]),
        pair_consistent=_per_cent([all(both.values()) for both in pairs.values() if len(both) == len(_RIGHT)]),
    )


def read_image(response: str, *, strict: bool = False) -> int | None:
    """1 or 2, or None.

    As published: after the first "closer to completion:", 1 if "img1" is anywhere in it, else 2 if "img2" is, so that
    a reply which names both says 1. With `strict`, the only image that is named after the last one (anywhere, if it is
    not there), outside the reasoning.
    """
    if strict:
        text = conclusion(response)
        ends = [match.end() for match in _ASKED_FOR[1].finditer(text)]
        named = {digit or str(1 + _ORDINALS.index(word.lower())) for digit, word in _IMAGE.findall(text, *ends[-1:])}
        return int(named.pop()) if len(named) == 1 else None
    for asked_for in _ASKED_FOR:
        match = asked_for.search(response)
        if match and (tail := response[match.end() :].strip().lower()):
            return next((number for number in (1, 2) if f"img{number}" in tail), None)
    return None


def _accuracy(items: Sequence[Item]) -> Accuracy:
    by_direction = {name: _per_cent([item.right for item in items if item.direction == name]) for name in _RIGHT}
    return Accuracy(forward=by_direction["forward"], inverse=by_direction["inverse"])


def _name(window: int) -> str:
    return f">={_LONG}" if window >= _LONG else str(window)


def _per_cent(hits: Sequence[bool]) -> float | None:
    return 100 * sum(hits) / len(hits) if hits else None
