"""The leak audit of a data set on disk."""

from pathlib import Path

from spatial_engine.atomic_file import one_writer, write_json
from spatial_engine.dataset.dataset import Dataset, scenes_of
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.splits import similar_photos
from spatial_engine.trust.blind_run import blind_run
from templates.measured import Json


def audit_leaks(path: str | Path, *, model: str | Path | None = None, pictures: bool = True) -> dict[str, Json]:
    """Writes "leaks" of a data set anew, with near-duplicate pictures, to its `audit.json`; returns what it wrote.

    Raises `UsageError` if `path` is no data set, or `model` no blind run on it.
    """
    dataset = Dataset.open(path)
    with one_writer(dataset.path):
        return _audit_leaks(dataset, model, pictures)


def _audit_leaks(dataset: Dataset, model: str | Path | None, pictures: bool) -> dict[str, Json]:
    record, questions = dataset.audit, list(dataset.questions)
    scenes, splits = scenes_of(record, questions), record.get("splits") or {}
    blind = None if model is None else blind_run(questions, model)
    found = leak_audit(questions, scenes=scenes, splits=splits, seed=int(record.get("seed") or 0), model=blind)
    if pictures:
        found["similar_photos"], _ = similar_photos(dataset.path, questions, scenes, splits)
    write_json(dataset.path / "audit.json", {**record, "scenes": scenes, "leaks": found})
    return found
