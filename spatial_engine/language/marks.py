"""Numbers, units, photos and lettered marks that a text names."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from spatial_engine.language.lexicon import SIGNS, Lexicon

_NUMBER = r"(?:(?<![\w.,])[-−])?(?<![\w.])\d+(?:[.,]\d+)?(?![\d])"
_AND = r"\s*(?:,\s*(?:and|or|und|oder)?|and|or|to|und|oder|bis|[–&、和到与])\s*"
_LIST = rf"\d+(?:{_AND}\d+(?![\d.]*\s*(?:°|px|cm|mm|m\b)))*"
_IDS = re.compile(r"\d+")
_LETTER = r"(?<![\w'’-])[B-HJ-Z](?![\w-])"
_UNSPACED_LETTER = r"(?<![A-Za-z'’-])[B-HJ-Z](?![A-Za-z-])"
_TIMES = re.compile(r"(?<=\d)\s*[x×*]\s*(?=\d)")
_DIMENSIONS = re.compile(r"\b[23]-?D\b")


@dataclass(frozen=True, kw_only=True)
class Marks:
    """In the order of the text, as often as it names them."""

    photos: Sequence[int]
    """Numbers of photos."""
    letters: Sequence[str]
    """Marked points, boxes and lines: P, Q."""
    numbers: Sequence[float]
    """All other numbers in digits, be they marks or measures."""
    units: Mapping[float, frozenset[str]]
    """Units that stand directly behind a number, by the number."""


def marks(text: str, lexicon: Lexicon, photo: str) -> Marks:
    """Those of a text. `photo`: regular expression of what photos are called."""
    text = _DIMENSIONS.sub(" ", _TIMES.sub(" × ", text)).replace("−", "-")
    photos: list[int] = []

    def taken(hit: re.Match[str]) -> str:
        photos.extend(int(id) for id in _IDS.findall(hit["ids"]))
        return " "

    rest = re.sub(rf"(?:{photo})\s*(?P<ids>{_LIST})", taken, text, flags=re.IGNORECASE)
    letters = re.findall(_LETTER if lexicon.spaced else _UNSPACED_LETTER, rest)
    measured = list(_measured(rest, lexicon))
    units: dict[float, set[str]] = defaultdict(set)
    for number, unit in measured:
        if unit:
            units[number].add(unit)
    return Marks(
        photos=photos,
        letters=letters,
        numbers=[number for number, _ in measured],
        units={number: frozenset(found) for number, found in units.items()},
    )


def units(text: str, lexicon: Lexicon) -> set[str]:
    """All units that a text names, in words or behind a number."""
    words = {meaning for meaning, _ in lexicon.found(text) if lexicon.entries[meaning].kind == "unit"}
    return words | {unit for _, unit in _measured(text, lexicon) if unit}


def _measured(text: str, lexicon: Lexicon) -> Iterator[tuple[float, str]]:
    """(number, unit or "") of all numbers in digits."""
    for hit in _numbers(lexicon).finditer(text):
        unit = next((name for name, found in hit.groupdict().items() if name != "number" and found), "")
        yield float(hit["number"].replace(",", ".")), unit.removesuffix("_")


@cache
def _numbers(lexicon: Lexicon) -> re.Pattern[str]:
    words = {name: entry.words for name, entry in lexicon.entries.items() if entry.kind == "unit"}
    named = [f"(?P<{name}>{text})" for name, text in words.items()]
    signs = [f"(?P<{name}_>{re.escape(sign)})" for name, sign in SIGNS.items()]
    end = r"(?![A-Za-z])"
    return re.compile(rf"(?P<number>{_NUMBER})(?:[\s-]*(?:{'|'.join([*named, *signs])}){end})?")


def same_sequence(before: Sequence[object], after: Sequence[object]) -> bool:
    """Whether a text names the same in the same order. Naming something again may be added or left out."""
    a, b = ([key for key, _ in groupby(found)] for found in (before, after))
    if a == b:
        return True
    return len(a) != len(b) and list(dict.fromkeys(a)) == list(dict.fromkeys(b))
