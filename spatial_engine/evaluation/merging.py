"""Merges the runs that several machines asked for into those that a single machine would have written."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.arranging import arrange
from spatial_engine.evaluation.item import dataset_digest, item_hashes
from spatial_engine.evaluation.protocol import Presentation, asked
from spatial_engine.evaluation.responses import latest
from spatial_engine.evaluation.run_scores import score_run, write_baselines
from spatial_engine.evaluation.runs import RunFolder, open_run, runs
from spatial_engine.options import StrPath
from spatial_engine.progress import Progress, Silent, counted

_SILENT = Silent()


def merge_runs(
    dataset: Dataset | StrPath, sources: Sequence[StrPath], out: StrPath, *, progress: Progress = _SILENT
) -> list[Path]:
    """Merges the runs of equal names in several folders, and scores them. Returns the folder of each run.

    Args:
        dataset: the dataset that was asked, here.
        sources: folders that `evaluate --shard` wrote. They are only read, unless `out` is one of them.
        out: the folder of the merged runs.
        progress: who is told; None: nobody.

    Raises:
        UsageError: a source holds no runs; or their settings, or the state of the dataset, differ.
        BusyError: another process asks, and adds its answers to `out`.
    """
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    hashes = item_hashes(dataset)
    shares: dict[str, list[RunFolder]] = {}
    for source in sources:
        found = [name for name, record in runs(Path(source)).items() if record["baseline"] is not True]
        if not found:
            raise UsageError(f"{source} holds no runs", "name folders that evaluate --shard wrote")
        for name in found:
            shares.setdefault(name, []).append(RunFolder(Path(source) / name))
    return [_merge(dataset, hashes, folders, Path(out), progress) for folders in shares.values()]


def _merge(
    dataset: Dataset, hashes: dict[str, str], shares: Sequence[RunFolder], out: Path, progress: Progress
) -> Path:
    """Merges the shares of one run."""
    for share in shares:
        if share.record["dataset_digest"] != dataset_digest(hashes):
            raise UsageError(f"{share.path} asks another dataset, or another state of it", "name the one it asks")
    for share in reversed(shares):  # the record of the first one stays
        run = open_run(out, {**share.record, "dataset": str(dataset.path.resolve())})
    record, ids = run.record, list(hashes)

    def presentations() -> Iterator[Presentation]:
        limit, seed = record.get("limit"), record.get("seed") or 0
        return asked(dataset.questions, ids, circular=record["circular"], limit=limit, seed=seed)

    found = latest(response for share in shares for response in share.answers().values())
    arrange(run, presentations(), found)
    missing = sum(shown.key not in found for shown in presentations())
    if missing:
        remedy = "run again the shards that did not end, or evaluate without --shard"
        progress.say(f"{counted(missing, 'answer')} missing, which count as wrong: {remedy}")
    score_run(run, presentations())
    write_baselines(out, dataset, hashes, circular=record["circular"])
    return run.path
