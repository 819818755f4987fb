"""What a reader gives: the answer and how it was found, or why none was."""

from dataclasses import dataclass
from typing import Literal

from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Reading:
    """An answer found in a response."""

    value: Json
    """letter | "yes" / "no" | number | object | [x, y] | list | {"actions": [...], "step_nums": [...]}."""
    how: Literal["tags", "rules"]
    """tags: it stood where an answer was asked for (<answer>, boxed, fenced JSON); rules: found in plain text."""


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """No answer in a response."""

    reason: Literal["empty", "refused", "ambiguous", "nothing found"]
    """refused: it says that it cannot or will not answer; ambiguous: several answers, none of them concluded."""
