"""The letter and the map in a response, found as MindCube's extractors find them (lmms-eval's spatialtreebench).

Linear in the length of the response, unlike the reference's patterns, and equal to them.
"""

import json
import re
from collections import deque
from typing import Any

from spatial_engine.scoring.official.json_block import braced

_LETTER = re.compile(r"\b([A-E])\b")
_IN_TAG = (re.compile(r"[Mm]y answer is ([A-E])"), re.compile(r"[Tt]he answer is ([A-E])"), _LETTER)
_ANYWHERE = (
    re.compile(r"(?:^|\n)(?:Answer: )?([A-E])(?:$|\s)"),
    re.compile(r'[*"]([A-E])[*"]'),
    re.compile(r"\bAnswer:?\s*+([A-E])\b"),
    re.compile(r"[Mm]y answer is ([A-E])"),
    re.compile(r"answer is ([A-E])"),
)
"""The reference's patterns that want "X." are left out: wherever they match, the rule before them has."""

_COMMENT = re.compile(r"//.*")
_BLANK = re.compile(r"[\n\r\t]")
_BARE_KEY = re.compile(r"(?<!\w)(\w++)(\s*+):")
_STRAY_COMMA = re.compile(r",\s*+([}\]])")
_PAIR = re.compile(r'"([^"]++)":\s*+{([^{}]*+(?:{[^{}]*+}[^{}]*+)*+)}')


def read_letter(text: str) -> str | None:
    """The last "X." for X from A to E, wherever it stands, in the map too; else what is concluded; else the first
    letter of the last line that has one by itself."""
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
    """The JSON object from the first "{" to the last "}", mended if need be; None if there is none.

    Raises ValueError and RecursionError for numbers and nesting beyond Python's limits.
    """
    block = braced(text)
    if block is None:
        return None
    try:
        return json.loads(block)
    except json.JSONDecodeError:
        return _mended(block)


def _mended(block: str) -> Any:
    """Without comments, line breaks, bare keys and stray commas; else pair by pair what can be read."""
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
