"""Words that announce, deny or correct an answer, and the passages of a reply that follow them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spatial_engine.scoring.reading.conclusion import marked, plain

WORD = "0-9A-Za-zÀ-ɏ\u0300-ӿ"
"""Characters that make a letter part of a word, accents included. Chinese ones do not."""
_NOUNS = "answer|choice|option|selection|selected|prediction|pick|verdict|guess|solution|conclusion|ans|response|result"
_IS = r"is|are|will be|would be|should be|must be|has to be|remains|becomes|[:=：]|->|=>|→|-{1,2}|–|—"
_CHOOSE = (
    r"choose|pick|picked|chose|select|selected|go(?:ing)? (?:with|for)|say|vote for|opt for|guess|answer|"
    r"stick (?:with|to)|settle (?:on|for)|lean(?:ing)? towards?|conclude|believe|think|suppose|reckon|suspect|"
    r"bet(?: on)?|mean|change my (?:answer|mind) to|revise (?:it|my answer) to|switch to|get|arrive at|end up with"
)
_AUXILIARY = r"(?:['’](?:d|ll|m|ve)|\s(?:would|will|must|am|have|can|should))?(?:\s(?:\w+ly|going to|thus|still|to))*"
_FIRM = "|".join(
    (
        rf"(?:{_NOUNS})(?:\s+(?:to|for|of|from|among|in)\s+(?:\w+\s+){{0,4}}?\w+)??[\s\"'*_`)]*(?:{_IS})",
        rf"answer(?=\s*\n)|(?:answer|select|choose)(?=\s+[(\[*\"']*[A-Z](?![{WORD}]))",
        rf"(?:i|we){_AUXILIARY}\s(?:{_CHOOSE})(?: that)?",
        r"(?:go|going) with|答案(?:应该)?(?:[是为选]|：)?|(?:故|因此|所以|我)?选择?",
    )
)
_WEAK = (
    r"therefore|thus|hence|so|consequently|accordingly|in conclusion|to conclude|overall|finally|in summary|final|"
    r"conclusion|probably|most likely|but|it['’]?s|it (?:is|must be|should be|would be|has to be|can only be)|leaving|"
    r"leaves|this (?:is|matches|corresponds to|points to|indicates|means|leaves|gives|leads to|makes it)|"
    r"which (?:is|matches|corresponds to|gives)|matches|corresponds to|best (?:option|choice|match)|"
    r"(?:correct|right|verdict|selected|chosen|pick|select|choose|mark)\s*:?|"
    rf"(?:choice|option)(?=\s+[(\[*\"']*[A-Z](?![{WORD}]))"
)
_CORRECTION = (
    r"(?:oh\W+)?(?:(?:wait|actually|no|sorry|correction|rather|hmm+|oops|instead|i mean|i meant|make that|scratch that|"
    r"on second thoughts?|on reflection|let me (?:correct|revise|reconsider|change|re-?check)[\w ]{0,20}|"
    r"change that to|edit|update)[\s,.:;!\-–—…]+)+"
)
CUE = re.compile(
    rf"(?<![{WORD}])(?:(?P<firm>{_FIRM})|(?P<weak>{_WEAK})|(?P<correction>{_CORRECTION}))(?![{WORD}])|(?P<arrow>→|⇒|=>|->|∴|✅|✓|☑)",
    re.IGNORECASE,
)
"""Words before an answer. `firm` announces one, `weak` and `arrow` may precede something else, `correction` takes back
an earlier answer."""
VERDICT = re.compile(
    r"""[)\]"'*_`]*[.:,]?\s*(?:\([^()\n]{0,60}\)\s*)?(?:[-–—:=]\s*)?
    (?:(?:is|it\ is|as|looks|seems|appears|would\ be|must\ be|should\ be|fits|matches|works|holds|makes)\s+)?
    (?:(?:the|my|most|best|only|single|clearly|definitely|therefore|thus|indeed|obviously|one|final|very|to\ be|a)\s+)*
    (?:correct|right|answer|best|true|accurate|closest|likely|plausible|consistent|match|choice|pick|guess|sense
    |better\ (?:one|fit|match|answer|option|choice|description))(?![A-Za-z])
    |[)\]"'*_`]*\s*[?:.–—-]*\s*(?:✓|✅|✔|yes(?![A-Za-z]))""",
    re.IGNORECASE | re.VERBOSE,
)
"""After an option: it is called right."""
_NOT_STATED = re.compile(
    rf"(?<![{WORD}])(?:if|whether|suppose|supposing|assume|assuming|unless|initially|not|nor|never|hardly|without|neither|"
    r"cannot|unable|thought|might|why|which|what|or|[a-z]+n['’]t)\s+(?:(?!but|so|then|and|yet|though)[\w'’]+\s+){0,3}$"
    rf"|(?<![{WORD}])(?:alternative|alternate|wrong|incorrect|second[- ]best)[\s_-]$"
    rf"|(?<![{WORD}])(?:start|beginn?|consider|examin|check|evaluat|analy[sz]|look)(?:e|ing)?(?: with| at| by)?\s+$",
    re.IGNORECASE,
)
"""Before such words, or before an option: the answer is supposed, asked or denied, not stated."""
NOT = re.compile(rf"[\s,]*(?:not|n['’]t|definitely not|clearly not|never|neither)(?![{WORD}])", re.IGNORECASE)
NOT_BUT = re.compile(r"\s*not\b[^.\n]{1,60}?[,;]?\s*\b(?:but(?: rather)?|rather|instead)\b", re.IGNORECASE)
WRONG = re.compile(
    r"[)\]\"'*_`.:,?–—-]*\s*(?:(?:option|one|text)\s+)?"
    r"(?:(?:is|are|was|looks|seems|would be|can be|could be|does|do|has been)(?:n['’]t\b|\s+(?:\w+ly\s+)?"
    r"(?:not|wrong|incorrect|false|impossible|ruled|eliminated|excluded|too|further|farther|behind|out)\b)"
    r"|cannot\b|can['’]t\b|wrong\b|incorrect\b|✗|❌|✘|×|no(?=\s*(?:$|[.,;!\n])))",
    re.IGNORECASE,
)
"""After an option: it is called wrong."""

