"""Scores answers that were made elsewhere."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.answers import check_file, read_answers
from spatial_engine.evaluation.item import check_unchanged, dataset_digest, item_hashes
from spatial_engine.evaluation.judge import Judge
from spatial_engine.evaluation.protocol import Presentation, presentations
from spatial_engine.evaluation.published import score_published
from spatial_engine.evaluation.responses import Key, Response, ResponseFile
from spatial_engine.evaluation.run_scores import finish, write_baselines
from spatial_engine.evaluation.runs import check_place, open_run
from spatial_engine.language.chat.asking import opened_cache
from spatial_engine.progress import Progress, Silent, counted

_SILENT = Silent()


def score(
    dataset: Dataset | str | Path,
    responses: str | Path,
    out: str | Path,
    *,
    scorer: str | None = None,
    name: str | None = None,
    judge: Judge | None = None,
    cache: str | Path | None = None,
    replay: bool = False,
    skip_bad_lines: bool = False,
    progress: Progress = _SILENT,
) -> Path:
    """Scores a file of answers to a dataset, as a run of its own; returns the run's folder.

    A line has at least an id and a text. Questions without an answer count as wrong. With `scorer`, a name
    of `scoring.scorers.SCORERS`, `dataset` is instead a file of a published benchmark's items (`score_published`).
    Raises `UsageError` for unusable lines, and for lines with the hash of an item that the dataset does not have.
    """
    if scorer is not None:
        if judge is not None or cache is not None or replay:
            raise UsageError("--as with a judge or its cache", "leave them out: published scorers read by rules")
        items = dataset.path if isinstance(dataset, Dataset) else dataset
        return score_published(
            items, responses, out, scorer=scorer, name=name, skip_bad_lines=skip_bad_lines, progress=progress
        )
    responses = Path(responses)
    check_file(responses)
    name = name or responses.stem
    check_place(out, name)
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    hashes = item_hashes(dataset)
    answers = read_answers(responses, _rotations(dataset), skip_bad_lines=skip_bad_lines)
    progress.say(f"{responses}: {answers.taken}")
    found = answers.responses
    check_unchanged(((one.id, one.item) for one in found.values()), hashes, str(responses))
    circular = any(rotation for _, rotation in found)
    record = {
        "name": name,
        "model": name,
        "baseline": False,
        "dataset": str(dataset.path.resolve()),
        "dataset_digest": dataset_digest(hashes),
        "circular": circular,
        "source": "elsewhere",
        "judge": judge.record if judge else None,
    }
    run = open_run(out, record)
    _write(run.responses, found, hashes)

    def asked() -> Iterator[Presentation]:
        return presentations(dataset.questions, circular=circular)

    missing = sum(shown.key not in found for shown in asked())
    if missing:
        progress.say(f"{counted(missing, 'answer')} missing: they count as wrong")
    with opened_cache(cache, replay) as replies:
        finish(run, asked, judge=judge, cache=replies, replay=replay, progress=progress)
    write_baselines(out, dataset, hashes, circular=circular)
    return run.path


def _rotations(dataset: Dataset) -> dict[str, int]:
    """Largest number of presentations of each question, by id."""
    return Counter(shown.question.id for shown in presentations(dataset.questions, circular=True))


def _write(file: ResponseFile, answers: Mapping[Key, Response], hashes: Mapping[str, str]) -> None:
    """Replaces the answers of the run, but keeps the judge's answers to equal texts."""
    before = file.read()
    with file.replacing() as lines:
        for key, response in answers.items():
            known = before.get(key)
            judged = known.judged if known and known.text == response.text else None
            lines.append(replace(response, item=hashes[response.id], judged=response.judged or judged))
