"""The point of a picture that a reply gives."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spatial_engine.scoring.reading.conclusion import conclusion, plain
from spatial_engine.scoring.reading.cues import passages
from spatial_engine.scoring.reading.number import narrow_digits
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_N = r"[-+−]?(?:\d{1,40}+(?:\.\d{1,40}+)?+|\.\d{1,40}+)(?:[eE][-+]?\d{1,2}+)?+(?!\.*+\d)\s*(?:%|px\b|pixels?\b)?"
"""Possessive: a number matches whole or not at all, so that the time stays linear."""
_Q = r"[\"'“”‘’]?"
_FORMS = (
    rf"{_Q}\bx\d?{_Q}\s*(?:-?coordinate)?\s*(?:[:=]|\bis\b)\s*{_Q}(?P<ax>{_N}){_Q}[^\d\n+−-]{{0,24}}?\by\d?{_Q}\s*(?:-?coordinate)?\s*(?:[:=]|\bis\b)"
    rf"\s*{_Q}(?P<ay>{_N})",
    rf"{_Q}\by\d?{_Q}\s*(?:[:=]|\bis\b)\s*{_Q}(?P<by>{_N}){_Q}[^\d\n+−-]{{0,24}}?"
    rf"\bx\d?{_Q}\s*(?:[:=]|\bis\b)\s*{_Q}(?P<bx>{_N})",
    rf"[\[(<{{]\s*{_Q}(?P<c1>{_N}){_Q}\s*[,;]?\s*{_Q}(?P<c2>{_N}){_Q}\s*[,;]?\s*"
    rf"{_Q}(?P<c3>{_N}){_Q}\s*[,;]?\s*{_Q}(?P<c4>{_N}){_Q}\s*[\])>}}]",
    rf"\((?P<d1>{_N})\s*,\s*(?P<d2>{_N})\)\s*,\s*\((?P<d3>{_N})\s*,\s*(?P<d4>{_N})\)",
    rf"[\[(<{{]\s*{_Q}(?P<ex>{_N}){_Q}\s*(?:,|;|\s)\s*{_Q}(?P<ey>{_N}){_Q}\s*[\])>}}]",
    rf"(?<![\w.])(?P<fx>{_N})\s*(?:,|;|\s)\s*(?P<fy>{_N})(?![\w.]*\w)(?!\s*,\s*[\d.])",
)
_POINT = re.compile("|".join(_FORMS), re.IGNORECASE)
_ASIDE = re.compile(
    r"(?:rather than|instead of|not(?: at)?|from|photo 1\b[^.\n]{0,30}|originally|than)\s*$", re.IGNORECASE
)
_SIZE = re.compile(r"\s*(?:image|picture|photo|resolution|pixels? (?:wide|image)|frame)\b", re.IGNORECASE)
_SCALED = re.compile(
    r"0\s*(?:-|–|to|\.\.|,)\s*1,?000\b|1000\s*(?:x|×|by)\s*1000|per ?mille|/\s*1000\b|"
    r"normali[sz]ed to 1,?000|scale of 1,?000",
    re.IGNORECASE,
)
_AT = re.compile(
    r"\b(?:at|to|is|be|are|point|pixel|coordinates?|location|position)\s*[:=≈~]?\s*"
    r"(?:about|around|approximately|roughly)?\s*$",
    re.IGNORECASE,
)

_POINT_TAG = re.compile(r"<points?\s[^<>]*+", re.IGNORECASE)
"""Molmo's, with x and y (or x1 and y1, ...) in it."""

_THREE_LETTERS = re.compile(r"[a-wz]{3}", re.IGNORECASE)


@dataclass(frozen=True)
class _Found:
    x: float
    y: float
    share: bool
    """Whether both are fractions of the width and height of the picture."""
    start: int
    end: int


