"""The plan in a response, found as lmms-eval's spatialtreebench finds it."""

import ast
import json
import re
import warnings
from typing import Any

from spatial_engine.scoring.official.json_block import braced, fenced

_STRAY_COMMA = re.compile(r",\s*([}\]])")
_LONGEST_LITERAL = 100_000
"""Characters. Python's parser takes seconds and gigabytes for what the reference would give it beyond."""


def read_plan(response: Any) -> dict[Any, Any] | None:
    """The first block marked json, else the first block, else from the first "{" to the last "}", else all of it.

    Read as JSON, then without commas before a closing bracket, then as a Python literal. None if that gives no dict.
    Raises TypeError for what is no text, RecursionError and MemoryError for what is nested too deeply.
    """
    if not isinstance(response, str):
        raise TypeError("expected string")
    try:
        plan = _decoded(_block(response))
    except (ValueError, SyntaxError):
        return None
    return plan if isinstance(plan, dict) else None


def _block(response: str) -> str:
    for opening in ("```json", "```"):
        if (block := fenced(response, opening, "```")) is not None:
            return block.strip()
    block = braced(response)
    return response if block is None else block


def _decoded(text: str) -> Any:
    """Raises ValueError or SyntaxError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    try:
        return json.loads(_STRAY_COMMA.sub(r"\1", text))
    except json.JSONDecodeError:
        pass
    if len(text) > _LONGEST_LITERAL:
        return None
    with warnings.catch_warnings(action="ignore"):  # of escapes that are none
        return ast.literal_eval(text)
