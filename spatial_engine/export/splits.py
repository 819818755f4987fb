"""Which side of a split a question stands on: as `audit.json` says, by clip: no fact and no scene is divided."""

from collections.abc import Iterator

from spatial_engine.dataset import Dataset
from spatial_engine.errors import UsageError
from templates.question import Question


def questions_by_split(dataset: Dataset) -> dict[str, Iterator[Question]]:
    """Questions of each split that has any, in the order of `audit.json`; read anew for each, one at a time.

    Raises `UsageError` for a clip that no split names: the two files are not of one data set.
    """
    split_of = {clip: name for name, clips in dataset.audit["splits"].items() for clip in clips}
    used = set()
    for question in dataset.questions:
        if question.clip not in split_of:
            raise UsageError(f"no split of audit.json names clip {question.clip}", "generate the data set again")
        used.add(split_of[question.clip])
    return {name: _of(dataset, split_of, name) for name in dataset.audit["splits"] if name in used}


def _of(dataset: Dataset, split_of: dict[str, str], name: str) -> Iterator[Question]:
    return (question for question in dataset.questions if split_of[question.clip] == name)
