"""The number that a reply gives."""

import math
import re
from collections.abc import Sequence

from spatial_engine.scoring.reading.conclusion import conclusion, plain
from spatial_engine.scoring.reading.cues import passages
from spatial_engine.scoring.reading.options import narrow
from spatial_engine.scoring.reading.quantities import Quantity, quantities
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_SAME = 0.01
"""Numbers that differ by less (relative) are one number, written twice: 5 m (16.4 ft)."""
_ANNOUNCED = re.compile(
    r"(?:\b(?:is|are|be|of|at|equals?|measures?|spans?|about|around|approximately|approx\.?|roughly|nearly|almost|estimated?)|[=≈~:≃])\s*$",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"[=≈≃]|\bequals\b")
_UNIT_KEY = re.compile(r"""["']units?["']\s*:\s*["']([^"']{1,20})["']""", re.IGNORECASE)


def read_number(response: str, unit: str = "") -> Reading | Unreadable:
    """The last number that the reply states as its answer, in `unit` ("m", "°", "s", ...).

    Other units of the same kind are converted; numbers with units of another kind are skipped. Without `unit`, numbers
    are taken as written (50 % is 0.5). A range is ambiguous, and so are several numbers of which none is announced as
    the answer.
    """
    text = narrow_digits(conclusion(response))
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for passage in passages(text):
        value = _first(passage.text, unit)
        if value == "ambiguous":
            return Unreadable(reason="ambiguous")
        if value is not None:
            return Reading(value=value, how="tags" if passage.tagged else "rules")
        if passage.tagged and refusal(passage.text):
            return Unreadable(reason="refused")
    if refusal(text):
        return Unreadable(reason="refused")
    value = _only(plain(text), unit)
    if value is None or value == "ambiguous":
        return Unreadable(reason="nothing found" if value is None else "ambiguous")
    return Reading(value=value, how="rules")


def _first(passage: str, unit: str) -> float | str | None:
    """The first number of a passage; after an equals sign in its first sentence, the result."""
    sentence = re.split(r"(?<=[^\d\s])[.;!?]\s|(?<=\d)[.;!?]\s+(?=[A-Z])|\n", passage, maxsplit=1)[0]
    for part in (sentence, passage):
        found = _usable(part, unit)
        if not found:
            continue
        equals = [match.end() for match in _EQUALS.finditer(part)]
        after = [quantity for quantity in found if equals and quantity.start >= equals[-1]]
        return _one((after or found)[:1] + [quantity for quantity in (after or found)[1:2] if quantity.ranged], unit)
    return None


def _only(text: str, unit: str) -> float | str | None:
    """The only number of a text; else the only one, or the last announced one, of the last sentence with numbers."""
    found = _usable(text, unit)
    found = [quantity for quantity in found if quantity.kind] or found if unit else found
    value = _one(found, unit) if found else None
    if value != "ambiguous" or not found:
        return value
    for sentence in reversed(re.split(r"(?<=\D)[.;!?]\s|(?<=\d)[.;!?]\s+(?=[A-Z])|\n", text)):
        last = _usable(sentence, unit)
        if not last:
            continue
        announced = [
            quantity for quantity in last if _ANNOUNCED.search(sentence, max(0, quantity.start - 40), quantity.start)
        ]
        value = _one(last, unit)
        return _one(announced[-1:], unit) if value == "ambiguous" and announced else value
    return "ambiguous"


def _usable(text: str, unit: str) -> list[Quantity]:
    keyed = _UNIT_KEY.search(text)
    found = quantities(text)
    if keyed:
        found = [
            quantities(f"{quantity.value!r} {keyed[1]}")[0] if quantity.kind == "" else quantity for quantity in found
        ]
    return [quantity for quantity in found if quantity.in_unit(unit) is not None]


def _one(found: Sequence[Quantity], unit: str) -> float | str | None:
    """Their common value."""
    values = [value for quantity in found if (value := quantity.in_unit(unit)) is not None]
    if not values or not all(map(math.isfinite, values)):
        return None
    if any(quantity.ranged for quantity in found):
        return "ambiguous"
    physical = [quantity.value * quantity.size for quantity in found]
    same = all(math.isclose(value, values[0], rel_tol=_SAME, abs_tol=1e-12) for value in values) or (
        len({quantity.kind for quantity in found}) == 1
        and found[0].kind != ""
        and all(math.isclose(value, physical[0], rel_tol=_SAME) for value in physical)
    )
    return values[0] if same else "ambiguous"


def narrow_digits(text: str) -> str:
    """Full-width characters as ASCII; superscripts and fractions stay."""
    if text.isascii():
        return text
    return "".join(narrow(char) if "\uff01" <= char <= "\uff5e" else char for char in text)
