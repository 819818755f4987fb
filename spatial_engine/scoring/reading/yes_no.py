"""The yes or no that a reply gives."""

import re

from spatial_engine.scoring.reading.conclusion import conclusion
from spatial_engine.scoring.reading.cues import Passage, is_stated, passages
from spatial_engine.scoring.reading.options import narrow
from spatial_engine.scoring.reading.reading import Reading, Unreadable, refusal

_YES = frozenset({"yes", "yeah", "yep", "yup", "true", "是", "是的", "y"})
_WORD = re.compile(
    r"(?<![A-Za-z'’-])(?:(?P<word>yes|no|yeah|yep|yup|nope|nah|true|false)(?![A-Za-z'’]|-\w)|(?P<other>是的?|否|不是))",
    re.IGNORECASE,
)
_LONE = re.compile(r"[\W_]*(?P<word>yes|no|yeah|yep|yup|nope|nah|true|false|y|n|是的?|否|不是)[\W_]*", re.IGNORECASE)
_EITHER = re.compile(
    r"\W{0,9}(?:yes|true)\W{0,9}(?:/|\bor\b|\band\b)\W{0,9}(?:no|false)\b|\W{0,9}(?:no|false)\W{0,9}(?:/|\bor\b|\band\b)\W{0,9}(?:yes|true)\b",
    re.IGNORECASE,
)
_DETERMINER = re.compile(
    r"\s+(?!it\b|i\b|they\b|the\b|there\b|he\b|she\b|we\b|you\b|this\b|that\b|these\b|those\b|because\b|since\b|as\b|not\b|is\b|point\b|"
    r"a\b|an\b|and\b|but\b|only\b|none\b|yes\b|no\b|nothing\b|for\b|due\b|however\b|in\b|object|thing|both|all|from)[a-z]",
    re.IGNORECASE,
)  # fmt: skip
_SUBJECT = r"(?:it|they|he|she|this|that|these|those|there)"
_VERB = r"(?:does|do|did|is|are|was|were|has|have)"
_BARE = re.compile(
    rf"[\W_]*(?:(?P<no>{_SUBJECT}\s+{_VERB}(?:\s+not|n['’]?t)|(?:(?:that|this|it)(?:\s+is|['’]s)\s+)?"
    r"(?:incorrect|wrong|not\s+(?:correct|true|the\s+case))|that\s+is\s+false)"
    rf"|(?P<yes>{_SUBJECT}\s+{_VERB}|(?:that|this|it)(?:\s+is|['’]s)\s+(?:correct|right|true|the\s+case)|correct))[\W_]*",
    re.IGNORECASE,
)
"""The whole of a reply, tag or announced answer. "I do not" is no answer: it may have been cut off before "know"."""
_SENTENCE = re.compile(r"[^.!?\n。]+[.!?。]*")


def read_yes_no(response: str) -> Reading | Unreadable:
    """ "yes" or "no", the last that the reply states: in a tag, announced, or as the first or only word of a sentence.
    "It does not." and "That is correct." are read where they are the whole text. "No" before a noun
    ("no obstacle"), and within a word ("know"), is none. Read in English and Chinese only."""
    text = narrow(conclusion(response))
    if not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    for passage in passages(text):
        if not passage.firm:
            break
        found = _first(passage)
        if found == "ambiguous":
            return Unreadable(reason="ambiguous")
        if found is None and passage.tagged and refusal(passage.text):
            return Unreadable(reason="refused")
        if found:
            return Reading(value=found, how="tags" if passage.tagged else "rules")
    found = _bare(text) or _stated(text)
    if found in ("yes", "no"):
        return Reading(value=found, how="rules")
    if refusal(text):
        return Unreadable(reason="refused")
    return Unreadable(reason="ambiguous" if found else "nothing found")


def _first(passage: Passage) -> str | None:
    """The word that an announced answer begins with; in a tag or box, the one that it states."""
    text = passage.text.lstrip(" \t\n\"'“‘`([{:_-")
    if _EITHER.match(text):
        return "ambiguous"
    if bare := _bare(text):
        return bare
    word = _LONE.fullmatch(text) or _WORD.match(text)
    if word is None or _is_determiner(text, word):
        return _stated(text) if passage.tagged else None
    return _meaning(word)


def _bare(text: str) -> str | None:
    """Yes or no, from a text that is nothing but agreement or disagreement in other words."""
    bare = _BARE.fullmatch(text)
    if bare is None or text.rstrip(" *_\"'`").endswith("?"):
        return None
    return "no" if bare["no"] else "yes"


def _stated(text: str) -> str | None:
    """The last sentence that is, or begins with, yes or no and does not go on to decline."""
    either = _EITHER.search(text)
    text = _EITHER.sub(" ", text)
    last, several = None, {"yes", "no"} if either else set()
    for sentence in _SENTENCE.finditer(text):
        lone = _LONE.fullmatch(sentence[0])
        words = [word for word in _WORD.finditer(sentence[0]) if not _is_determiner(sentence[0], word)]
        leads = [
            _last_of_chain(sentence[0], words)
            for word in words[:1]
            if not sentence[0][: word.start()].strip(" *_\"'“‘`([{>#-\t")
        ]
        words_read = [lone] if lone else leads
        if words_read and not refusal(sentence[0][words_read[0].end() :]) and not sentence[0].rstrip().endswith("?"):
            last = _meaning(words_read[0])
        several |= {_meaning(word) for word in words if is_stated(sentence[0], word.start())}
    if last or not several:
        return last
    return several.pop() if len(several) == 1 and not refusal(text) else "ambiguous"


def _last_of_chain(text: str, words: list[re.Match[str]]) -> re.Match[str]:
    """ "No, no, yes": the last of those that follow each other."""
    last = words[0]
    for word in words[1:]:
        if text[last.end() : word.start()].strip(" ,;:.-–—!"):
            break
        last = word
    return last


def _meaning(word: re.Match[str]) -> str:
    return "yes" if word[0].lower().strip(" \t\n*_\"'`.,:;!()[]{}<>-–—。") in _YES else "no"


def _is_determiner(text: str, word: re.Match[str]) -> bool:
    return word[0].lower() == "no" and bool(_DETERMINER.match(text, word.end()))
