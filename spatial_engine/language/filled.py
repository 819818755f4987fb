"""What a template filled into one of its wordings, found again in a prompt, and the same said in its other wordings."""

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from templates.question import Question
from templates.registry import TEMPLATES
from templates.wording import Wording, wordings

_TOLERANCE = " Counts as right: "
"""Begins what `--state-tolerance` appends to a prompt."""


@dataclass(frozen=True, kw_only=True)
class Filled:
    """One prompt as a wording and its values."""

    wording: Wording
    values: Mapping[str, str]
    """What stands for each placeholder, in the order of the prompt."""
    rest: str = ""
    """What follows the wording: the tolerance."""

    def prompts(self) -> list[str]:
        """The prompt in all wordings of its kind."""
        return [prompt.format(**self.values) + self.rest for prompt in self.wording.prompts]


def filled(question: Question, prompt: str) -> Filled | None:
    """The wording that makes this prompt: the one that fills in the least. None where there is none (a question by
    people, a plug-in that is not installed), or where several values make it."""
    said, tolerance, limit = prompt.partition(_TOLERANCE)
    found = [
        Filled(wording=wording, values=values, rest=tolerance + limit)
        for wording, pattern, slow in _patterns(question.template, question.format)
        if (values := _values(pattern, slow, said)) is not None
    ]
    found.sort(key=_length)
    alone = len(found) == 1 or (len(found) > 1 and _length(found[0]) < _length(found[1]))
    return found[0] if alone else None


def _length(found: Filled) -> int:
    return sum(map(len, found.values.values()))


def _values(pattern: re.Pattern[str], slow: re.Pattern[str], prompt: str) -> dict[str, str] | None:
    shortest, longest = pattern.fullmatch(prompt), slow.fullmatch(prompt)
    if shortest is None or longest is None or shortest.groupdict() != longest.groupdict():
        return None
    return shortest.groupdict()


@cache
def _patterns(template: str, format: str) -> list[tuple[Wording, re.Pattern[str], re.Pattern[str]]]:
    """Every wording of a template in a format, with two patterns of each of its prompts: shortest and longest values
    first."""
    if template not in TEMPLATES.targets():
        return []
    known = wordings(TEMPLATES.load(template))
    return [
        (wording, re.compile("".join(_parts(prompt, "+?"))), re.compile("".join(_parts(prompt, "+"))))
        for key, wording in known.items()
        if key.partition(".")[0] == format
        for prompt in wording.prompts
    ]


def _parts(prompt: str, length: str) -> Iterator[str]:
    seen = set[str]()
    for text, name, _, _ in string.Formatter().parse(prompt):
        yield re.escape(text)
        if name is not None:
            yield f"(?P={name})" if name in seen else f"(?P<{name}>.{length})"
            seen.add(name)
