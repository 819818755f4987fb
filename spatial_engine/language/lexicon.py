"""Words on which the answer to a spatial question depends, by what they mean, in English, German and Chinese.

A rephrasing may replace a word by another one of its entry, and by no other word of this lexicon. The English entries
cover what the templates say; the German and Chinese ones only units, directions and negations, as nobody can hold the
rest of a translation by rule.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Language = Literal["de", "en", "zh"]
Kind = Literal["unit", "negation", "direction", "order", "comparison", "frame", "quantity", "subject"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One meaning."""

    kind: Kind
    words: str
    """Regular expression of the words that have it."""
    may_be_added: bool = False
    """Whether a rephrasing may say it where the original does not ("really", "in the photo")."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Lexicon:
    """The words of one language."""

    entries: Mapping[str, Entry]
    """By the name of the meaning, the more special ones first: a word counts once."""
    opposites: tuple[tuple[str, str], ...] = ()
    """Meanings whose order counts where a question has both: from left to right."""
    idioms: str = r"(?!)"
    """Regular expression of expressions whose words do not mean what they mean elsewhere: "right now", "write down"."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Numbers in words."""
    said: str = r"(?!)"
    """Regular expression of frequent words by which the language is recognised."""
    spaced: bool = True
    """Whether spaces separate words."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds every word of the lexicon; the name of the group is the meaning."""
        edge = r"(?<![\w-])", r"(?![\w])"
        before, after = edge if self.spaced else ("", "")
        named = [f"(?P<idiom_>{self.idioms})", *(f"(?P<{name}>{entry.words})" for name, entry in self.entries.items())]
        return re.compile(f"{before}(?:{'|'.join(named)}){after}", re.IGNORECASE)

    def found(self, text: str) -> list[tuple[str, str]]:
        """(meaning, word) of every word of the lexicon, in the order of the text."""
        hits = ((hit.lastgroup or "", hit[0]) for hit in self.pattern.finditer(text))
        return [(meaning, word) for meaning, word in hits if meaning != "idiom_"]


def _entries(kind: Kind, words: Mapping[str, str], *, may_be_added: bool = False) -> dict[str, Entry]:
    return {name: Entry(kind=kind, words=text, may_be_added=may_be_added) for name, text in words.items()}


UNITS = {
    "cm": r"centimet(?:re|er)s?",
    "mm": r"millimet(?:re|er)s?",
    "km": r"kilomet(?:re|er)s?",
    "m": r"met(?:re|er)s?",
    "px": r"pixels?",
    "deg": r"degrees?",
    "rad": r"radians?",
    "ms": r"milliseconds?",
    "s": r"seconds|(?<=per )second|(?<=a )second(?= (?:after|from|before|later))",
    "min": r"minutes?",
    "h": r"hours?",
    "ft": r"feet|foot",
    "inch": r"inch(?:es)?",
    "yard": r"yards?",
    "percent": r"percent|per cent",
}
"""Units in words; as signs behind a number: `SIGNS`."""

SIGNS = {
    "cm": "cm", "mm": "mm", "km": "km", "m": "m", "px": "px", "deg": "°", "rad": "rad", "ms": "ms", "s": "s",
    "min": "min", "h": "h", "ft": "ft", "percent": "%",
}  # fmt: skip

_NEGATIONS = {
    "not": r"not|\w+n['’]t|cannot|no|none|never|neither|nor|nobody|no one|nothing|nowhere|without|unable|fails?|lacks?"
    r"|lacking|except|excluding|false(?:ly)?|untrue|incorrect(?:ly)?"
    r"|wrong(?:ly)?|otherwise|impossible|absent|missing|leaves? out|unseen|invisible"
    r"|instead of|rather than|unlike|ignor\w+|disregard\w*|leaving aside|regardless|apart from|other than|unfinished"
    r"|incomplete|un(?:completed|changed|necessary|stable|moving)",
    "at_rest": r"stand(?:s|ing)? still|stood still|at rest|stationary|motionless",
    "only": r"only|solely|exclusively|alone",
}

