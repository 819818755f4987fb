"""Questions that the shown photos do not determine (docs/unanswerable.md)."""

from templates.question import Question

UNDETERMINED = "cannot be determined"
"""Label of such a fact; the `value` of its question and of its option."""


def offers_undetermined(question: Question) -> bool:
    """Whether one of the options is "cannot be determined"."""
    return UNDETERMINED in question.scorer_params.get("option_values", ())
