"""The options of a choice and its right letter, wherever a benchmark's row has them."""

import re
from collections.abc import Sequence
from typing import Any

from spatial_engine.evaluation.benchmarks.fields import Fields, listed
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from templates.question import LETTERS

_MARKER = re.compile(r"(?<![A-Za-z0-9])\(?([A-J])\s?[.:)]\s+(?=\S)")
_HEADING = re.compile(r"\s*(?:the\s+)?(?:options|choices)(?:\s+are)?\s*[:：]?\s*$", re.IGNORECASE)
_PREFIX = re.compile(r"\s*\(?([A-J])\s?[.:)]\s*")
_ANSWER = re.compile(r"\(?([A-J])\)?(?:\s?[.:)].*)?", re.DOTALL)
_NAMES_LETTERS = re.compile(
    r"(?:option|figure|image|picture|view|choice|diagram|shape)?\s*\(?[A-J]\)?\.?|.*\b(?:of|to) the above\b.*"
    r"|.*\b(?:both|neither|either)\b.*\b[A-J]\b.*|.*\b[A-J] (?:and|or) [A-J]\b.*",
    re.IGNORECASE | re.DOTALL,
)


def options_of(fields: Fields, question: str) -> tuple[str, list[str]]:
    """The question without its options, and the options without their letters.

    They are a list in the column of `options`, one column a letter (A, B, ...), or stand in the question itself.
    Raises `BrokenRow` where there are fewer than two.
    """
    given = listed(fields.get("options"))
    texts = [str(text).strip() for text in given] if given is not None else _in_columns(fields)
    if texts:
        question, options = question.strip(), without_letters(texts)
    else:
        question, options = split(question)
    if not 2 <= len(options) <= len(LETTERS):
        raise BrokenRow("no options")
    return question, options


def split(question: str) -> tuple[str, list[str]]:
    """A question that lists its options: its words before them, and the options; none where it lists none.

    "Where is it? Options: A: left, B: right" is ("Where is it?", ["left", "right"]). The last list counts.
    """
    marks = list(_MARKER.finditer(question))
    for start in reversed([index for index, mark in enumerate(marks) if mark[1] == "A"]):
        chosen = [marks[start]]
        for mark in marks[start + 1 :]:
            if mark[1] == LETTERS[len(chosen)]:
                chosen.append(mark)
        if len(chosen) > 1:
            ends = [*(mark.start() for mark in chosen[1:]), len(question)]
            texts = [question[mark.end() : end].strip(" \t\n,;") for mark, end in zip(chosen, ends, strict=True)]
            return _HEADING.sub("", question[: chosen[0].start()]).strip(), texts
    return question.strip(), []


def without_letters(texts: Sequence[str]) -> list[str]:
    """Options without "A. ", "(B) ", ..., if all begin with their own letter."""
    found = [_PREFIX.match(text) for text in texts]
    if all(mark and mark[1] == letter for mark, letter in zip(found, LETTERS, strict=False)):
        return [text[mark.end() :].strip() or mark[1] for text, mark in zip(texts, found, strict=True) if mark]
    return list(texts)


def right_letter(answer: Any, options: Sequence[str]) -> str:
    """The letter of the right option, which a row states as a letter ("B", "(B)", "B. left"), as its index from 0, or
    by its text. Raises `BrokenRow`."""
    letters = LETTERS[: len(options)]
    if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(options):
        return letters[answer]
    text = str(answer).strip()
    if text in options:
        return letters[list(options).index(text)]
    mark = _ANSWER.fullmatch(text)
    if mark and mark[1] in letters:
        return mark[1]
    raise BrokenRow("the answer is none of the options")


def are_fixed(options: Sequence[str]) -> bool:
    """Whether options cannot change their places, because one names letters ("Figure B", "both A and C", "none of the
    above")."""
    return any(_NAMES_LETTERS.fullmatch(text) for text in options)


def _in_columns(fields: Fields) -> list[str]:
    """The texts of the columns A, B, ...; a column A alone holds something else."""
    found: list[str] = []
    for letter in LETTERS:
        value = fields.column(letter)
        if value is None:
            break
        found.append(str(value).strip())
    return found if len(found) > 1 else []
