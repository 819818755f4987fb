"""Questions that the shown photos do not determine (docs/unanswerable.md)."""

from dataclasses import replace

from templates.answers import Answer, Label
from templates.question import Option, Phrasing, Question

UNDETERMINED = "cannot be determined"
"""Label of such a fact; the `value` of its question."""


def is_unanswerable(answer: Answer) -> bool:
    """Whether an answer is the label "cannot be determined"."""
    return isinstance(answer, Label) and answer.text == UNDETERMINED


def undetermined_option(why: str) -> Option:
    """The option "cannot be determined", with the reason. Answerable choices offer it too."""
    return Option(shown=f"It {UNDETERMINED}: {why}.", value=UNDETERMINED)


def offers_undetermined(asked: Phrasing | Question) -> bool:
    """Whether one of the options is "cannot be determined"."""
    if isinstance(asked, Phrasing):
        return any(option.value == UNDETERMINED for option in asked.options)
    return UNDETERMINED in asked.scorer_params.get("option_values", ())


def without_undetermined(phrasing: Phrasing) -> Phrasing:
    """The choice without that option, which must be the last one and wrong."""
    return replace(phrasing, options=phrasing.options[:-1])
