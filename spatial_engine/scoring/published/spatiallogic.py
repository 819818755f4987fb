"""SpatialLogic: which of two images of a task is closer to its completion, shown in both orders.

Forward shows (start, end), so that the second is right; inverse (end, start), so that the first is.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar

from spatial_engine.errors import UsageError
from spatial_engine.scoring.reading.conclusion import conclusion
from spatial_engine.scoring.scorers import Item, ScoredItem, Scorer, Totals, mean
from templates.answers.score import Score

_LONG = 12
_TARGETS = ("img1", "img2")
_ASKED_FOR = (
    re.compile("closer to completion:"),
    re.compile(r"closer\s++to\s++completion\s*+:", re.IGNORECASE),
)
_ORDINALS = ("first", "second")
_IMAGE = re.compile(r"\b(?:img|image)\s*_?([12])\b|\b(first|second)\b", re.IGNORECASE)


class SpatialLogic(Scorer):
    """As the repository reads it and the paper counts it."""

    source: ClassVar[str] = "accuracy in both orders of two images and the bias between them (paper, repository)"
    fields: ClassVar[Mapping[str, str]] = {
        "target": "img1 or img2, the image that is closer to completion",
        "window": "how far apart the images are, in steps",
    }
    strict: ClassVar[bool] = False

    def score(self, item: Item, response: str) -> Score:
        """1 if the response names the right image; what cannot be read is wrong."""
        if item["target"] not in _TARGETS:
            raise UsageError(f"the target {str(item['target'])[:40]!r} is no image", "it must be img1 or img2")
        image = read_image(response, strict=self.strict)
        return Score(value=float(f"img{image}" == item["target"]), detail={"prediction": image})

    def category(self, item: Item) -> str:
        """The window: "5" to "11" (or less), and ">=12"."""
        window = int(item["window"])
        return f">={_LONG}" if window >= _LONG else f"{window:2}".strip()

    def total(self, scored: Sequence[ScoredItem]) -> Totals:
        """The mean of both orders' accuracies, unweighted; None where one order is missing.

        `bias`: forward - inverse; above 0 the second image is named whatever it shows. `second_image_rate`: share of
        "2" among the answers that were read. `pair_consistent`: share of pairs (field `pair`) of which both orders
        were answered right, among pairs that were shown in both. `windows`: forward and inverse accuracy by window.
        """
        forward, inverse, both = _orders(scored)
        read = [one.score.detail["prediction"] for one in scored if one.score.detail.get("prediction") is not None]
        groups = self.groups(scored)
        windows = {name: _orders(groups[name]) for name in sorted(groups, key=lambda name: (len(name), name))}
        return Totals(
            score=both,
            categories={name: found[2] for name, found in windows.items()},
            detail={
                "forward": forward,
                "inverse": inverse,
                "bias": None if forward is None or inverse is None else forward - inverse,
                "pooled": mean(scored),
                "second_image_rate": sum(image == 2 for image in read) / len(read) if read else None,
                "pair_consistent": _pair_consistent(scored),
                "windows": {name: {"forward": a, "inverse": b} for name, (a, b, _) in windows.items()},
            },
        )


class SpatialLogicStrict(SpatialLogic):
    """Without loopholes."""

    source: ClassVar[str] = "the same, read after the reasoning; a response that names both images is wrong"
    strict: ClassVar[bool] = True


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


def _orders(scored: Sequence[ScoredItem]) -> tuple[float | None, float | None, float | None]:
    """Accuracy of the forward order, of the inverse one, and their mean; None where there are no items."""
    inverse, forward = (mean([one for one in scored if one.item["target"] == target]) for target in _TARGETS)
    return forward, inverse, None if forward is None or inverse is None else (forward + inverse) / 2


def _pair_consistent(scored: Sequence[ScoredItem]) -> float | None:
    pairs: dict[object, dict[str, bool]] = defaultdict(dict)
    for one in scored:
        if "pair" in one.item:
            pairs[one.item["pair"]][one.item["target"]] = one.score.value == 1
    both = [all(right.values()) for right in pairs.values() if len(right) == len(_TARGETS)]
    return sum(both) / len(both) if both else None
