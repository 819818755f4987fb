"""What is said where the photos that are shown leave a question open (docs/unanswerable.md)."""

from dataclasses import replace

from templates.answers import Answer, Label
from templates.question import Option, Phrasing, Question

UNDETERMINED = "cannot be determined"
"""The label of such a fact; stands as `value` in its question."""


def is_unanswerable(answer: Answer) -> bool:
    """Whether an answer says that the photos leave the question open."""
    return isinstance(answer, Label) and answer.text == UNDETERMINED


def undetermined_option(why: str) -> Option:
    """The option of a choice that says so, and why: choices that can be answered carry it too."""
    return Option(shown=f"It {UNDETERMINED}: {why}.", value=UNDETERMINED)


def offers_undetermined(asked: Phrasing | Question) -> bool:
    """Whether one of the options says so."""
    if isinstance(asked, Phrasing):
        return any(option.value == UNDETERMINED for option in asked.options)
    return UNDETERMINED in asked.scorer_params.get("option_values", ())


def without_undetermined(phrasing: Phrasing) -> Phrasing:
    """A choice without that option; it must be the last one and not the right one."""
    return replace(phrasing, options=phrasing.options[:-1])
