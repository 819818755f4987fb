"""The options of a question, and which of them a text names at one place, by its letter or by its words."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from spatial_engine.scoring.reading.conclusion import plain
from spatial_engine.scoring.reading.cues import WORD
from templates.question import LETTERS

Choice = str | Literal["ambiguous", "refused", "no option"]
"""A letter; or: several are named, an answer is declined, or the letter stands for no option."""

_FILLERS = re.compile(
    rf"""(?:[\s*_`"'“”‘’(\[{{<«【$:=>→\-–—~]|\\[a-z]*\s*[{{(]?
    |(?:options?|choices?|letter|answer|alternative|candidate|number|either|between|indeed|clearly|definitely
    |probably|possibly|perhaps|maybe|certainly|obviously|simply|surely|actually|likely|most\ (?:likely|probably)
    |therefore|thus|then|just|now|still|in\ fact|the\ correct\ one\ is|that|it['’]s|it\ is|is|be|to\ be|the\ one
    )(?![{WORD}]))*""",
    re.IGNORECASE | re.VERBOSE,
)
_LETTER = re.compile(rf"""(?P<letter>[A-Za-z])(?P<close>[)\]}}"'*_`”’>»】$]*)(?![{WORD}]|['’]\w|-[A-Za-z])""")
_AFTER_ARTICLE = re.compile(
    r"\s*[/&+]|\s+(?:because|since|as|for|due|given|based|which|it|is|seems|with|in|on|at|from|when|where|not|rather|"
    r"instead|and|remains|of course|but|or|nor|so|would|should|looks|fits|matches|though|although|however|by|to|here|"
    r"than|over|if|unless|final|option|the)\b"
)
"""After a letter that is no article: words with which no name of an object begins."""
_JOINED = re.compile(
    rf"""\s*(?:,|/|&|\+|;|(?<![{WORD}])(?:or|and|to|vs\.?)(?![{WORD}])|,\s*(?:or|and))\s*
    (?:(?:also|maybe|perhaps|possibly|option|choice)\s+)*[(\["'*_`]*(?P<letter>[A-Z])[)\]"'*_`]*
    (?=\s*(?:$|[.,;:!?/&\n\])}}]|(?:or|and|both|are|could|would|might|may|seem|fit|depending|equally)\b))""",
    re.VERBOSE,
)
_OR = re.compile(rf",?\s+or\s+(?:(?:option|choice)\s+)?[(\[\"'*_`]*(?P<letter>[A-Z])(?![{WORD}])")
_UNLESS = re.compile(r"[\s,;)]*\b(?:unless|if the|depending)\b", re.IGNORECASE)
_AFTER_OPTION = re.compile(r"(?:options?|choice)\s+[(\[\"'*_`]*$", re.IGNORECASE)
_NEXT_LABEL = re.compile(r"[\s.,;:)\]]+\(?(?P<letter>[A-Z])(?:[.):]|\s*$)")
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s.):,\-–—=\]*\"'_`}\\(]*")
_ENDS = re.compile(r"[\s*_`\"'”’)\]}$\\\-–—]*(?:$|</|[.,;:!?|(✓✔✅✗✘❌\n\u3000-\u9fff，])")
_OPEN_WORDS = tuple(
    f"{start}{no} be determined" for start in ("it ", "") for no in ("cannot", "can not", "can't", "can’t")
)
_OPEN = re.compile(rf"\b(?:{'|'.join(_OPEN_WORDS)})\b")


