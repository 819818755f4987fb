"""Numbers with their units, as people write them."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_KINDS: dict[str, dict[float, str]] = {
    "length": {
        1.0: "m meter meters metre metres 米",
        0.1: "dm",
        0.01: "cm centimeter centimeters centimetre centimetres 厘米",
        1e-3: "mm millimeter millimeters millimetre millimetres 毫米",
        1e3: "km kilometer kilometers kilometre kilometres",
        0.3048: "ft foot feet",
        0.0254: "in inch inches",
        0.9144: "yd yard yards",
        1609.344: "mi mile miles",
    },
    "angle": {
        1.0: r"° º ˚ deg degs degree degrees \circ ^\circ 度",
        math.degrees(1): "rad rads radian radians",
    },
    "time": {
        1.0: "s sec secs second seconds",
        1e-3: "ms millisecond milliseconds",
        60.0: "min minute minutes",
        3600.0: "h hour hours",
    },
    "area": {
        1.0: "m² m2 m^2 sqm square_meter square_meters square_metres",
        1e-4: "cm² cm2 cm^2",
        0.09290304: "ft² ft2 ft^2 square_feet square_foot sq_ft",
    },
    "speed": {1.0: "m/s", 0.01: "cm/s", 1e-3: "mm/s", 1 / 3.6: "km/h kmh", 0.44704: "mph", 0.3048: "ft/s"},
    "pixel": {1.0: "px pixel pixels"},
    "mass": {1.0: "kg", 1e-3: "g", 0.45359237: "lb"},
    "share": {0.01: "% percent ％"},
    "ratio": {1.0: "x × times fold"},
}
"""Kind -> size in m, degrees, s, m², m/s, kg -> names."""

UNITS: dict[str, tuple[str, float]] = {
    name.replace("_", " "): (kind, size)
    for kind, sizes in _KINDS.items()
    for size, names in sizes.items()
    for name in names.split()
}
"""Name -> (kind, size)."""

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: value for value, word in enumerate(_ONES.split())}
NUMBER_WORDS |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
"""0 to 19, and the tens."""
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")

_WORD = "|".join((*sorted(NUMBER_WORDS, key=len, reverse=True), *_SCALES))
_UNIT = "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"""(?<![\w.,/^])(?:(?P<sign>(?<![\w)\]°%.])[-+−‐‑–]\s?|(?:minus|negative)\s+))?
    (?:(?P<digits>\d{{1,3}}(?:[,'’\u00a0\u202f\u2009\ ]\d{{3}})+(?:\.\d+)?(?!\d)
      |\d{{1,3}}(?:\.\d{{3}})+(?:,\d+)(?!\d)|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\d)|\d+,\d+(?![\d,])|\d++(?:\.\d*+)?+(?!\.\d)|\.\d+)
     (?:\s?(?P<exponent>[eE][-+−]?\d{{1,4}}|[×x*·]\s?10\s?(?:\^?\{{?\s?[-+−]?\d{{1,4}}\}}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\*\*\s?-?\d{{1,4}})))?
     (?:\s?(?P<vulgar>[½¼¾⅓⅔⅛])|\s(?P<mixed>\d/\d)(?!\d)|\s?/\s?(?P<divisor>\d+(?:\.\d+)?)(?![\d/]))?
     |(?P<alone>[½¼¾⅓⅔⅛])
     |(?P<words>(?:(?:{_WORD})(?![a-z])[\s-]*(?:and\s+(?=(?:{_WORD})\b))?)+(?:point(?:[\s-]+(?:{_WORD}))+)?(?:\s*and\s+a\s+half)?|half(?=\s+(?:an?\s+)?\w)))
    (?:[\s-]?(?:an?\s+)?[(\[]?(?P<unit>{_UNIT}|''|["'″′”’])(?![A-Za-z²³]))?""",
    re.IGNORECASE | re.VERBOSE,
)
_TAIL = re.compile(r"[A-Za-z_]|:\d\d")
_NAMED = re.compile(
    r"(?:photos?|images?|pictures?|frames?|points?|objects?|cameras?|views?|steps?|figures?|fig\.|rooms?|options?|parts?|marks?|markers?|"
    r"labels?|questions?|case|level|stage|number|no\.|#|item|scene|video|clip|camera|pixel|row|column|person|chair|box|car)\s*#?$",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"[(\[{<][^()\[\]{}<>]{0,120}[)\]}>]")
_LIST_NUMBER = re.compile(r"^[\s*#>-]*\d{1,2}(?:[.):]\s+(?=\S)|\)\s*(?=[A-Za-z]))", re.MULTILINE)
_RANGE = re.compile(r"\s*(?:-|–|—|−|~|～|to|through|or|up\s+to)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*and\s*", re.IGNORECASE)
_PLUS_MINUS = re.compile(r"\s*(?:±|\+/-|\+-|plus or minus|\\pm)\s*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number in a text, with its unit."""

    value: float
    """As written; in base units it is `value` times `size`."""
    kind: str
    """Kind of its unit ("length", "angle", ...), "" where none is written."""
    size: float
    """Of its unit in base units (m, degrees, s)."""
    start: int
    end: int
    ranged: bool = False
    """Whether it is one end of a range."""

    def in_unit(self, unit: str) -> float | None:
        """The value in that unit; None where the units are of different kinds; as written for unit ""."""
        asked = UNITS.get(unit) or UNITS.get(unit.lower())
        if self.kind == "share" and unit == "":
            return self.value * self.size
        if asked is None or self.kind == "":
            return self.value if unit == "" or self.kind in ("", unit.lower()) else None
        return self.value * self.size / asked[1] if self.kind == asked[0] else None


def quantities(text: str) -> list[Quantity]:
    """Every number in order, but those of names ("photo 2"), coordinates ("(3, 4)"), lists and error bars ("± 10")."""
    text = _LIST_NUMBER.sub(lambda found: " " * len(found[0]), text)
    text = _BRACKETS.sub(lambda found: " " * len(found[0]) if _is_place(found[0]) else found[0], text)
    found = list(_plain_numbers(text))
    joined: list[Quantity] = []
    for quantity in found:
        before = joined[-1] if joined else None
        between = text[before.end : quantity.start] if before else ""
        if (before and _RANGE.fullmatch(between) and between.strip()) or (
            before
            and _BETWEEN.fullmatch(between)
            and re.search(r"between\s*$", text[max(0, before.start - 20) : before.start], re.IGNORECASE)
        ):
            joined[-1] = _ranged(before)
            joined.append(_ranged(quantity))
        elif before and not between.strip(" ,") and "," not in between and _is_smaller_part(before, quantity):
            whole = before.value * before.size + quantity.value * quantity.size  # 5 ft 8 in
            joined[-1] = Quantity(
                value=whole / before.size, kind=before.kind, size=before.size, start=before.start, end=quantity.end
            )
        else:
            joined.append(quantity)
    return joined


def _plain_numbers(text: str) -> Iterator[Quantity]:
    for found in _NUMBER.finditer(text):
        end = found.end()
        if found["unit"] is None and _TAIL.match(text, end):
            continue  # 3D, 2nd, 10:30
        before = text[max(0, found.start() - 16) : found.start()]
        if (_NAMED.search(before) and found["unit"] is None) or _PLUS_MINUS.search(before):
            continue
        value = _value(found)
        if value is None or not math.isfinite(value):
            continue
        kind, size = _unit_of(found["unit"])
        yield Quantity(value=value, kind=kind, size=size, start=found.start(), end=end)


def _value(found: re.Match[str]) -> float | None:
    if found["words"]:
        value = _number_from_words(found["words"].lower())
    elif found["alone"]:
        value = _FRACTIONS[found["alone"]]
    else:
        value = float(_digits(found["digits"]))
        if found["exponent"]:
            power = re.sub(
                r"^(?:e|[×x*·]\s?10\s?)", "", found["exponent"].translate(_SUPERSCRIPTS), flags=re.IGNORECASE
            )
            value = (
                float(f"{value!r}e{int(re.sub('[^0-9-]', '', power) or '0')}")
                if "e" not in repr(value)
                else value * 10.0 ** min(300, int(re.sub("[^0-9-]", "", power) or "0"))
            )
        if found["vulgar"]:
            value += _FRACTIONS[found["vulgar"]]
        if found["mixed"] and found["mixed"][2] != "0":
            value += int(found["mixed"][0]) / int(found["mixed"][2])
        if found["divisor"]:
            divisor = float(found["divisor"])
            value = value / divisor if divisor else math.nan
    return -value if found["sign"] and found["sign"].strip() != "+" else value


def _digits(written: str) -> str:
    """With a point as decimal sign and no separators."""
    written = re.sub(r"['’\u00a0\u202f\u2009 ]", "", written)
    if "." in written and "," in written:
        thousands = "," if written.index(",") < written.index(".") else "."
        return written.replace(thousands, "").replace(",", ".")
    if written.count(".") > 1:
        return written.replace(".", "")
    if "," in written:
        thousands_like = re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+", written)
        return written.replace(",", "" if thousands_like else ".")
    return written


def _number_from_words(words: str) -> float:
    """Value of a number in words."""
    if words == "half":
        return 0.5
    whole, _, decimals = words.partition("point")
    halves = 0.5 if re.search(r"and\s+a\s+half", words) else 0.0
    total = part = 0
    for word in re.findall(r"[a-z]+", whole):
        if word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        else:
            part += NUMBER_WORDS.get(word, 0)
    digits = "".join(
        str(NUMBER_WORDS.get(word, "")) for word in re.findall(r"[a-z]+", decimals) if word in NUMBER_WORDS
    )
    return total + part + halves + (float(f"0.{digits}") if digits else 0.0)


def _unit_of(written: str | None) -> tuple[str, float]:
    if not written:
        return "", 1.0
    feet_or_inches = {"'": "ft", "′": "ft", "’": "ft", '"': "in", "″": "in", "”": "in", "''": "in"}
    name = feet_or_inches.get(written, written)
    return UNITS.get(name) or UNITS[name.lower()]


def _is_place(bracket: str) -> bool:
    """Several numbers in brackets, with a comma or a name each."""
    numbers = re.findall(r"\d+(?:\.\d+)?", bracket)
    return (
        len(numbers) > 1
        and bool(re.search(r"\d\s*%?\s*,\s*[-+−]?\s*(?:[a-z]\w?\s*[=:]\s*)?\d", bracket, re.IGNORECASE))
        and not re.fullmatch(r"[(\[{<]\s*[-+−]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?\s*[a-zA-Z°%]*\s*[)\]}>]", bracket)
    )


def _is_smaller_part(before: Quantity, quantity: Quantity) -> bool:
    return (
        before.kind == quantity.kind != ""
        and quantity.size < before.size
        and quantity.value * quantity.size < before.size
    )


def _ranged(quantity: Quantity) -> Quantity:
    return Quantity(
        value=quantity.value,
        kind=quantity.kind,
        size=quantity.size,
        start=quantity.start,
        end=quantity.end,
        ranged=True,
    )