_DIRECTIONS = {
    "counterclockwise": r"counter-?\s?clockwise|anti-?\s?clockwise",
    "clockwise": r"clockwise",
    "perpendicular": r"right angles?|perpendicular",
    "from_above": r"from (?:directly |straight )?(?:above|overhead|over)|bird['’]?s[- ]eye|top[- ]down",
    "from_below": r"from (?:directly |straight )?(?:below|underneath|beneath)",
    "left": r"left(?:most|wards?|-hand)?",
    "right": r"right(?:most|wards?|-hand)?",
    "upright": r"upright",
    "up": r"up(?:wards?)?",
    "down": r"down(?:wards?)?",
    "above": r"above|over",
    "below": r"below|beneath|under(?:neath)?",
    "top": r"top",
    "bottom": r"bottom",
    "front": r"in front of|in front|front",
    "behind": r"behind",
    "ahead": r"ahead|forwards?",
    "back": r"backwards?|rearwards?|back",
    "towards": r"towards?|approach\w*|comes? nearer|coming nearer|comes? closer|coming closer",
    "away_from": r"away from|recede\w*|receding",
    "inside": r"inside|within",
    "outside": r"outside|out of|beyond",
    "opposite": r"opposite",
    "parallel": r"parallel",
    "mirrored": r"mirror(?:ed|ing)|flip(?:s|ped|ping)?|revers\w+|invert\w*",
    "straight": r"straight",
    "sideways": r"sideways|sidestep",
}

_ORDER = {
    "first": r"first|earliest",
    "last": r"last|latest|final",
    "before": r"before|prior to|earlier",
    "after": r"after(?:wards)?|later",
    "next": r"next|follows|following|subsequent",
    "second": r"second",
    "third": r"third",
    "fourth": r"fourth",
    "start": r"start(?:s|ing|ed)?|beg[iau]n(?:s|ning)?",
    "end": r"end(?:s|ing|ed)?",
}

_COMPARISONS = {
    "nearest": r"nearest|closest",
    "farthest": r"farthest|furthest|most distant",
    "near": r"near(?:er)?|close(?:r)?",
    "far": r"far(?:ther)?|further|distant|away|remote",
    "highest": r"highest|tallest",
    "lowest": r"lowest",
    "high": r"high(?:er)?|heights?|tall(?:er)?|elevation",
    "low": r"low(?:er)?",
    "widest": r"widest|broadest",
    "narrowest": r"narrowest",
    "wide": r"wid(?:e|er|ths?)|broad(?:er)?",
    "narrow": r"narrow(?:er)?|thin(?:ner)?",
    "longest": r"longest",
    "shortest": r"shortest",
    "long": r"long(?:er)?|lengths?",
    "short": r"short(?:er)?",
    "deep": r"deep(?:er|est)?|depths?",
    "largest": r"largest|biggest|greatest|bulkiest",
    "smallest": r"smallest",
    "large": r"large(?:r)?|big(?:ger)?|great(?:er)?",
    "small": r"small(?:er)?|little|tiny",
    "at_most": r"at most|no more than|maximum",
    "at_least": r"at least|no less than|minimum",
    "fewest": r"fewest|least|minimal",
    "most": r"most|mostly",
    "fewer": r"few(?:er)?|less",
    "more": r"more",
    "fastest": r"fastest|quickest",
    "slowest": r"slowest",
    "fast": r"fast(?:er)?|quick(?:er|ly)?|speeds?|velocity",
    "slow": r"slow(?:er|ly)?",
    "volume": r"volumes?",
    "area": r"areas?",
    "heavy": r"heav(?:y|ier)|weight",
    "same": r"same|identical|equal(?:ly)?",
    "other": r"(?:which|what|who) (?:else|other)",
    "different": r"different(?:ly)?|other than|differs?",
    "multiple": r"times|ratio|divided?|multiples?",
}

_FRAMES = {
    "viewpoint": r"points? of view|viewpoints?|perspectives?|vantage points?|seen from|viewed from|as seen|from where"
    r"|from the (?:spot|place|position)|for(?= the camera)",
    "camera": r"cameras?(?:['’]s?)?|lens",
    "facing": r"fac(?:e|es|ed|ing)|head(?:s|ed|ing)",
    "world": r"world|gravity",
    "vertical": r"vertical(?:ly)?|plumb",
    "horizontal": r"horizontal(?:ly)?|horizon",
    "level": r"level",
    "own": r"own",
    "map": r"maps?",
    "axis": r"ax[ei]s|azimuth|polar",
    "roll": r"roll(?:s|ed|ing)?",
    "pitch": r"pitch(?:es|ed|ing)?",
    "tilt": r"tilt(?:s|ed|ing)?",
    "pan": r"pan(?:s|ned|ning)?",
}

