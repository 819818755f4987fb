"""The part of a reply that is its answer: without reasoning and control tokens; and its answer tags and boxes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 20_000
"""Characters, from the end, that are searched for an answer."""

_THOUGHT = (
    r"(?:seed:)?think(?:ing)?|thoughts?|reasoning|reason|rationale|analysis|reflection|scratchpad|cot|caption|summary"
)
_BORDER = re.compile(
    rf"[<\[◁](?:(?P<close>/)?(?:{_THOUGHT})>"
    r"|\|(?:(?P<begin>begin_of_thought|START_THINKING)|(?P<end>end_of_thought|END_THINKING))\|>"
    r"|(?P<open_kimi>think▷)|(?P<close_kimi>/think▷)|(?P<open_mistral>THINK\])|(?P<close_mistral>/THINK\])"
    r"|(?P<channel>\|channel\|>(?:analysis|commentary)\b)|(?P<final>\|channel\|>final(?:<\|message\|>)?))",
    re.IGNORECASE,
)
_CLOSING = ("close", "end", "close_kimi", "close_mistral", "final")
_TOKENS = re.compile(
    r"<\|(?!begin_of_box|end_of_box)[\w ]{1,40}\|>|</?s>|<(?:bos|eos|pad|start_of_turn|end_of_turn)>|"
    r"</?(?-i:b|i|u|p|br|em|strong|span|div|code)(?:\s[^<>]{0,80})?>",
    re.IGNORECASE,
)
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0e\ufe0f\x00"))
_RUN = re.compile(r"[\W_]{400,}")
_ANSWER_TAG = re.compile(
    r"<\s?(?P<close>/)?\s?(?:final[_ ]?)?"
    r"(?:answer|ans|conclusion|final|solution|output|result|response)\b[^<>\n]{0,80}>",
    re.IGNORECASE,
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*(?P<brace>\{)?|<\|begin_of_box\|>", re.IGNORECASE)
_BOX_END = "<|end_of_box|>"
_LATEX = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|math\w{2,4}|mbox|boldsymbol|bf|rm|large)(?![a-zA-Z])\s*"
)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_LONGEST_MARKED = 4_000
_MOST_MARKS = 8


@dataclass(frozen=True, kw_only=True)
class Marked:
    """The contents of an answer tag or box."""

    text: str
    start: int
    """Where the tag begins and ends in the text."""
    end: int


def conclusion(response: str) -> str:
    """The last 20 000 characters outside reasoning blocks (<think>, <reasoning>, harmony channels, ...).

    A block that is never closed hides all that follows: the reply was cut off while reasoning. Where a block ends that
    never began, everything before is reasoning. Text that is ~~struck out~~ is skipped.
    """
    kept: list[str] = []
    size = len(response)
    start, thinking = 0, False
    for border in _BORDER.finditer(response):
        if border.lastgroup in _CLOSING:
            if not thinking:
                kept.clear()
        elif not thinking:
            kept.append(response[max(start, border.start() - LONGEST) : border.start()])
        thinking = border.lastgroup not in _CLOSING
        start = border.end()
    if not thinking:
        kept.append(response[max(start, size - LONGEST) :])
    text = " \n".join(kept)[-LONGEST:]
    text = _STRUCK.sub(" ", _TOKENS.sub(" ", text)).translate(_INVISIBLE).strip()
    return _RUN.sub(lambda run: f"{run[0][:100]} {run[0][-100:]}", text)  # nobody reads them, and patterns take long


def marked(text: str) -> list[Marked]:
    """The last answer tags and boxes, in order; a tag that is never closed extends to the end."""
    if "<" not in text and "\\" not in text:
        return []
    marks = [*list(_tagged(text))[-_MOST_MARKS:], *list(_boxed(text))[-_MOST_MARKS:]]
    return sorted(marks, key=lambda mark: (mark.start, -mark.end))[-_MOST_MARKS:]


def plain(text: str) -> str:
    """Without the commands, braces and dollars of LaTeX, and without emphasis: as a reader sees it."""
    return re.sub(r"[{}$*`]|\\[,;:! ()\[\]]", " ", _LATEX.sub(" ", text)).strip()


def _tagged(text: str) -> Iterator[Marked]:
    opened: re.Match[str] | None = None
    seen = False
    for tag in _ANSWER_TAG.finditer(text):
        if tag["close"] is None:
            opened = tag
        elif opened is not None:
            yield _mark(text, opened.start(), opened.end(), tag.start(), tag.end())
            opened, seen = None, True
        elif not seen:  # its beginning stood in the prompt
            first = text.rfind("\n", 0, tag.start()) + 1
            yield _mark(text, first, first, tag.start(), tag.end())
            seen = True
    if opened is not None:
        yield _mark(text, opened.start(), opened.end(), len(text), len(text))


def _boxed(text: str) -> Iterator[Marked]:
    for box in list(_BOX.finditer(text))[-_MOST_MARKS:]:
        if box["brace"]:
            end = _closing_brace(text, box.end())
            yield _mark(text, box.start(), box.end(), end, end + 1)
        elif box[0].startswith("<"):
            end = text.find(_BOX_END, box.end())
            end = len(text) if end < 0 else end
            yield _mark(text, box.start(), box.end(), end, end + len(_BOX_END))
        else:  # \boxed B
            end = box.end() + 1
            yield _mark(text, box.start(), box.end(), end, end)


def _mark(text: str, start: int, first: int, last: int, end: int) -> Marked:
    return Marked(text=text[first : min(last, first + _LONGEST_MARKED)], start=start, end=min(end, len(text)))


def _closing_brace(text: str, start: int) -> int:
    """Where the brace opened before `start` closes; the end of the line if it does not."""
    depth = 1
    for place in range(start, min(len(text), start + _LONGEST_MARKED)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    line = text.find("\n", start)
    return line if line >= 0 else len(text)
