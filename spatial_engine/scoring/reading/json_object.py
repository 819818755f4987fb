"""JSON objects in a reply, repaired where models write them badly, and numbers by name."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import json_repair

from spatial_engine.scoring.reading.conclusion import conclusion, marked, plain
from spatial_engine.scoring.reading.number import narrow_digits
from spatial_engine.scoring.reading.quantities import quantities
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_DEEPEST = 40
_MOST = 200
_ASCII = str.maketrans("“”„‟‘’‚‛＂：，｛｝", '""""\'\'\'\'":,{}')
_BARE = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?P<before>[:\[,]\s*)(?P<value>[^\s\"'()\[\]{},:][^\"'()\[\]{},:\n]{0,80}?)(?=\s*[,}\]])"
)
"""A quoted text, or a value without quotes."""
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|none", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[\[(]([^\[\]()]{1,200})[\])]")
_ALIASES = {
    "vfov": ("vertical field of view", "vertical fov", "v-fov", "v fov", "verticalfov", "fov_v", "field of view", "fov")
}
_SUFFIX = re.compile(r"(?:angle|value|in)?(?:deg|degs|degrees?|rad|radians?|m|meters?|metres?|px|pixels?|estimate)?")


def read_object(response: str, names: Sequence[str], unit: str = "", *, listed: bool = False) -> Reading | Unreadable:
    """{name: number} with all names, from the last JSON object that has them, else from text ("roll is 2.5, ...").

    Keys may differ in case and carry a unit ("Roll_deg"); numbers may be strings with a unit, converted to `unit`.
    With `listed`, a list of as many numbers will do ({"bbox_2d": [12, 30, 200, 310]}).
    """
    text = narrow_digits(conclusion(response))
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    marks = [mark.text for mark in marked(text)]
    for part in (*reversed(marks), text):
        for found in objects(part):
            numbers = _numbers(found, names, unit)
            if numbers:
                return Reading(value=numbers, how="tags")
        numbers = (_in_order(part, names) if listed else None) or _spelt_out(plain(part), names, unit)
        if numbers:
            return Reading(value=numbers, how="tags" if part is not text else "rules")
    return Unreadable(reason="refused" if refusal(text) else "nothing found")


def _in_order(text: str, names: Sequence[str]) -> dict[str, float] | None:
    """The numbers of the last list in brackets that has as many."""
    lists = ([as_number(part) for part in inner.split(",")] for inner in reversed(_IN_BRACKETS.findall(text)))
    found = next((numbers for numbers in lists if len(numbers) == len(names) and None not in numbers), None)
    return (
        None
        if found is None
        else {name: number for name, number in zip(names, found, strict=True) if number is not None}
    )


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object (or Python dict) in a text, the last first, and each before the objects inside it."""
    for block in reversed(_blocks(text)):
        value = _loaded(block)
        yield from _dicts(value)


def _blocks(text: str) -> list[str]:
    """Balanced {...} at the outermost level, in order; braces in quoted texts do not count."""
    found: list[str] = []
    depth, start = 0, 0
    for brace in re.finditer(r'"(?:[^"\\\n]|\\.){0,200}"|[{}]', text):
        if brace[0] == "{":
            if depth == 0:
                start = brace.start()
            depth += 1
        elif brace[0] == "}" and depth:
            depth -= 1
            if depth == 0:
                found.append(text[start : brace.end()])
    if depth and not found:  # cut off, or one brace too many
        found = re.findall(r"\{[^{}]*\}", text[start:])
    return found[-_MOST:]


def _loaded(block: str) -> Any:
    """The value, repaired if need be; None or a text if there is none."""
    if max(block.count("{"), block.count("[")) > _DEEPEST and _depth(block) > _DEEPEST:
        return None
    try:
        return json.loads(block)
    except (ValueError, RecursionError):
        pass
    try:
        return json_repair.loads(_BARE.sub(_quoted, block.translate(_ASCII)), skip_json_loads=True)
    except Exception:  # AssertionError and others: what the library trips over is no JSON
        return None


def _quoted(token: re.Match[str]) -> str:
    """A value without quotes that is no JSON as a text, for `as_number` to read: of "−3", "2 500" and "2.5 or 3" the
    library makes 3, 2 and 2.5."""
    value = token["value"]
    return token[0] if value is None or _SCALAR.fullmatch(value) else f'{token["before"]}"{value}"'


def _depth(block: str) -> int:
    depth = deepest = 0
    for char in block:
        depth += (char in "{[(") - (char in "}])")
        deepest = max(deepest, depth)
    return deepest


def _dicts(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in reversed(value):
            yield from _dicts(item, depth + 1)


def _numbers(found: Mapping[str, Any], names: Sequence[str], unit: str) -> dict[str, float] | None:
    keyed = {_key(key): value for key, value in found.items() if isinstance(key, str)}
    numbers = {}
    for name in names:
        keys = [_key(alias) for alias in (name, *_ALIASES.get(name, ()))]
        matching = [
            key for wanted in keys for key in keyed if key.startswith(wanted) and _SUFFIX.fullmatch(key[len(wanted) :])
        ]
        value = next((number for key in matching if (number := as_number(keyed[key], unit)) is not None), None)
        if value is None:
            return None
        numbers[name] = value
    return numbers


def as_number(value: Any, unit: str = "") -> float | None:
    """A finite number, from a number, or from a string or list that holds exactly one."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = next((value[key] for key in ("value", "estimate", "angle", "degrees") if key in value), None)
    if isinstance(value, str) and len(value) < 120:
        found = [quantity.in_unit(unit) for quantity in quantities(value) if not quantity.ranged]
        value = found[0] if len(found) == 1 else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _spelt_out(text: str, names: Sequence[str], unit: str) -> dict[str, float] | None:
    """The last "name ... number" of every name."""
    numbers = {}
    for name in names:
        written = "|".join(re.escape(alias) for alias in (name, *_ALIASES.get(name, ())))
        found = re.compile(
            rf"(?<![A-Za-z])(?:{written})(?![A-Za-z])[\"'\s]*(?:\([^()\n]{{0,30}}\)\s*)?(?:angle\s*)?(?:of\s*)?"
            r"(?:is|equals|was|=|:|≈|~|\||,|-(?=\s)|about|around|approximately|roughly|approx\.?|"
            r"estimated (?:at|as|to be)|at|to be|would be|\s)*"
            r"(?P<number>[-+−–]?\s?\.?\d[\d.]*+[^\n;|]{0,24})",
            re.IGNORECASE,
        ).findall(text)
        value = None
        for written_number in reversed(found):
            values = [quantity for quantity in quantities(written_number) if quantity.start == 0][:1]
            value = values[0].in_unit(unit) if values and not values[0].ranged else None
            if value is not None:
                break
        if value is None:
            return None
        numbers[name] = value
    return numbers


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