class Options:
    """Letters and words of the options. Words that belong to two options identify neither."""

    def __init__(self, options: Sequence[str]) -> None:
        self.letters = LETTERS[: len(options)]
        words = [_bare(text, letter) for letter, text in zip(self.letters, options, strict=False)]
        self.letter_of = {**_open_question(words, self.letters), **_unique(words, self.letters)}
        self.short = {} if len(words) < 2 else _unique(_without_common_start(words), self.letters)
        """Words that remain where all options begin alike ("Point 1", "Point 2")."""
        self._text = _alternatives(self.letter_of)
        self._text_or_short = _alternatives({**self.letter_of, **self.short})
        self.mentions = _alternatives([text for text in self.letter_of if not re.fullmatch(r"[\d.\s°%]*|.{1,2}", text)])
        """Finds options by words that can be told from other words: not bare numbers."""

    def text_at(self, text: str, place: int) -> tuple[str, int] | None:
        """(letter, end) of the option whose words stand here, after an article or not."""
        for start in (place, article.end() if (article := _ARTICLE.match(text, place)) else None):
            found = None if start is None else self._text_or_short.match(text, start)
            if found:
                return self.letter_in(found[0]), found.end()
        return None

    def letter_in(self, words: str) -> str:
        """The letter of an option's words as found."""
        key = _spaced(words)
        return self.letter_of.get(key) or self.short[key]

    def letter_at(self, text: str, place: int) -> tuple[str, int] | None:
        """(letter, end) of a single letter that is no article, pronoun or part of a word."""
        found = _LETTER.match(text, place)
        if found is None:
            return None
        letter, end = found["letter"], found.end()
        if not (found["close"] or _ENDS.match(text, end)):
            after = _SEPARATOR.match(text, end)
            own = self._text.match(text, after.end()) if after else None
            named = own is not None and self.letter_in(own[0]) == letter.upper()
            may_be_word = letter in "AI" or letter.islower()
            meant = named or _AFTER_ARTICLE.match(text, end) or _AFTER_OPTION.search(text, max(0, place - 12), place)
            if may_be_word and not meant:
                return None
        return letter.upper(), end

    def choice_at(self, text: str, place: int) -> tuple[Choice, int] | None:
        """(choice, end) at this place, after filler words; None if no option is named here."""
        start = filler.end() if (filler := _FILLERS.match(text, place)) else place
        worded, lettered = self.text_at(text, start), self.letter_at(text, start)
        if worded and not (lettered and worded[1] <= lettered[1]):
            return self._alone(text, *worded)
        if lettered is None:
            return None
        letter, end = lettered
        if letter not in self.letters:
            return "no option", end
        return self._alone(text, letter, end)

    def _alone(self, text: str, letter: str, end: int) -> tuple[Choice, int]:
        """Ambiguous where another option follows directly ("A or B")."""
        if unless := _UNLESS.match(text, end):
            return "ambiguous", unless.end()
        for joined in (_JOINED.match(text, end), _OR.match(text, end), _NEXT_LABEL.match(text, end)):
            if joined and joined["letter"] != letter and joined["letter"] in self.letters:
                return "ambiguous", joined.end()
        after = _SEPARATOR.match(text, end)
        other = self._text.match(text, after.end()) if after else None
        if other and self.letter_in(other[0]) != letter and _ENDS.match(text, other.end()):
            return "ambiguous", other.end()
        either = re.compile(r"\s+(?:or|and)\s+").match(text, end)
        if either and (second := self.text_at(text, either.end())) and second[0] != letter:
            return "ambiguous", second[1]
        return letter, end


@lru_cache(maxsize=4096)
def options_of(options: tuple[str, ...]) -> Options:
    """Prepared once for each list of options."""
    return Options(options)


def ends_at(text: str, place: int) -> bool:
    """Whether a sentence, clause or line ends here."""
    return _ENDS.match(text, place) is not None


def narrow(text: str) -> str:
    """Full-width letters and digits as ASCII."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _bare(text: str, letter: str) -> str:
    """An option's words without its own letter in front, in lower case, without marks."""
    text = re.sub(rf"^\s*[(\[]?{letter}\s*[.):\]]\s*", "", narrow(text))
    return _spaced(plain(text)).rstrip(".;,")


def _spaced(text: str) -> str:
    return " ".join(text.lower().split())


def _unique(words: Sequence[str], letters: str) -> dict[str, str]:
    named = dict(zip(words, letters, strict=False))
    return {text: named[text] for text in words if text and words.count(text) == 1 and not re.fullmatch("[a-z]", text)}


def _open_question(words: Sequence[str], letters: str) -> dict[str, str]:
    """Shorter ways to say "it cannot be determined from these images", where one option says so."""
    letter = [letter for letter, text in zip(letters, words, strict=False) if _OPEN.search(text)]
    return dict.fromkeys(_OPEN_WORDS, letter[0]) if len(letter) == 1 else {}


def _without_common_start(words: Sequence[str]) -> list[str]:
    split = [text.split() for text in words]
    while all(len(tokens) > 1 for tokens in split) and len({tokens[0] for tokens in split}) == 1:
        split = [tokens[1:] for tokens in split]
    return [" ".join(tokens) for tokens in split]


def _alternatives(texts: Sequence[str] | dict[str, str]) -> re.Pattern[str]:
    """Any of the texts as whole words, the longest first."""
    longest = sorted(texts, key=len, reverse=True)
    either = "|".join(r"\s+".join(map(re.escape, text.split())) for text in longest)
    return re.compile(rf"(?<![{WORD}])(?:{either})(?![{WORD}]|[.,]\d)" if longest else r"(?!)", re.IGNORECASE)
