"""The plan that a reply gives."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from action_mapping.primitives import PRIMITIVES, Primitive
from spatial_engine.scoring.reading.conclusion import conclusion, marked
from spatial_engine.scoring.reading.json_object import as_number, objects
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_EXACT = {key: primitive for primitive in PRIMITIVES for key in (primitive.symbol, *primitive.keys)}
_FOLDED = {
    re.sub(r"[\s_-]", "", key).lower(): primitive
    for primitive in PRIMITIVES
    for key in (primitive.name, primitive.symbol, *primitive.keys)
}
_SPOKEN = {
    "rollclockwise": "Roll CW", "rollcounterclockwise": "Roll CCW", "rollanticlockwise": "Roll CCW",
    "anticlockwise": "Roll CCW", "dollyforward": "Dolly In", "dollybackward": "Dolly Out", "dollyback": "Dolly Out",
    "<-": "Pan Left", "->": "Pan Right", "panup": "Tilt Up", "pandown": "Tilt Down",
}  # fmt: skip
_NAMES = re.compile(
    r"(?<![A-Za-z])(?P<name>(?:truck|pan)[ _-]?(?:left|right)|(?:pedestal|tilt)[ _-]?(?:up|down)|dolly[ _-]?(?:in|out)|"
    r"roll[ _-]?(?:ccw|cw))(?![A-Za-z])",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s\"'*_`]*(?:[:=(×x\-–—]|by|for)?[\s\"'*_`]*(?P<number>\d{1,3}+)(?:\.0{1,40}+)?+(?!\d|\s*[./]\d)(?:\s*(?:steps?|times|units?|x\b|×))?\)?",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?<![\d.])(?P<number>\d{1,3})\s*(?:steps?[ \t]*(?:of[ \t]*)?|times[ \t]*|[x×*][ \t]*)[\"'*_`]*$", re.IGNORECASE
)
_ACTIONS = ("actions", "action", "action_list", "plan", "moves")
_COUNTS = (
    "step_nums",
    "stepnums",
    "steps",
    "step_num",
    "step_numbers",
    "nums",
    "counts",
    "num_steps",
    "number_of_steps",
)


def read_plan(response: str) -> Reading | Unreadable:
    """{"actions": [...], "step_nums": [...]}, equally long, from the last object that holds a plan, else from
    "Truck Left 2, Dolly In 4". Known actions get their published names, unknown ones stay as written; counts are
    finite numbers and are not checked further.
    """
    text = conclusion(response)
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for part in (*(mark.text for mark in reversed(marked(text))), text):
        for found in objects(part):
            plan = plan_of(found)
            if plan is not None:
                return Reading(value=plan, how="tags")
    plan = _in_words(text)
    if plan is not None:
        return Reading(value=plan, how="rules")
    return Unreadable(reason="refused" if refusal(text) else "nothing found")


def plan_of(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """The plan in an object; None if it holds no complete one."""
    keyed = {key.lower().strip().replace(" ", "_"): value for key, value in found.items() if isinstance(key, str)}
    actions = next((keyed[key] for key in _ACTIONS if key in keyed), None)
    counts = next((keyed[key] for key in _COUNTS if key in keyed), None)
    if isinstance(actions, list | tuple) and actions and all(isinstance(item, dict) for item in actions):
        return _of_pairs(actions)
    if isinstance(actions, str):
        actions = [actions]
    if counts is not None and not isinstance(counts, list | tuple):
        counts = [counts]
    if isinstance(actions, list | tuple) and isinstance(counts, list | tuple):
        return _plan(actions, counts)
    if keyed and actions is None and all(action_of(key) for key in found):
        return _plan(list(found), list(found.values()))
    return None


def action_of(written: object) -> Primitive | None:
    """The primitive with this key or name, in any case and with any blanks; None if unknown."""
    if not isinstance(written, str):
        return None
    stripped = written.strip()
    folded = re.sub(r"[\s_-]", "", stripped).lower()
    known = _EXACT.get(stripped) or _FOLDED.get(folded)
    spoken = _SPOKEN.get(stripped) or _SPOKEN.get(folded)
    return known or (_FOLDED[spoken.replace(" ", "").lower()] if spoken else None)


def _of_pairs(actions: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """[{"action": ..., "steps": ...}, ...]."""
    keyed = [{str(key).lower(): value for key, value in item.items()} for item in actions]
    names = [
        next((item[key] for key in ("action", "name", "type", "actions", "move") if key in item), None)
        for item in keyed
    ]
    counts = [
        next((item[key] for key in (*_COUNTS, "count", "num", "n", "amount") if key in item), None) for item in keyed
    ]
    return _plan(names, counts)


def _plan(actions: Sequence[Any], counts: Sequence[Any]) -> dict[str, Any] | None:
    if len(actions) != len(counts) or not all(isinstance(action, str) for action in actions) or len(actions) > 1000:
        return None
    numbers = [as_number(count) for count in counts]
    if any(number is None for number in numbers):
        return None
    known = [action_of(action) for action in actions]
    return {
        "actions": [
            primitive.name if primitive else action[:80] for primitive, action in zip(known, actions, strict=True)
        ],
        "step_nums": [_whole(number) for number in numbers if number is not None],
    }


def _in_words(text: str) -> dict[str, Any] | None:
    """Named actions with a number each, of the last line or paragraph that has them; each action once."""
    for paragraph in reversed(re.split(r"\n\s*\n", text)):
        found = list(_NAMES.finditer(paragraph))
        if not found:
            continue
        after = [_AFTER.match(paragraph, name.end()) for name in found]
        before = [_BEFORE.search(paragraph, max(0, name.start() - 20), name.start()) for name in found]
        numbers = after if all(after) else before
        counts = [int(number["number"]) for number in numbers if number]
        names = [name["name"] for name in found]
        primitives = [action_of(name) for name in names]
        return _plan(names, counts) if len({p.name for p in primitives if p}) == len(names) else None
    return None


def _whole(number: float) -> int | float:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
