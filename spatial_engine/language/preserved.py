"""What a rephrasing must keep, held by rule: numbers, units, names, negations, directions, frames, marks, options."""

import re
from collections.abc import Iterator, Mapping, Sequence

from spatial_engine.language.lexicon import ENGLISH, Kind, Lexicon
from spatial_engine.language.marks import Marks, marks, same_sequence, units

PHOTO = r"photos?|photographs?"
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
_ROLES = {
    "source": r"from|leaving|starting (?:at|from|with)",
    "target": r"to|into|towards|reach(?:es|ed|ing)?|until",
    "reference": r"as|than|by|(?:relative|compared|respect) (?:to|with)",
    "earlier": r"after|since",
    "later": r"before|until",
}
_MARKED = re.compile(
    rf"\b(?:{PHOTO}|points?|boxe?s?|objects?|arrows?|lines?) (?:[A-Z]|\d+)\b"
    r"|(?<!\w)-?\d[\d.,]*(?: ?°| (?:m|cm|mm|s)\b)?"
)
_CONTRARY = (("source", "target"), ("earlier", "later"))


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
    asked, said = marks(before, ENGLISH, PHOTO), marks(after, ENGLISH, PHOTO)
    yield from _marks(asked, said)
    if units(before, ENGLISH) != units(after, ENGLISH):
        yield REASONS["unit"]
    yield from _number_words(before, after, said, asked)
    yield from _values(before, after, values)
    yield from _meanings(before, after, ENGLISH)
    yield from _roles(before, after, values)


def _marks(before: Marks, after: Marks) -> Iterator[str]:
    if not same_sequence(before.photos, after.photos) or not same_sequence(before.letters, after.letters):
        yield "the marks differ, or their order"
    if not same_sequence(before.numbers, after.numbers):
        yield "the numbers differ, or their order"
    if any(after.units.get(number, found).isdisjoint(found) for number, found in before.units.items()):
        yield REASONS["unit"]


def _number_words(before: str, after: str, said: Marks, asked: Marks) -> Iterator[str]:
    """One and two may be left out: "which of the two points" is "which point"."""
    old, new = (
        {ENGLISH.numbers[word] for word in re.findall(r"[a-z]+", text.lower()) if word in ENGLISH.numbers} - {1}
        for text in (before, after)
    )
    if (new - old - {*asked.numbers}) or (old - new - {*said.numbers} - {2}):
        yield REASONS["quantity"]


def _values(before: str, after: str, values: Sequence[str]) -> Iterator[str]:
    words = sorted({_plain(value) for value in values if re.search(r"[^\W\d]", value)}, key=len, reverse=True)
    if not words:
        return
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?:e?s)?(?!\w)")
    if not same_sequence(pattern.findall(_plain(before)), pattern.findall(_plain(after))):
        yield "a name differs, or the order of names"


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


def _roles(before: str, after: str, values: Sequence[str]) -> Iterator[str]:
    """Whether "from A to B" became "to A from B", or "as wide as A is B" became "is A as wide as B"."""
    old, new = (_roles_of(text, values) for text in (before, after))
    for one, other in _CONTRARY:
        for a, b in ((one, other), (other, one)):
            if any(named in new[b] and named not in new[a] for named in old[a] - old[b]):
                yield "source and target are exchanged"
    if old["reference"] and new["reference"] and old["reference"].isdisjoint(new["reference"]):
        yield "the reference of a comparison differs"


def _roles_of(text: str, values: Sequence[str]) -> dict[str, set[str]]:
    named = "|".join(sorted((re.escape(_plain(value)) for value in values if value), key=len, reverse=True)) or "(?!)"
    kinds = r"(?:(?:the|a|an|that|of|is|was|were|camera|view|spot|goal|start|in|marked) )*"
    found = {}
    for role, words in _ROLES.items():
        pattern = rf"\b(?:{words}) {kinds}((?:{PHOTO}|point|box|object) (?:\d+|[a-z])\b|{named})"
        found[role] = {*re.findall(pattern, _plain(text))}
    return found


def _names(option: str, text: str) -> bool:
    """Whether a text holds the words of an option."""
    words = _plain(option).strip(" .")
    return len(words) > 2 and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", _plain(text)) is not None


def _plain(text: str) -> str:
    """Lower case, straight quotation marks, single spaces."""
    straight = text.translate(str.maketrans("“”„‘’", '"""\'\''))
    return " ".join(straight.lower().split())
