"""The form in which an answer earns a reward: reasoning, then one answer block that holds a bare answer, then the end.

It is stricter than the readers of `scoring.reading`, on purpose. Those find out what a model meant; a policy learns to
exploit what they forgive (several answers, ranges, all options, answers in the reasoning, blocks without end).
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from templates.measured import Json
from templates.question import Question

LONGEST = 100_000
"""Characters of a completion; a longer one earns 0. No answer needs so many: the policy is caught in a loop, which must
not be rewarded even where an answer ends it."""
_LONGEST_ANSWER = 2_000
_OPEN, _CLOSE = "<answer>", "</answer>"
_THINK, _THOUGHT = "<think>", "</think>"
_NUMBER = re.compile(r"[-+]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,2})?", re.ASCII)
_UNITS = {
    "deg": ("°", "deg", "degrees", "degree"),
    "m": ("m", "metres", "meters", "metre", "meter"),
    "px": ("px", "pixels"),
    "s": ("s", "seconds"),
    "rad": ("rad", "radians"),
}


@dataclass(frozen=True, kw_only=True)
class Formed:
    """A completion in the required form."""

    thought: str
    """The text before the answer block, without tags."""
    value: Json
    """The answer, in the form of `Question.answer`."""


def formed(text: str, question: Question) -> Formed | None:
    """Reasoning and answer; None for any other form."""
    if len(text) > LONGEST or text.count(_OPEN) != 1 or text.count(_CLOSE) != 1:
        return None
    before, _, rest = text.partition(_OPEN)
    answer, closed, after = rest.partition(_CLOSE)
    thought = _thought(before)
    if thought is None or not closed or after.strip() or len(answer) > _LONGEST_ANSWER:
        return None
    value = _bare(answer.strip(), question)
    return None if value is None else Formed(thought=thought, value=value)


def _thought(before: str) -> str | None:
    """The text before the answer block: at most one think block, closed there (a chat template may have opened it)."""
    opened, closed = before.count(_THINK), before.count(_THOUGHT)
    if opened > 1 or closed > 1 or opened > closed or (opened and before.index(_THINK) > before.index(_THOUGHT)):
        return None
    return before.replace(_THINK, " ").replace(_THOUGHT, " ").strip()


def _bare(answer: str, question: Question) -> Json | None:
    """The answer, if the block holds nothing else."""
    match question.format:
        case "choice":
            return answer if len(answer) == 1 else None
        case "yes_no":
            return answer.lower() if answer.lower() in ("yes", "no") else None
        case "numeric":
            return _number(answer, question.unit)
        case "json" | "plan":
            return found if isinstance(found := _json(answer), dict) and _keys_fit(found, question) else None
        case "order" | "point":
            return found if isinstance(found := _json(answer), list) else None
    return None


def _number(answer: str, unit: str) -> float | None:
    found = _NUMBER.match(answer)
    if found is None or answer[found.end() :].strip() not in ("", unit, *_UNITS.get(unit, ())):
        return None
    return float(found[0])


def _keys_fit(found: Mapping[str, Json], question: Question) -> bool:
    return isinstance(question.answer, Mapping) and found.keys() == question.answer.keys()


def _json(answer: str) -> Json:
    """None for anything but strict JSON: NaN, infinities and repeated names are refused."""
    try:
        return json.loads(
            answer, parse_constant=_refuse, parse_float=_finite, parse_int=_small, object_pairs_hook=_once
        )
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Json:
    raise ValueError(constant)


def _finite(written: str) -> float:
    if not math.isfinite(number := float(written)):
        raise ValueError(written)
    return number


def _small(written: str) -> int:
    if len(written) > 15:
        raise ValueError("the integer has more than 15 digits")
    return int(written)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is repeated")
    return dict(pairs)
