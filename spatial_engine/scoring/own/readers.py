"""Readers by name: what finds the answer of a format in a reply, and what takes a bare answer without forgiving.

A format names its reader (`templates.answers.format.Format.reader`). Third parties add theirs as entry points
`spatial_engine.readers`.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from experts.registry import Registry
from spatial_engine.scoring import reading
from spatial_engine.scoring.own import quotes
from spatial_engine.scoring.reading import Reading, Unreadable
from templates.answers.point import picture_size
from templates.columns import Json
from templates.question import LETTERS, Question

_NUMBER = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,2})?", re.ASCII)
_UNITS = {
    "deg": ("°", "deg", "degrees", "degree"),
    "m": ("m", "metres", "meters", "metre", "meter"),
    "m²": ("m²", "m2", "square metres", "square meters"),
    "px": ("px", "pixels"),
    "s": ("s", "seconds"),
    "rad": ("rad", "radians"),
    "m/s": ("m/s", "metres per second", "meters per second"),
}


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Readers of replies. All may raise what a question with unfit fields raises."""

    find: Callable[[Question, str], Reading | Unreadable]
    """The answer that a reply means, in the form of `Question.answer`: forgives what people and models forgive."""
    bare: Callable[[Question, str], Json | None]
    """The answer that a text is, if it is nothing else; None else. For rewards: whatever is forgiven will be used."""
    holds: Callable[[Question, str, str], bool] = quotes.holds_numbers
    """Whether words that a judge quotes from a reply hold the answer that it states."""


def shown_options(question: Question) -> list[str]:
    """The options in the words they are shown with: those that are drawings have a letter each."""
    drawn = {medium["id"] for medium in question.media if medium.get("option")}
    pairs = zip(LETTERS, question.options, strict=False)
    return [f"Picture {letter}" if option in drawn else str(option) for letter, option in pairs]


def bare_json(question: Question, text: str) -> Json | None:
    """Strict JSON of the same kind as the right answer, an object with the same keys; NaN, infinities and names that
    are given twice are none."""
    try:
        found = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_small, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    if isinstance(question.answer, dict):
        return found if isinstance(found, dict) and found.keys() == question.answer.keys() else None
    return found if isinstance(found, list) and isinstance(question.answer, list | tuple) else None


def _bare_number(question: Question, text: str) -> float | None:
    found = _NUMBER.match(text)
    if found is None or text[found.end() :].strip() not in ("", question.unit, *_UNITS.get(question.unit, ())):
        return None
    return float(found[0])


def _refuse(constant: str) -> Json:
    raise ValueError(constant)


def _finite(written: str) -> float:
    if not math.isfinite(number := float(written)):
        raise ValueError(written)
    return number


def _small(written: str) -> int:
    if len(written) > 15:
        raise ValueError("no such number is asked for")
    return int(written)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


LETTER = Reader(
    find=lambda question, text: reading.read_choice(text, shown_options(question)),
    bare=lambda question, text: text if len(text) == 1 else None,
    holds=quotes.holds_letter,
)
YES_NO = Reader(
    find=lambda question, text: reading.read_yes_no(text),
    bare=lambda question, text: text.lower() if text.lower() in ("yes", "no") else None,
    holds=quotes.holds_yes_no,
)
NUMBER = Reader(
    find=lambda question, text: reading.read_number(text, question.unit),
    bare=_bare_number,
    holds=quotes.holds_quantity,
)
NUMBERS = Reader(
    find=lambda question, text: reading.read_object(
        text, list(question.answer), listed=question.scorer in ("box", "box_3d")
    ),
    bare=bare_json,
)
PLACES = Reader(find=lambda question, text: reading.read_places(text, list(question.answer)), bare=bare_json)
PIXEL = Reader(find=lambda question, text: reading.read_point(text, *picture_size(question)), bare=bare_json)
ORDER = Reader(find=lambda question, text: reading.read_order(text, len(question.answer)), bare=bare_json)
WORDS = Reader(
    find=lambda question, text: reading.read_words(text),
    bare=bare_json,
    holds=quotes.holds_words,
)
TEXT = Reader(find=lambda question, text: reading.read_text(text), bare=lambda question, text: text or None)
PLAN = Reader(
    find=lambda question, text: reading.read_plan(text),
    bare=bare_json,
    holds=quotes.holds_actions,
)
ARM_PLAN = Reader(find=lambda question, text: reading.read_steps(text), bare=bare_json)

READERS = Registry(
    "spatial_engine.readers",
    {
        name: f"{__name__}:{name.upper()}"
        for name in (
            *("letter", "yes_no", "number", "numbers", "places", "pixel", "order", "words", "text", "plan"),
            "arm_plan",
        )
    },
)
"""letter: of an option. number: with the question's unit. numbers: an object with the keys of the answer. places: the
same with a position each. pixel: [x, y] of the last photo. order: a list of numbers. words: a list in any order. text:
all of it. plan: actions and their counts. arm_plan: the same and the gripper in several steps."""


@cache
def reader_of(name: str) -> Reader:
    """The reader of that name. Raises `UnknownNameError`."""
    found: Reader = READERS.load(name)
    return found
