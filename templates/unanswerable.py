"""What is said where the photos that are shown leave a question open (docs/unanswerable.md)."""

from dataclasses import replace

from templates.answer import Answer, Label
from templates.question import Phrasing

UNDETERMINED = "cannot be determined"
"""The label of such a fact; stands as `value` in its question."""
_START = f"It {UNDETERMINED}"


def is_unanswerable(answer: Answer) -> bool:
    """Whether an answer says that the photos leave the question open."""
    return isinstance(answer, Label) and answer.text == UNDETERMINED


def open_option(why: str) -> str:
    """The option of a choice that says so, and why: choices that can be answered carry it too."""
    return f"{_START}: {why}."


def is_open_option(option: object) -> bool:
    """Whether an option is such a one."""
    return isinstance(option, str) and option.startswith(_START)


def without_open_option(phrasing: Phrasing) -> Phrasing:
    """A choice without it; the option must be the last one and not the right one."""
    return replace(phrasing, options=phrasing.options[:-1])
