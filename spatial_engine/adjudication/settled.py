"""A dataset with what people corrected or wrote, where others agree."""

from collections.abc import Mapping
from pathlib import Path

from spatial_engine.adjudication.agreement import settled
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.part import check_outside, write_part
from templates.question import BY_PEOPLE


def to_dataset(verdicts: Verdicts, out: str | Path) -> Mapping[str, int]:
    """Writes the questions of the dataset, the corrected ones in their new words, and the new ones, as a dataset of
    its own; returns the numbers of corrected, new, and of items that others have not agreed to.

    The dataset itself stays as it is. Raises `UsageError` if `out` is the dataset, lies inside it, or holds something
    else than a dataset.
    """
    whole, out = verdicts.dataset, Path(out)
    check_outside(whole, out)
    found = settled(verdicts)
    counts = {
        "corrected": len(found.keys() & verdicts.questions.keys()),
        "written": len(found.keys() - verdicts.questions.keys()),
        "not_settled": len(verdicts.items.keys() - {question.id for question in found.values()}),
    }
    questions = [found.pop(id, question) for id, question in verdicts.questions.items()]
    questions = sorted([*questions, *found.values()], key=lambda question: question.clip)
    write_part(whole, out, questions, whole.audit.get("splits") or {}, {BY_PEOPLE: counts})
    return counts