_ADDABLE_FRAMES = {
    "real": r"real(?:ly|ity)?|actual(?:ly)?|tru(?:e|ly)|in the scene itself|itself|in space",
    "scene": r"scenes?",
    "photo": r"photos?|photographs?|pictures?|images?",
    "video": r"videos?|clips?|footage",
    "mainly": r"main(?:ly)?|most of all|mostly|primarily|chiefly|above all",
}

_SUBJECTS = {
    "turn": r"turn(?:s|ed|ing)?|rotat\w+",
    "move": r"mov\w+|motion|travel\w*",
    "open": r"open(?:s|ed|ing)?",
    "closed": r"closed|closes|closing",
    "angle": r"angles?",
    "undone": r"undo(?:es|ing|ne)?|unfold\w*",
    "boxed": r"box(?:es|ed)?",
    "option": r"options?",
}

_IDIOMS = (
    r"right (?:for|now|next|answer|one|option|order|statement|choice|away)|(?:is|are|be|order is) right(?=[.?,])"
    r"|(?:write|put|note|lay|set|jot|laid|track|narrow)s? (?:it |them )?down|upside down"
    r"|(?:hold|held|end|ended|made|make|add|added|line|lined|set|show|pick|come|sum|give|look|stand|match|paired?)s? up"
    r"|made up|over time|all over|over again|above all|after all|first of all|look over|go over|carried over"
    r"|how (?:far|large|big|much)|distances?|up to (?:the|a|it)"
    r"|no matter|such as|which way|let(?:['’]s| us)|look (?:closely|carefully)|in the end|at the end of the day"
    r"|take a close look|close look|closer look|looking closely|more precisely|how much (?:more|longer)"
    r"|no longer|point out|figure out|work out|find out|make out|turn out|lay out|as follows|the following"
    r"|in turn|turn to|by far|so far|back and forth|go back|come back|looking back|mean(?:while|time)"
    r"|face to face|left (?:over|to (?:do|be done|reach))"
    r"|(?:is|are|remains?) (?:still )?left(?= (?:for|to do|until|before))"
    r"|true that|is it true|not just|not only|same (?:thing|question)|open question"
)

_NUMBERS: Mapping[str, float] = {
    "one": 1, "two": 2, "twice": 2, "double": 2, "three": 3, "triple": 3, "thrice": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "half": 0.5,
}  # fmt: skip

ENGLISH = Lexicon(
    entries={
        **_entries("unit", UNITS),
        **_entries("frame", {"mainly": _ADDABLE_FRAMES.pop("mainly")}, may_be_added=False),
        **_entries("comparison", {name: _COMPARISONS.pop(name) for name in ("at_most", "at_least")}),
        **_entries("direction", _DIRECTIONS),
        **_entries("negation", _NEGATIONS),
        **_entries("order", _ORDER, may_be_added=True),
        **_entries("comparison", _COMPARISONS),
        "viewpoint": Entry(kind="frame", words=_FRAMES.pop("viewpoint"), may_be_added=True),
        **_entries("frame", _FRAMES),
        **_entries("frame", _ADDABLE_FRAMES, may_be_added=True),
        **_entries("subject", _SUBJECTS, may_be_added=True),
    },
    opposites=(
        ("left", "right"),
        ("up", "down"),
        ("above", "below"),
        ("front", "behind"),
        ("ahead", "behind"),
        ("ahead", "back"),
        ("towards", "away_from"),
        ("inside", "outside"),
        ("first", "last"),
        ("before", "after"),
        ("start", "end"),
        ("near", "far"),
        ("nearest", "farthest"),
        ("highest", "lowest"),
        ("longest", "shortest"),
        ("largest", "smallest"),
        ("large", "small"),
        ("most", "fewest"),
        ("clockwise", "counterclockwise"),
        ("wide", "narrow"),
        ("high", "low"),
    ),
    idioms=_IDIOMS,
    numbers=_NUMBERS,
    said=r"\b(?:the|of|is|are|which|what|how|where|in|to|does|do|and|you|from|at|this|it|an?|be|as"
    r"|can|would|if|than|by|with|on|for|has|have|was|were)\b",
)
