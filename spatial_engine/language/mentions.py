"""Photos, marks, numbers and names that an English prompt mentions, and the part that each plays: from which photo to
which, as wide as what, which point of which photo."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

PHOTO = r"photos?|photographs?"
_ALIKE = (
    (r"\bfrom where\b|\b(?:as )?(?:seen|viewed) from\b", "from"),
    (r"\b(?:multiple|respect|compared|relative|relation|comparison) (?:of|to|with)\b", "than"),
    (r"\b(?:camera|viewpoint|point of view|view|spot|position|place) (?:of|in|at)\b", "where"),
    (r"\bto the (left|right) of\b", r"\1"),
    (r"\b(?:in )?(front|top|left|right) of\b", r"\1"),
    (r"\baway from\b", "from"),
    (r"\b(?:that|those) of\b", ""),
)
"""Expressions that give a mention its part, as one word."""
_PARTS: Mapping[str, str] = {
    "from": "source", "since": "source", "leaving": "source", "starting": "source", "start": "source",
    "to": "target", "into": "target", "towards": "target", "toward": "target", "reach": "target", "reaches": "target",
    "reached": "target", "reaching": "target", "goal": "target", "until": "target",
    "as": "reference", "than": "reference", "by": "reference",
    "face": "faced", "facing": "faced", "faces": "faced", "ahead": "faced",
    "after": "earlier", "before": "later", "where": "place", "through": "through", "behind": "behind",
    "above": "above", "over": "above", "below": "below", "beneath": "below", "under": "below", "front": "front",
    "top": "top", "left": "left", "right": "right", "inside": "inside", "of": "of", "in": "in", "at": "at",
}  # fmt: skip
_WEAK = frozenset({"of", "in", "at", "place"})
"""Parts that yield to another one before them: from the camera of photo 1."""
_ENDS = frozenset(",.;:?!") | {"is", "are", "was", "were", "does", "do", "did", "has", "have"}
"""Where the search ends."""
_REACH = 6
"""Words before a mention in which its part is looked for."""
_LINKS = frozenset({"in", "of", "(", "box", "point", "object", "number", "the", "on", "from", "by"})


@dataclass(frozen=True)
class Mention:
    """One mention of one thing."""

    kind: str
    """ "photo", "letter", "number" (a mark, or without unit), "measure" or "name"."""
    name: str
    part: str = ""
    """What it is in the sentence ("source", "reference"); "" if no word says it."""


_REASONS = {
    "photo": "the photos differ",
    "letter": "the marks differ",
    "number": "the numbers differ",
    "measure": "the measures differ",
    "name": "the names differ",
}
"""By kind of mention."""


def differing_mentions(before: str, after: str, values: Sequence[str]) -> str | None:
    """Why two prompts mention different things, or the same ones in other parts; None if they do not.

    `values`: names and other texts that stand for themselves. Mentions may change their order where every part stays.
    """
    old, new = (_Mentions(text, values) for text in (before, after))
    for kind, reason in _REASONS.items():
        if old.counts(kind).keys() != new.counts(kind).keys():
            return reason
        if _are_exchanged(old.parts(kind), new.parts(kind)):
            return "what plays which part differs"
        if _is_dropped(old, new, kind) or not _may_be_reordered(old, new, kind):
            return f"{reason}, or their order"
    if any(new.bound.get(name, found).isdisjoint(found) for name, found in old.bound.items()):
        return "what belongs to what differs"
    return None


def _are_exchanged(old: "_Parts", new: "_Parts") -> bool:
    """Whether one thing loses a part that another one gains."""
    lost = {part for name, parts in old.items() for part in parts - new[name]}
    return any(part in lost for name, parts in new.items() for part in parts - old[name])


def _is_dropped(old: "_Mentions", new: "_Mentions", kind: str) -> bool:
    """Whether a thing has lost a part with one of its mentions, or because mentions are in another order."""
    before, after = old.counts(kind), new.counts(kind)
    lost = {name: parts - new.parts(kind)[name] for name, parts in old.parts(kind).items()}
    if any(after[name] < before[name] and lost[name] for name in before):
        return True
    return old.sequence(kind) != new.sequence(kind) and any(parts - _WEAK for parts in lost.values())


def _may_be_reordered(old: "_Mentions", new: "_Mentions", kind: str) -> bool:
    """Whether the order is the same, or the parts alone tell what is what."""
    if old.order(kind) == new.order(kind):
        return True
    parts = old.parts(kind)
    apart = len({frozenset(found) for found in parts.values()}) == len(parts)
    tied = parts.keys() <= set[str]().union(*old.bound.values())
    return (apart and parts == new.parts(kind)) or (tied and old.bound == new.bound)


_Parts = Mapping[str, set[str]]


class _Mentions:
    """The mentions of a text."""

    def __init__(self, text: str, values: Sequence[str]) -> None:
        self._tokens = list(_tokens(text, values))
        self.found = [self._in_part(place) for place, token in enumerate(self._tokens) if isinstance(token, Mention)]
        self.bound: dict[str, set[str]] = {}
        """What follows a name or mark directly: its box, its photo."""
        for place, token in enumerate(self._tokens):
            if isinstance(token, Mention) and token.kind != "photo" and (other := self._bound_to(place, token)):
                self.bound.setdefault(token.name, set()).add(other)

    def counts(self, kind: str) -> Counter[str]:
        """How often each thing of a kind is mentioned."""
        return Counter(one.name for one in self.found if one.kind == kind)

    def sequence(self, kind: str) -> list[str]:
        """The things of a kind in the order of the text; what is mentioned again at once counts once."""
        return [name for name, _ in groupby(one.name for one in self.found if one.kind == kind)]

    def order(self, kind: str) -> list[str]:
        """The things of a kind, by their first mentions."""
        return list(self.counts(kind))

    def parts(self, kind: str) -> dict[str, set[str]]:
        """The parts that each thing of a kind plays."""
        found: dict[str, set[str]] = {name: set() for name in self.counts(kind)}
        for one in self.found:
            if one.kind == kind and one.part:
                found[one.name].add(one.part)
        return found

    def _in_part(self, place: int) -> Mention:
        mention = self._tokens[place]
        assert isinstance(mention, Mention)
        part = ""
        for token in reversed(self._tokens[max(0, place - _REACH) : place]):
            if isinstance(token, Mention) or token in _ENDS:
                break
            if token in _PARTS:
                part = part if part and _PARTS[token] in _WEAK else _PARTS[token]
                if part not in _WEAK:
                    break
        return Mention(mention.kind, mention.name, part)

    def _bound_to(self, place: int, mention: Mention) -> str:
        for token in self._tokens[place + 1 : place + 5]:
            if isinstance(token, Mention):
                return token.name if token.kind != mention.kind else ""
            if token not in _LINKS:
                return ""
        return ""


_UNIT = r"°|(?:cm|mm|m|s|px|degrees?|metres?|meters?|centimetres?|centimeters?|seconds|pixels)\b"
_IDS = r"\d+(?:\s*(?:,\s*(?:and\s|or\s)?|and\s|or\s|to\s|&)\s*\d+(?![\d.]*\d)(?!\s*(?:°|px|cm|mm|m\b|s\b)))*"


def _tokens(text: str, values: Sequence[str]) -> Iterator[str | Mention]:
    """Words in lower case, punctuation, and mentions without their part."""
    names = sorted({_alike(value).lower() for value in values if re.search(r"[^\W\d]", value)}, key=len, reverse=True)
    named = "|".join(map(re.escape, names)) or "(?!)"
    token = re.compile(
        rf"(?i:(?P<name>(?<!\w)(?:{named})(?:e?s)?(?!\w)))|(?i:(?P<photo>(?:{PHOTO})\s+{_IDS}))"
        r"|(?P<letter>(?<![\w'-])[B-HJ-Z](?![\w-]))|(?P<number>(?:(?<![\w.,-])-)?(?<![\w.])\d+(?:[.,]\d+)?)"
        rf"(?:[\s-]?(?P<unit>{_UNIT}))?"
        r"|(?P<word>[^\W\d]+)|(?P<sign>[,.;:?!(])"
    )
    for hit in token.finditer(_alike(text)):
        match hit.lastgroup:
            case "photo":
                yield from (Mention("photo", f"photo {id}") for id in re.findall(r"\d+", hit[0]))
            case "number" | "unit":
                number = float(hit["number"].replace(",", "."))
                yield Mention("measure" if hit["unit"] else "number", f"{number:g}")
            case "name":
                yield Mention("name", _singular(hit[0].lower(), names))
            case "letter":
                yield Mention("letter", hit[0])
            case _:
                yield hit[0].lower()


def _alike(text: str) -> str:
    """The text with one word for expressions that give a mention its part."""
    text = re.sub(r"\b[23]-?D\b", " ", text.translate(str.maketrans("“”„‘’−", '"""\'\'-')))
    for pattern, word in _ALIKE:
        text = re.sub(pattern, word, text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _singular(found: str, names: Sequence[str]) -> str:
    return next(name for name in names if found in (name, f"{name}s", f"{name}es"))
