"""What people said, into `audit.json` and the card."""

from pathlib import Path

from spatial_engine.adjudication.standing import standing
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.audit import set_human
from spatial_engine.dataset import Dataset
from templates.measured import Json


def fold_in(dataset: Dataset | str | Path) -> dict[str, Json] | None:
    """Writes what DATASET.adjudication/ holds about the data set as it is now into its audit and card; returns it.

    None, and "human" is null, if nobody judged anything. Names and notes stay out. Raises `UsageError` if there is no
    data set, or a file of verdicts is damaged.
    """
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    found = standing(Verdicts(dataset))
    if found != dataset.audit.get("human"):
        set_human(dataset.path, found)
    return found
