"""The map that a reply gives: a place for each of several names."""

from collections.abc import Mapping, Sequence
from typing import Any

from spatial_engine.scoring.reading.conclusion import conclusion, marked
from spatial_engine.scoring.reading.json_object import as_number, objects
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_POSITIONS = ("position", "pos", "location", "coordinates", "xy")


def read_places(response: str, names: Sequence[str]) -> Reading | Unreadable:
    """{name: {"position": [x, y]}} of the names that it has, from the last object that has any.

    An entry may also be [x, y] alone; and a list of objects with a "name" each will do. Names may differ in case.
    """
    text = conclusion(response)
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for part in (*(mark.text for mark in reversed(marked(text))), text):
        for found in objects(part):
            if places := _places(found, names):
                return Reading(value=places, how="tags")
    return Unreadable(reason="refused" if refusal(text) else "nothing found")


def _places(found: Mapping[str, Any], names: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    entries = found.get("objects")
    if isinstance(entries, list):
        found = {entry["name"]: entry for entry in entries if isinstance(entry, dict) and "name" in entry}
    keyed = {_key(key): entry for key, entry in found.items() if isinstance(key, str)}
    places = {name: _place(keyed.get(_key(name))) for name in names}
    return {name: {"position": place} for name, place in places.items() if place is not None}


def _place(entry: Any) -> list[float] | None:
    if isinstance(entry, dict):
        keyed = {_key(key): value for key, value in entry.items() if isinstance(key, str)}
        entry = next((keyed[key] for key in _POSITIONS if key in keyed), [keyed.get("x"), keyed.get("y")])
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return None
    x, y = (as_number(part) for part in entry)
    return None if x is None or y is None else [x, y]


def _key(name: str) -> str:
    return " ".join(name.replace("_", " ").casefold().split())
