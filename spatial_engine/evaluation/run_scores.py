"""Scores the answers of a run into `scores.jsonl` and `result.json`, and writes the baselines beside it."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from spatial_engine.atomic_file import atomic_file, write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import plain
from spatial_engine.evaluation.arranging import arrange
from spatial_engine.evaluation.baselines import baseline
from spatial_engine.evaluation.benchmarks.own_metric import Answered, own_metric
from spatial_engine.evaluation.claims import claims_of, judge_claims
from spatial_engine.evaluation.item import dataset_digest
from spatial_engine.evaluation.judge import Judge, judge_unreadable
from spatial_engine.evaluation.protocol import Presentation, presentations
from spatial_engine.evaluation.responses import Response, ResponseFile
from spatial_engine.evaluation.result import result
from spatial_engine.evaluation.runs import CLAIMS, RESERVED, RESULT, SCORES, RunFolder, open_run
from spatial_engine.evaluation.score_responses import score_item
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.language.chat.asking import Cache
from spatial_engine.progress import Progress, counted
from templates.answers.text import NEEDS_JUDGE
from templates.columns import Json

Asked = Callable[[], Iterable[Presentation]]
"""All presentations of a run, in the order of the dataset; can be iterated several times."""


def finish(
    run: RunFolder,
    asked: Asked,
    *,
    judge: Judge | None = None,
    cache: Cache | None = None,
    replay: bool = False,
    progress: Progress,
) -> None:
    """Asks the judge, if there is one, puts the answers in order, and scores them."""
    try:
        judge_answers(run.responses, asked, judge, cache=cache, replay=replay, progress=progress)
    finally:  # scores are written even if the judge fails
        arrange(run, asked())
        for reason, count in score_run(run, asked()).items():
            progress.say(f"{counted(count, 'question')} not scored: {reason}")


def judge_answers(
    file: ResponseFile,
    asked: Asked,
    judge: Judge | None,
    *,
    cache: Cache | None,
    replay: bool,
    progress: Progress,
) -> None:
    """Asks the judge, if there is one, what rules cannot read in the answers of a file."""
    if judge is None:
        return
    lost = sum(
        step(file, asked(), judge, cache=cache, replay=replay, progress=progress)
        for step in (judge_unreadable, judge_claims)
    )
    if lost:
        progress.say(f"{counted(lost, 'answer')} without a usable reply of the judge")


def score_run(run: RunFolder, asked: Iterable[Presentation]) -> Counter[str]:
    """Writes `scores.jsonl` and `result.json` from `responses.jsonl`; equal answers give equal bytes. What a judge
    scores stands apart, in `claims.jsonl` and under "judged".

    A presentation without an answer is `missing` and wrong. Returns why items are not scored, with counts.
    """
    responses = run.responses.read()
    answers: dict[str, Json] = {}
    items: list[ScoredItem] = []
    judged: list[ScoredItem] = []
    left_out = Counter[str]()
    first: list[Answered] = []
    for presentation in asked:
        answers[presentation.question.id] = presentation.question.answer
        response = responses.get(presentation.key)
        item = score_item(presentation, response)
        if presentation.rotation == 0:
            found = item.extracted if isinstance(item, ScoredItem) else None
            first.append(Answered(question=presentation.question, response=response, extracted=found))
        if isinstance(item, ScoredItem):
            (judged if claims_of(presentation.question) else items).append(item)
        else:
            left_out[item.reason] += 1
    _write_scores(run.path / SCORES, items)
    if judged or left_out[NEEDS_JUDGE]:
        _write_scores(run.path / CLAIMS, judged)
    record = result(
        items, run=run.record, answers=answers, judged=judged, unjudged=left_out[NEEDS_JUDGE],
        published=own_metric(first),
    )  # fmt: skip
    write_json(run.path / RESULT, plain(record))
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
