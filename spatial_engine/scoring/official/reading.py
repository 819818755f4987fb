"""What the published metrics find in a response, by the reference's own rules (lmms-eval's spatialtreebench).

Equal to the reference's patterns, in time linear in the length of the response.
"""

import ast
import json
import re
import warnings
from collections import deque
from typing import Any


def fenced(text: Any, opening: str, closing: str = "\n```") -> str | None:
    """What stands between the first `opening` and the next `closing`. Raises TypeError if `text` is no text."""
    if opening not in text:
        return None
    start = text.index(opening) + len(opening)
    end = text.find(closing, start)  # without one here there is none after a later opening
    return None if end < 0 else text[start:end]


def braced(text: str) -> str | None:
    """From the first "{" to the last "}", in that order."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else None


_LONGEST_LITERAL = 100_000
"""Characters. For longer texts, which the reference parses too, Python's parser takes seconds and gigabytes."""


def read_plan(response: Any) -> dict[Any, Any] | None:
    """The first block marked json, else the first block, else from the first "{" to the last "}", else all of it.

    Read as JSON, then without commas before a closing bracket, then as a Python literal. None if that gives no dict.
    Raises TypeError if `response` is no text, RecursionError and MemoryError if it is nested too deeply.
    """
    if not isinstance(response, str):
        raise TypeError("expected string")
    try:
        plan = _decoded_plan(_plan_text(response))
    except (ValueError, SyntaxError):
        return None
    return plan if isinstance(plan, dict) else None


def _plan_text(response: str) -> str:
    for opening in ("```json", "```"):
        if (block := fenced(response, opening, "```")) is not None:
            return block.strip()
    block = braced(response)
    return response if block is None else block


def _decoded_plan(text: str) -> Any:
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


_LETTER = re.compile(r"\b([A-E])\b")
_IN_TAG = (re.compile(r"[Mm]y answer is ([A-E])"), re.compile(r"[Tt]he answer is ([A-E])"), _LETTER)
_ANYWHERE = (
    re.compile(r"(?:^|\n)(?:Answer: )?([A-E])(?:$|\s)"),
    re.compile(r'[*"]([A-E])[*"]'),
    re.compile(r"\bAnswer:?\s*+([A-E])\b"),
    re.compile(r"[Mm]y answer is ([A-E])"),
    re.compile(r"answer is ([A-E])"),
)
"""Without the reference's patterns for "X.": wherever they match, an earlier rule has matched."""

_COMMENT = re.compile(r"//.*")
_BLANK = re.compile(r"[\n\r\t]")
_BARE_KEY = re.compile(r"(?<!\w)(\w++)(\s*+):")
_STRAY_COMMA = re.compile(r",\s*+([}\]])")
_PAIR = re.compile(r'"([^"]++)":\s*+{([^{}]*+(?:{[^{}]*+}[^{}]*+)*+)}')


def read_letter(text: str) -> str | None:
    """The last "X." for X from A to E, even inside the map; else the letter of a stated answer; else the first letter
    of the last line that has one by itself."""
    dotted = max(text.rfind(f"{letter}.") for letter in "ABCDE")
    if dotted >= 0:
        return text[dotted]
    _, _, tagged = text.partition("<Answer>")
    tagged, _, _ = tagged.partition("<")
    for patterns, part in ((_IN_TAG, tagged), (_ANYWHERE, text)):
        for pattern in patterns:
            if found := _last(pattern, part):
                return found[1]
    if not (found := _last(_LETTER, text)):
        return None
    first = _LETTER.search(text, text.rfind("\n", 0, found.start()) + 1)
    return first[1] if first else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Of the matches that do not overlap, from the left."""
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def read_map(text: str) -> Any:
    """The JSON object from the first "{" to the last "}", repaired if need be; None if there is none.

    Raises ValueError and RecursionError for numbers and nesting beyond Python's limits.
    """
    block = braced(text)
    if block is None:
        return None
    try:
        return json.loads(block)
    except json.JSONDecodeError:
        return _repaired(block)


def _repaired(block: str) -> Any:
    """Without comments, line breaks, unquoted keys and stray commas; else the pairs that can be read one by one."""
    try:
        return json.loads(_tidied(_BLANK.sub(" ", _COMMENT.sub("", block))))
    except (ValueError, RecursionError):
        pairs: dict[str, Any] = {}
        for name, inside in _PAIR.findall(block):
            try:
                pairs[name] = json.loads(_tidied("{" + inside + "}"))
            except (ValueError, RecursionError):
                continue
        return pairs or None


def _tidied(text: str) -> str:
    return _STRAY_COMMA.sub(r"\1", _BARE_KEY.sub(r'"\1"\2:', text))
