"""The order of photos that a reply gives."""

import re

from spatial_engine.scoring.reading.conclusion import conclusion, plain
from spatial_engine.scoring.reading.cues import passages
from spatial_engine.scoring.reading.options import narrow
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal
from templates.question import LETTERS

_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_RANKS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ITEM = (
    r"(?:(?:the\s+)?(?:photo|image|picture|frame|img|pic|view|point|mark|object|box|number|no\.?|step|option|event)s?\s*[#_-]?\s*|#)?"
    rf"[(\[\"'<]{{0,3}}(?P<item>\d{{1,2}}|[A-Z]|{'|'.join(_WORDS)})[)\]\"'>]{{0,3}}"
)
_ONE = re.compile(rf"(?<![\w.]){_ITEM}(?![\w%°]|\.\d)", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\s*(?:(?:,|;|->|-->|→|=>|⇒|➔|➡|>|<|-|–|—|/|\||、|，)?\s*(?:and\s+)?(?:then\s+|next\s+|finally\s+|last(?:ly)?\s+|"
    r"followed\s+by\s+|before\s+|after\s+that\s+|to\s+|comes?\s+|is\s+|,\s*)*)\s*",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^[\s*>#-]*(?:(?P<rank>\d{1,2})(?:st|nd|rd|th)?\s*[.):=-]|"
    rf"(?P<word>{'|'.join(_RANKS)})\w*\s*[:,-]?)\s*{_ITEM}",
    re.IGNORECASE | re.MULTILINE,
)
_ORDER = re.compile(
    r"\b(?:order|sequence|ranking|ordering)\b[^.\n\d]{0,60}?(?:\bis\b|\bare\b|\bwould be\b|[:=])", re.IGNORECASE
)


def read_order(response: str, count: int) -> Reading | Unreadable:
    """`count` different photo numbers in the order that the reply states last ("2, 1, 3", "photo 2 -> photo 1",
    {"order": [...]}, letters, a numbered list). If there is one too many and photo 1 leads, photo 1 is skipped."""
    text = narrow(conclusion(response))
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for passage in passages(text):
        found = _orders(passage.text, count)
        if found and passage.firm:
            return Reading(
                value=found[0] if not passage.tagged else found[-1], how="tags" if passage.tagged else "rules"
            )
        if passage.tagged and refusal(passage.text):
            return Unreadable(reason="refused")
    for statement in reversed(list(_ORDER.finditer(text))):
        found = _orders(plain(text[statement.end() : statement.end() + 400]), count)
        if found:
            return Reading(value=found[0], how="rules")
    found = _orders(plain(text), count)
    distinct = {tuple(order) for order in found}
    if len(distinct) > 1:
        tail = _orders(plain(text).rstrip().rsplit("\n", 1)[-1], count)
        alone = re.search(r"\border\b|\bsequence\b|\bchronolog", text.rstrip().rsplit("\n", 1)[-1], re.IGNORECASE)
        lone = not re.search(
            r"[A-Za-z]{3}", re.sub(r"(?i)photo|image|picture|then", "", text.rstrip().rsplit("\n", 1)[-1])
        )
        if len(tail) == 1 and (alone or lone):
            return Reading(value=tail[0], how="rules")
        return Unreadable(reason="ambiguous")
    if refusal(text) or not found:
        return Unreadable(reason="refused" if refusal(text) else "nothing found")
    return Reading(value=found[0], how="rules")


def _orders(text: str, count: int) -> list[list[int]]:
    """Every run of numbers that is an order, by place."""
    lone = re.fullmatch(r"[\s\W]*(\d{2,9})[\s\W]*", text)
    if lone and len(lone[1]) in (count, count + 1):
        return [order] if (order := _order([int(digit) for digit in lone[1]], count)) else []
    listed = _list(text, count)
    if listed:
        return [listed]
    runs: list[list[int]] = []
    end = -1
    for one in _ONE.finditer(text):
        number = _number(one["item"])
        if runs and end >= 0 and _BETWEEN.fullmatch(text, end, one.start()):
            runs[-1].append(number)
        else:
            runs.append([number])
        end = one.end()
    return [order for run in runs if (order := _order(run, count))]


def _list(text: str, count: int) -> list[int] | None:
    """An order written as a numbered list."""
    found = list(_LISTED.finditer(text))
    ranks = [int(line["rank"]) if line["rank"] else _RANKS.index(line["word"].lower()) + 1 for line in found]
    if len(found) not in (count, count + 1) or ranks != list(range(1, len(found) + 1)):
        return None
    return _order([_number(line["item"]) for line in found], count)


def _order(run: list[int], count: int) -> list[int] | None:
    if len(run) == count + 1 and run[0] == 1:
        run = run[1:]
    return run if len(run) == count and len(set(run)) == count and min(run) > 0 and max(run) <= count + 1 else None


def _number(item: str) -> int:
    if item.isdigit():
        return int(item)
    return _WORDS.index(item.lower()) + 1 if item.lower() in _WORDS else LETTERS.index(item.upper()) + 1
