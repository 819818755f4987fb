"""Whether a reply is a rewording in the right language that keeps what rules can hold."""

import re
from collections.abc import Iterator, Mapping

from spatial_engine.language import preserved
from spatial_engine.language.lexicon import ENGLISH, Language, Lexicon
from spatial_engine.language.marks import marks, units
from spatial_engine.language.mentions import PHOTO
from spatial_engine.language.other_lexicons import CHINESE, GERMAN
from spatial_engine.language.rewording import Wish, read_rewording

LEXICONS: Mapping[Language, Lexicon] = {"de": GERMAN, "en": ENGLISH, "zh": CHINESE}
_PHOTO: Mapping[Language, str] = {
    "de": r"photos?|fotos?|bild(?:er|ern|es|s)?|aufnahmen?",
    "en": PHOTO,
    "zh": r"照片|图片|相片|图像|图|photos?",
}
_MARKUP = re.compile(r"[<>`*#|\n\r\t{}\\]|\]\(|https?:|__|\$")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_LONGEST, _MARGIN = 2.5, 80
"""Length of a rewording in lengths of the prompt, and what may come on top, in characters."""


def reworded(wish: Wish, reply: str) -> tuple[str, str | None]:
    """The rewording in a reply, and why it cannot be used; None if no rule finds a reason."""
    text = read_rewording(reply)
    if text is None:
        return "", "the reply holds no rewording"
    return text, next(_faults(wish, text), None)


def _faults(wish: Wish, text: str) -> Iterator[str]:
    if _MARKUP.findall(text) != _MARKUP.findall(wish.prompt):
        yield "the rewording has markup"
    if len(text) > _LONGEST * len(wish.prompt) + _MARGIN:
        yield "the rewording is too long"
    if _language(_without(wish, text)) != wish.language:
        yield "the rewording is in another language"
    if wish.language == "en":
        if text == wish.prompt:
            yield "the wording is the same"
        if reason := preserved.changed(wish.prompt, text, wish.values):
            yield reason
    else:
        yield from _translation_faults(wish, text)


def _translation_faults(wish: Wish, text: str) -> Iterator[str]:
    """What rules can hold across languages: numbers, marks, units; left and right, clockwise, and negations."""
    lexicon, english = LEXICONS[wish.language], ENGLISH
    asked, said = marks(wish.prompt, english, _PHOTO["en"]), marks(text, lexicon, _PHOTO[wish.language])
    if {*asked.photos} != {*said.photos} or {*asked.letters} != {*said.letters}:
        yield "the marks differ, or their order"
    if sorted(asked.numbers) != sorted(said.numbers):
        yield "the numbers differ, or their order"
    if any(said.units.get(number, found).isdisjoint(found) for number, found in asked.units.items()):
        yield "a unit differs"
    if units(wish.prompt, english) != units(text, lexicon):
        yield "a unit differs"
    old, new = ({meaning for meaning, _ in found} for found in (english.found(wish.prompt), lexicon.found(text)))
    shared = lexicon.entries.keys() & english.entries.keys()
    for meaning in sorted((old ^ new) & shared):
        yield preserved.REASONS[english.entries[meaning].kind]


def _without(wish: Wish, text: str) -> str:
    """The text without names and quoted texts, which may stay in their language."""
    for value in wish.values:
        text = text.replace(value, " ")
    return re.sub(r"\"[^\"]*\"|“[^”]*”|「[^」]*」", " ", text)


def _language(text: str) -> str:
    """The language of a text; "" if it is none of those that are known."""
    letters = len(_LETTER.findall(text))
    chinese, latin = len(_CHINESE.findall(text)), len(_LATIN.findall(text))
    if chinese > 0.3 * letters:
        return "zh"
    if latin < 0.9 * letters:
        return ""
    hits = {
        name: len(re.findall(lexicon.said, text, re.IGNORECASE)) for name, lexicon in LEXICONS.items() if lexicon.spaced
    }
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] and sum(hits.values()) < 2 * hits[best] else ""
