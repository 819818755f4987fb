"""The leak audit of a dataset on disk. A blind run of a language model can be one more baseline."""

from collections import defaultdict
from pathlib import Path

import numpy as np

from spatial_engine.atomic_file import one_writer, read_json, write_json
from spatial_engine.dataset.dataset import Dataset, scenes_of
from spatial_engine.errors import UsageError
from spatial_engine.leaks.guesses import Guesses, no_guesses
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.leaks.splits import similar_photos
from templates.columns import Json


def audit_leaks(path: str | Path, *, blind_run: str | Path | None = None, pictures: bool = True) -> dict[str, Json]:
    """Writes "leaks" in `audit.json` anew, by default with near-duplicate pictures; returns what it wrote.

    Raises `UsageError` if `path` is no dataset, or `blind_run` is no blind run on it.
    """
    dataset = Dataset.open(path)
    with one_writer(dataset.path):
        return _audit_leaks(dataset, blind_run, pictures)


def _audit_leaks(dataset: Dataset, model: str | Path | None, pictures: bool) -> dict[str, Json]:
    record, table = dataset.audit, dataset.table()
    scenes, splits = scenes_of(record, table.clip.known_texts), record.get("splits") or {}
    blind = None if model is None else blind_run(table, model)
    found = leak_audit(table, scenes=scenes, splits=splits, seed=int(record.get("seed") or 0), model=blind)
    if pictures:
        found["similar_photos"], _ = similar_photos(dataset.path, table, scenes, splits)
    write_json(dataset.path / "audit.json", {**record, "scenes": scenes, "leaks": found})
    return found


def blind_run(table: QuestionTable, folder: str | Path) -> Guesses:
    """The scores of a run of `evaluate --blind`, averaged over rotations; questions that it was not asked are NaN.

    Raises `UsageError` if the folder is no run, if the model saw pictures, or if the run is on another dataset.
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
    guesses = no_guesses(table)
    for n, id in enumerate(table.id.tolist()):
        if own := hits.get(id.decode()):
            guesses.hits[n] = np.mean(own)
    if np.isnan(guesses.hits).all() and len(table):
        raise UsageError(f"the run in {folder} answers none of these questions", "give a run on this dataset")
    return guesses
