"""Scores the answers of a run into `scores.jsonl` and `result.json`, and writes the baselines beside it."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from spatial_engine.atomic_file import atomic_file, write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import plain
from spatial_engine.evaluation.asking import Cache
from spatial_engine.evaluation.baselines import baseline
from spatial_engine.evaluation.item import dataset_digest
from spatial_engine.evaluation.judge import Judge, judge_unreadable
from spatial_engine.evaluation.protocol import Presentation, presentations
from spatial_engine.evaluation.responses import Response
from spatial_engine.evaluation.result import result
from spatial_engine.evaluation.runs import RESERVED, RESULT, SCORES, RunFolder, open_run
from spatial_engine.evaluation.score_responses import score_item
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.progress import Progress, counted

Asked = Callable[[], Iterable[Presentation]]
"""All presentations of a run, in the order of the data set; can be iterated several times."""


def finish(
    run: RunFolder,
    asked: Asked,
    *,
    judge: Judge | None = None,
    cache: Cache | None = None,
    replay: bool = False,
    progress: Progress,
) -> None:
    """Asks the judge, if there is one, and scores the answers."""
    try:
        if judge is not None:
            lost = judge_unreadable(run.responses, asked(), judge, cache=cache, replay=replay, progress=progress)
            if lost:
                progress.say(f"{counted(lost, 'answer')} without a usable reply of the judge")
    finally:  # scores are written even if the judge fails
        left_out = score_run(run, asked())
        if left_out:
            progress.say(f"{counted(left_out, 'question')} cannot be scored: fields are missing in the data set")


def score_run(run: RunFolder, asked: Iterable[Presentation]) -> int:
    """Writes `scores.jsonl` and `result.json` from `responses.jsonl`; equal answers give equal bytes.

    A presentation without an answer is `missing` and wrong. Returns the number of items that cannot be scored because
    their questions are invalid.
    """
    responses = run.responses.read()
    items, answers, left_out = [], {}, 0
    for presentation in asked:
        answers[presentation.question.id] = presentation.question.answer
        item = score_item(presentation, responses.get(presentation.key))
        if isinstance(item, ScoredItem):
            items.append(item)
        else:
            left_out += 1
    _write_scores(run.path / SCORES, items)
    write_json(run.path / RESULT, plain(result(items, run=run.record, answers=answers)))
    return left_out


def _write_scores(path: Path, items: Iterable[ScoredItem]) -> None:
    with atomic_file(path) as temporary, temporary.open("wb") as lines:
        for item in items:
            record = json.dumps(plain(asdict(item)), ensure_ascii=False, allow_nan=False)
            lines.write(f"{record}\n".encode("utf-8", "replace"))


def write_baselines(out: str | Path, dataset: Dataset, hashes: Mapping[str, str], *, circular: bool) -> None:
    """Writes the missing baselines of OUT; circular ones if a run is circular."""
    for name in RESERVED:
        run = RunFolder(Path(out) / name)
        if not ((run.path / RESULT).is_file() and (run.record["circular"] or not circular)):
            _write_baseline(out, name, dataset, hashes, circular)


def _write_baseline(out: str | Path, name: str, dataset: Dataset, hashes: Mapping[str, str], circular: bool) -> None:
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
