"""Baselines as runs of their own, in every OUT: what a score is worth shows beside them."""

from collections.abc import Mapping
from pathlib import Path

from spatial_engine.dataset import Dataset
from spatial_engine.evaluation.baselines import baseline
from spatial_engine.evaluation.item import dataset_digest
from spatial_engine.evaluation.presentation import presentations
from spatial_engine.evaluation.response import Response
from spatial_engine.evaluation.run_folder import RESERVED, RESULT, RunFolder, open_run
from spatial_engine.evaluation.run_scores import score_run


def write_baselines(out: str | Path, dataset: Dataset, hashes: Mapping[str, str], *, circular: bool) -> None:
    """Writes what OUT lacks. Where a run of it is circular, the baselines are too."""
    for name in RESERVED:
        run = RunFolder(Path(out) / name)
        if not ((run.path / RESULT).is_file() and (run.record["circular"] or not circular)):
            _write(out, name, dataset, hashes, circular)


def _write(out: str | Path, name: str, dataset: Dataset, hashes: Mapping[str, str], circular: bool) -> None:
    record = {
        "name": name,
        "model": name,
        "baseline": True,
        "dataset": str(dataset.path.resolve()),
        "dataset_digest": dataset_digest(hashes),
        "circular": circular,
        "source": "baseline",
    }
    run = open_run(out, record)
    replies = baseline(name, dataset.questions)
    with run.responses.replacing() as lines:
        for shown in presentations(dataset.questions, circular=circular):
            id, rotation = shown.key
            lines.append(Response(id=id, rotation=rotation, text=replies(shown.shown), item=hashes[id]))
    score_run(run, presentations(dataset.questions, circular=circular))
