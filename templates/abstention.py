"""What is said where the photos that are shown leave a question open (docs/abstention.md)."""

from templates.answer import Answer, Label

UNDETERMINED = "cannot be determined"
"""The label of such a fact; stands as `value` in its question."""
OPTION = "It cannot be determined from these images."
"""The option of a choice that says so; choices that can be answered carry it too."""


def abstains(answer: Answer) -> bool:
    """Whether an answer says that the photos leave the question open."""
    return isinstance(answer, Label) and answer.text == UNDETERMINED