def read_point(response: str, width_px: int, height_px: int) -> Reading | Unreadable:
    """[x, y] in pixels of a picture of this size; the centre of a box.

    Numbers from 0 to 1 that are not both whole, and percents, are fractions of width - 1 and height - 1 (as published);
    numbers up to 1000 are thousandths where the reply says so, or where one of them lies outside the picture. In
    Molmo's tags, `<point x="38.4" y="36.8">` and `<points x1=... y1=...>`, numbers up to 100 are percents. Nothing is
    clamped.
    """
    text = narrow_digits(conclusion(response))
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    scaled = _SCALED.search(text) is not None
    text = _SCALED.sub(lambda match: " " * len(match[0]), text)
    for passage in passages(text):
        found = list(_points(passage.text))
        if found and (passage.tagged or passage.firm):
            if passage.tagged and _one(found) is None:
                return Unreadable(reason="ambiguous")
            return Reading(
                value=_pixels(found[0], width_px, height_px, scaled), how="tags" if passage.tagged else "rules"
            )
        if passage.tagged and refusal(passage.text):
            return Unreadable(reason="refused")
    if refusal(text):
        return Unreadable(reason="refused")
    found = [point for point in _points(plain(text)) if (point.x, point.y) != (width_px, height_px)]
    chosen = _one(found) or _one(_alone_in_line(text)) or _one(_announced(plain(text), found))
    if chosen is None:
        return Unreadable(reason="ambiguous" if found else "nothing found")
    return Reading(value=_pixels(chosen, width_px, height_px, scaled), how="rules")


def _one(found: list[_Found]) -> _Found | None:
    """The point, if only one is named, however often."""
    return found[-1] if len({(point.x, point.y) for point in found}) == 1 else None


def _alone_in_line(text: str) -> list[_Found]:
    lines = [line for line in text.split("\n") if not _THREE_LETTERS.search(line)]
    return [point for line in lines for point in _points(line)]


def _announced(text: str, found: list[_Found]) -> list[_Found]:
    """Those after "is at", "pixel:" and the like."""
    return [point for point in found if _AT.search(text, max(0, point.start - 60), point.start)]


def _points(text: str) -> Iterator[_Found]:
    tags = [tag.span() for tag in _POINT_TAG.finditer(text)]
    for match in _POINT.finditer(text):
        groups = {name: value for name, value in match.groupdict().items() if value is not None}
        if _ASIDE.search(text, max(0, match.start() - 40), match.start()) or _SIZE.match(text, match.end()):
            continue
        values = {name: _float(value) for name, value in groups.items()}
        if not all(map(math.isfinite, values.values())):
            continue
        names = sorted(values)
        if len(names) == 4:
            one, two, three, four = (values[name] for name in names)
            x, y = (one + three) / 2, (two + four) / 2
        else:
            x, y = (values[next(name for name in names if name.endswith(axis))] for axis in "xy")
        tagged = any(start <= match.start() < end for start, end in tags) and 0 <= min(x, y) <= max(x, y) <= 100
        percent = tagged or all("%" in value for value in groups.values())
        inside = all(0 <= value <= 1 for value in values.values())
        decimal = any("." in value or "e" in value.lower() for value in groups.values())
        share = percent or (inside and decimal)
        if percent:
            x, y = x / 100, y / 100
        yield _Found(x, y, share, match.start(), match.end())


def _pixels(found: _Found, width_px: int, height_px: int, scaled: bool) -> list[float]:
    x, y = found.x, found.y
    if found.share:
        return [x * (width_px - 1), y * (height_px - 1)]
    outside = not (x <= width_px and y <= height_px)
    if min(x, y) >= 0 and max(x, y) <= 1000 and (scaled or outside):
        return [x / 1000 * (width_px - 1), y / 1000 * (height_px - 1)]
    return [x, y]


def _float(written: str) -> float:
    return float(
        re.sub(
            r"[^\d.eE+-]", "", written.replace("−", "-").replace("pixels", "").replace("pixel", "").replace("px", "")
        )
        or "nan"
    )
