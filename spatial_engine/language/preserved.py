"""What a rephrasing must keep, held by rule: numbers, units, names, negations, directions, frames, marks, options."""

import re
from collections.abc import Iterator, Mapping, Sequence

from spatial_engine.language.lexicon import ENGLISH, Kind, Lexicon
from spatial_engine.language.marks import Marks, marks, same_sequence, units
from spatial_engine.language.mentions import PHOTO, differing_mentions

REASONS: Mapping[Kind, str] = {
    "unit": "a unit differs",
    "negation": "a negation differs",
    "direction": "a direction differs",
    "order": "an order in time differs",
    "comparison": "a comparison differs",
    "frame": "the frame of reference differs",
    "quantity": "a number differs",
    "subject": "what is asked for differs",
}


_MARKED = re.compile(
    rf"\b(?:{PHOTO}|points?|boxe?s?|objects?|arrows?|lines?) (?:[A-Z]|\d+)\b"
    r"|(?<!\w)-?\d[\d.,]*(?: ?°| (?:m|cm|mm|s)\b)?"
)


def changed(before: str, after: str, values: Sequence[str]) -> str | None:
    """Why an English rephrasing does not ask for the same; None if no rule finds a difference.

    `values`: what the template filled into the prompt (names, claims, tasks), which must stand in the rephrasing word
    for word and in the same order.
    """
    return next(_differences(before, after, values), None)


def gives_away(before: str, after: str, options: Sequence[str]) -> bool:
    """Whether a rephrasing holds the words of an option that the prompt does not."""
    return any(_names(option, after) and not _names(option, before) for option in options)


def to_keep(prompt: str, values: Sequence[str]) -> list[str]:
    """What a rephrasing must keep, as the prompt has it: words of the lexicon, filled values, numbers and marks."""
    spans = [hit.span() for hit in ENGLISH.pattern.finditer(prompt) if hit.lastgroup != "idiom_"]
    spans += [hit.span() for value in values for hit in re.finditer(re.escape(value), prompt)]
    spans += [hit.span() for hit in _MARKED.finditer(prompt)]
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or end > found[-1][1]:
            found.append((start, end))
    return list(dict.fromkeys(prompt[start:end] for start, end in found))


def _differences(before: str, after: str, values: Sequence[str]) -> Iterator[str]:
    if reason := differing_mentions(before, after, values):
        yield reason
    asked, said = marks(before, ENGLISH, PHOTO), marks(after, ENGLISH, PHOTO)
    if any(said.units.get(number, found).isdisjoint(found) for number, found in asked.units.items()):
        yield REASONS["unit"]
    if units(before, ENGLISH) != units(after, ENGLISH):
        yield REASONS["unit"]
    yield from _number_words(before, after, said, asked)
    yield from _meanings(before, after, ENGLISH)


def _number_words(before: str, after: str, said: Marks, asked: Marks) -> Iterator[str]:
    """One and two may be left out: "which of the two points" is "which point"."""
    old, new = (
        {ENGLISH.numbers[word] for word in re.findall(r"[a-z]+", text.lower()) if word in ENGLISH.numbers} - {1}
        for text in (before, after)
    )
    if (new - old - {*asked.numbers}) or (old - new - {*said.numbers} - {2}):
        yield REASONS["quantity"]


def _meanings(before: str, after: str, lexicon: Lexicon) -> Iterator[str]:
    """Of all words but units, which may stand as signs (`units`)."""
    old, new = (
        [meaning for meaning, _ in lexicon.found(text) if lexicon.entries[meaning].kind != "unit"]
        for text in (before, after)
    )
    if old.count("not") != new.count("not"):
        yield REASONS["negation"]
    added = [meaning for meaning in new if meaning not in old and not lexicon.entries[meaning].may_be_added]
    for meaning in (*(meaning for meaning in old if meaning not in new), *added):
        yield REASONS[lexicon.entries[meaning].kind]
    for pair in lexicon.opposites:
        a, b = ([meaning for meaning in found if meaning in pair] for found in (old, new))
        if len({*a}) == 2 and not same_sequence(a, b):
            yield "opposites are exchanged"


def _names(option: str, text: str) -> bool:
    """Whether a text holds the words of an option."""
    words = _plain(option).strip(" .")
    return len(words) > 2 and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", _plain(text)) is not None


def _plain(text: str) -> str:
    """Lower case, straight quotation marks, single spaces."""
    straight = text.translate(str.maketrans("“”„‘’", '"""\'\''))
    return " ".join(straight.lower().split())
