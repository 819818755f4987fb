"""Options that a text names without stating an answer: at the beginning of a line, or anywhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spatial_engine.scoring.reading.cues import WORD, WRONG
from spatial_engine.scoring.reading.options import Choice, Options
from spatial_engine.scoring.reading.reading import refusal

_BARE = re.compile(rf"(?<![{WORD}\\'’.-])[A-Z](?![{WORD}]|[.]\w|['’]\w|-\w)")
_LABEL = re.compile(r"[\s>*_#•·+\-–—\"'“‘`(\[{\\$✅✓☑]*")
_MARKER = re.compile(r"\s*[)\]}\"'*_`”’]*\s*(?:[.):：,;\-–—=]|$)")
_REASON = re.compile(r"[\s)*\"']*(?:[.:)(\-–—]|because|since|as\b|due|is\b|wins)")
_MARKS = re.compile(r"[\s)\]*\"'_.:\-–]*")
_DENIED = re.compile(
    r"(?:\b(?:not|neither|nor|than|instead of|rather than|except)|n['’]t)\s+(?:\w+\s+){0,2}[(\[\"'*]*$"
    r"|\blet(?: me|['’]s| us)\b[^.\n]{0,60}$|\b(?:for example|for instance|such as|e\.g\.)[^.\n]{0,40}$",
    re.IGNORECASE,
)
"""Before an option that is not meant, or not yet: "not A", "let me look at A", "a letter such as A"."""
_SHARE = re.compile(r"[,;]\s*[(\"'*]*(?P<letter>[A-Z])[)\"'*]*\s*[:=]\s*[\d.]")
"""One of a list that gives every option a number: "A: 25 %, B: 25 %"."""
_NAMED_LIKE_IT = re.compile(
    r"\b(?:points?|objects?|marke[rd]|marks?|labell?ed|labels?|cameras?|views?|rooms?|cars?|regions?|positions?|box|"
    r"plans?|type|class|category|things?|items?|images?|frames?|photos?|pictures?|figures?|spots?|person|robot|vitamin|"
    r"place|location|target|vehicle|building|block|step|part|area|zone|line|side|corner|pixel|dot|circle|arrow|path|"
    r"route)\s+$",
    re.IGNORECASE,
)
"""Before a letter that is the name of something else ("point A")."""


@dataclass(frozen=True, kw_only=True)
class Mention:
    """An option that is named by its letter or its words, and not denied."""

    letter: str
    start: int
    end: int
    """Where its words end, if they follow its letter."""


def mentions(text: str, options: Options) -> list[Mention]:
    """All of them, by place."""
    words = list(options.mentions.finditer(text))
    found = [Mention(letter=options.letter_in(one[0]), start=one.start(), end=one.end()) for one in words]
    for bare in _BARE.finditer(text):
        letter = options.letter_at(text, bare.start())
        inside = any(one.start() <= bare.start() < one.end() for one in words)
        other = _NAMED_LIKE_IT.search(text, max(0, bare.start() - 16), bare.start())
        if letter and letter[0] in options.letters and not inside and not other:
            end = past_own_words(text, letter[1], letter[0], options)
            found.append(Mention(letter=letter[0], start=bare.start(), end=end))
    kept = [one for one in found if not _DENIED.search(text, max(0, one.start - 70), one.start)]
    return sorted(kept, key=lambda one: one.start)


def named(text: str, options: Options) -> Choice | None:
    """The only option that begins a line; else the only one that is named at all. "ambiguous" if there are several,
    "refused" where the text declines; None if none is named."""
    leading = dict(_leading(text, options))
    if len(leading) == 1:
        ((choice, line),) = leading.items()
        return "refused" if choice in options.letters and declines(line, options) else choice
    if declines(text, options):
        return "refused"
    mentioned = {one.letter for one in mentions(text, options) if not WRONG.match(text, one.end)}
    if leading or len(mentioned) > 1:
        return "ambiguous"
    return mentioned.pop() if mentioned else None


def declines(text: str, options: Options) -> bool:
    """Whether the text declines to answer, in other words than an option's own."""
    others = options.mentions.sub(lambda one: " " if refusal(one[0]) else one[0], text)
    return refusal(others) is not None


def line_start(text: str, place: int) -> int:
    """Where the words of a line begin, after bullets, quotes and brackets."""
    label = _LABEL.match(text, place)
    return label.end() if label else place


def reason_follows(text: str, place: int) -> bool:
    """Whether a reason follows, or more words on the option."""
    return _REASON.match(text, place) is not None


def past_own_words(text: str, place: int, letter: str, options: Options) -> int:
    """Where an option's own words end if they follow its letter, else the same place."""
    marks = _MARKS.match(text, place)
    words = options.text_at(text, marks.end()) if marks else None
    return words[1] if words and words[0] == letter else place


def _leading(text: str, options: Options) -> Iterator[tuple[Choice, str]]:
    """(the choice that begins a line, the line), unless it is called wrong."""
    for line in re.finditer(r"[^\n]+", text):
        start = line_start(text, line.start())
        letter = options.letter_at(text, start)
        if letter is None or letter[0] not in options.letters or not text[start].isupper():
            continue
        end = past_own_words(text, letter[1], letter[0], options)
        choice = options.choice_at(text, start)
        if WRONG.match(text, end) or choice is None:
            continue
        shares = {share["letter"] for share in _SHARE.finditer(text, end, line.end())} & set(options.letters)
        if shares - {letter[0]}:
            yield "ambiguous", line[0]
            continue
        marked = _MARKER.match(text, letter[1]) or reason_follows(text, letter[1])
        if marked or end > letter[1] or choice[0] == "ambiguous":
            yield choice[0], text[start : line.end()]
