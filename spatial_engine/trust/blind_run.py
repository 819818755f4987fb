"""A language model that was asked blind: the guesses in the `scores.jsonl` of its run."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from spatial_engine.atomic_file import read_json
from spatial_engine.errors import UsageError
from spatial_engine.leaks.guesses import Guesses, no_guesses
from templates.question import Question


def blind_run(questions: Sequence[Question], folder: str | Path) -> Guesses:
    """What the model of `evaluate --blind` got right; the mean over rotations. Questions it was not asked are left out.

    Raises `UsageError` if the folder is no run, the model saw pictures, or it was asked another data set.
    """
    from spatial_engine.evaluation.runs import FinishedRun

    folder = Path(folder)
    try:
        record = dict(read_json(folder / "run.json"))
    except (OSError, ValueError, TypeError):
        raise UsageError(
            f"{folder} is not the folder of a run: it has no run.json that can be read",
            "name OUT/RUN of: spatial-engine evaluate DATASET --blind -o OUT",
        ) from None
    if record.get("blind") is not True:
        raise UsageError(f"the model of {folder} saw the pictures", "give a run of: spatial-engine evaluate --blind")
    hits: dict[str, list[float]] = defaultdict(list)
    for item in FinishedRun(path=folder, record=record).scores()[0]:
        hits[item.id].append(float(item.right))
    guesses = no_guesses(questions)
    for n, question in enumerate(questions):
        if question.id in hits:
            guesses.hits[n] = np.mean(hits[question.id])
    if np.isnan(guesses.hits).all() and len(questions):
        raise UsageError(f"the run in {folder} answers none of these questions", "give a run on this data set")
    return guesses
