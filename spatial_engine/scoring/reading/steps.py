"""The plan in several steps that a reply gives, for a gripper or hand."""

import re
from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.reading.conclusion import conclusion, marked
from spatial_engine.scoring.reading.json_object import objects
from spatial_engine.scoring.reading.plan import plan_of
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_NUMBER = re.compile(r"\d{1,3}")
_STATES = {"Gripper Open": "open", "Gripper Close": "closed", "Release": "open", "Grab": "closed"}
_MOST = 50


def read_steps(response: str) -> Reading | Unreadable:
    """{"step_1": {"actions", "step_nums", "gripper"}, ...} from the last object that holds steps, ordered by the
    numbers in their keys, or listed; a flat plan is one step. The gripper is "open", "closed", or left out."""
    text = conclusion(response)
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for part in (*(mark.text for mark in reversed(marked(text))), text):
        for found in objects(part):
            steps = [_step(step) for step in _parts(found)[:_MOST]]
            if steps and None not in steps:
                return Reading(value={f"step_{k}": step for k, step in enumerate(steps, start=1)}, how="tags")
    return Unreadable(reason="refused" if refusal(text) else "nothing found")


def _parts(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = next((found[key] for key in ("steps", "plan", "segments") if isinstance(found.get(key), list)), None)
    if listed is None:
        keys = [key for key in found if isinstance(found[key], Mapping)]
        numbers = {key: int(match[0]) for key in keys if (match := _NUMBER.search(str(key)))}
        ordered = sorted(keys, key=lambda key: numbers[key]) if len(numbers) == len(keys) else keys
        listed = [found[key] for key in ordered]
    parts = [part for part in listed if isinstance(part, Mapping)]
    return parts or [found]


def _step(part: Mapping[str, Any]) -> dict[str, Any] | None:
    plan = plan_of(part)
    if plan is None:
        return None
    stated = next((value for key, value in part.items() if "gripper" in str(key).lower()), None)
    acts = [_STATES[action] for action in plan["actions"] if action in _STATES]
    moves = [pair for pair in zip(plan["actions"], plan["step_nums"], strict=True) if pair[0] not in _STATES]
    state = _state(stated) or (acts[-1] if acts else None)
    actions, counts = ([pair[k] for pair in moves] for k in (0, 1))
    return {"actions": actions, "step_nums": counts, **({} if state is None else {"gripper": state})}


def _state(stated: Any) -> str | None:
    """ "open" or "closed"."""
    word = str(stated).strip().lower()
    if "clos" in word or word in ("1", "1.0", "true", "grab", "grasp"):
        return "closed"
    return "open" if "open" in word or word in ("0", "0.0", "false", "release") else None
