"""The list of words that a reply gives, in any order."""

import json
import re

from spatial_engine.scoring.reading.conclusion import conclusion
from spatial_engine.scoring.reading.cues import passages
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_LIST = re.compile(r"[\[{]([^\[\]{}]*)[\]}]")
_BETWEEN = re.compile(r"\s*(?:[,;\n、，]|\s&\s|(?<=\w)\s+\+\s+|\s+plus\s+|(?:^|\s)and\s)\s*(?:and\s+)?", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)])\s+")
_NONE = re.compile(r"(?:none|nothing|no one|empty(?: set| list)?|∅)(?: of (?:them|these|the above))?", re.IGNORECASE)
_RUN_OF_LETTERS = re.compile(r"[A-Z]{2,8}|[A-Z](?:\s+[A-Z]){1,7}")
_SENTENCE = re.compile(r"[.!?](?=\s|$)")
_EDGES = " \t.!\"'`*“”‘’"
_MOST_WORDS = 6
"""Of one element; a longer one is a sentence."""


def read_words(response: str) -> Reading | Unreadable:
    """The words that the reply states last: a JSON list, or "the door, the chair and the lamp"; [] for "none".

    Letters may stand together ("ACD"). "A or B" is ambiguous.
    """
    text = conclusion(response)
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for passage in passages(text):
        if passage.tagged and refusal(passage.text) and not _NONE.fullmatch(passage.text.strip(_EDGES)):
            return Unreadable(reason="refused")
        stated = passage.text if passage.tagged else _SENTENCE.split(passage.text, maxsplit=1)[0]
        if (passage.tagged or passage.firm) and (found := _listed(stated)) is not None:
            return _reading(found, "tags" if passage.tagged else "rules")
    if refusal(text):
        return Unreadable(reason="refused")
    found = _listed(text.rsplit("\n\n", 1)[-1])
    return Unreadable(reason="nothing found") if found is None else _reading(found, "rules")


def _reading(found: list[str], how: str) -> Reading | Unreadable:
    if any(re.search(r"\bor\b", word, re.IGNORECASE) for word in found):
        return Unreadable(reason="ambiguous")
    return Reading(value=found, how="tags" if how == "tags" else "rules")


def _listed(text: str) -> list[str] | None:
    """The elements of the last list in brackets, else those of the whole text; None where one is a sentence."""
    lists = _LIST.findall(text)
    inner = lists[-1] if lists else text.strip(_EDGES)
    if lists and (quoted := _json_list(f"[{inner}]")) is not None:
        return quoted
    if not inner.strip() or _NONE.fullmatch(inner.strip(_EDGES)):
        return [] if lists or inner.strip() else None
    if _RUN_OF_LETTERS.fullmatch(inner.strip(_EDGES)):
        return [letter for letter in inner if letter.isalpha()]
    found = [_BULLET.sub("", part.strip()).strip(_EDGES) for part in _BETWEEN.split(inner)]
    found = [part for part in found if part]
    return found if found and all(len(part.split()) <= _MOST_WORDS for part in found) else None


def _json_list(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if all(isinstance(word, str) for word in found) else None