_LONGEST = 400
_MOST_CUES = 64


@dataclass(frozen=True)
class Passage:
    """A part of a reply that may hold its answer."""

    text: str
    tagged: bool = False
    firm: bool = True
    """It is announced as the answer, or stands where one was asked for."""


def passages(text: str) -> Iterator[Passage]:
    """In the order in which they count: corrections after a tag or box, tags and boxes, what follows firm words, what
    follows weak ones; of each kind the last first."""
    marks = [mark for mark in marked(text) if mark.text.strip()]
    if marks:
        corrections = [cue for cue in cues_from(text, marks[-1].end) if cue["correction"]]
        for cue in reversed(corrections):
            yield Passage(text=_after(text, cue.end()))
    for mark in reversed(marks):
        yield Passage(text=plain(mark.text), tagged=True)
    cues = [cue for cue in cues_from(text, 0) if cue["correction"] or is_stated(text, cue.start())]
    for firm in (True, False):
        for cue in reversed(cues):
            if bool(cue["firm"] or cue["correction"]) is firm and (passage := _after(text, cue.end())):
                yield Passage(text=passage, firm=firm)


def is_stated(text: str, place: int, reach: int = 60) -> bool:
    """Whether what begins at `place` is stated, judged by up to `reach` characters before it: "if", "not" and "which"
    suppose, deny or ask."""
    return _NOT_STATED.search(text, max(0, place - reach), place) is None


def cues_from(text: str, start: int) -> list[re.Match[str]]:
    """The last words that precede an answer."""
    return list(CUE.finditer(text, start))[-_MOST_CUES:]


def _after(text: str, place: int) -> str:
    """What follows, up to the end of the paragraph; "" if it is denied."""
    swapped = NOT_BUT.match(text, place)
    place = swapped.end() if swapped else place
    if NOT.match(text, place):
        return ""
    paragraph = text[place : place + _LONGEST].lstrip(" \t\n\r*_:\"'`")
    return plain(paragraph.split("\n\n", 1)[0])
