"""Writes the pages of an evaluation: the overview, and one page of answers per run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation import scored as graded
from spatial_engine.evaluation.comparison import RunComparison, compare_runs, comparison_json
from spatial_engine.evaluation.item import dataset_digest, item_hashes
from spatial_engine.evaluation.result import CAPABILITIES
from spatial_engine.evaluation.runs import FinishedRun, finished_runs
from spatial_engine.output_folder import atomic_folder, check_free, place_file
from spatial_engine.report.cards import answer_card, filters, with_hints_of
from spatial_engine.report.evaluation import charts, tables
from spatial_engine.report.evaluation.run_summary import RunSummary, ranked, run_summary
from spatial_engine.report.page import write_page
from templates.ability import LEAVES, LEVELS
from templates.question import Question

_OURS = ("index.html", "answers", "media")


def is_evaluation(path: Path) -> bool:
    """Whether a folder holds runs."""
    return bool(finished_runs(path))


def report_evaluation(path: Path, out: Path | None = None) -> Path:
    """Writes the report of an evaluation folder and returns its first page; `out` is `report/` in it if not given.

    Writes `comparison.json` into the evaluation folder, too. Runs without scores are named, damaged lines counted.
    Raises `UsageError` if `out` holds something else.
    """
    out = path / "report" if out is None else out
    check_free(out, _check)
    runs = finished_runs(path)
    dataset = _dataset(runs)
    questions = {question.id: question for question in dataset.questions} if dataset is not None else {}
    found = [(run, run_summary(run, {id: question.answer for id, question in questions.items()})) for run in runs]
    scored = ranked([run for _, run in found if run is not None])
    compared = compare_runs(
        {run.name: run.facts for run in scored}, baselines={run.name for run in scored if run.baseline}
    )
    write_json(path / "comparison.json", comparison_json(compared))
    with atomic_folder(out, _OURS, _check) as folder:
        (folder / "answers").mkdir()
        (folder / "media").mkdir()
        missing = _place_media(folder, dataset, scored, questions)
        for run in scored:
            page = folder / "answers" / f"{run.slug}.html"
            write_page(page, "evaluation/answers.html", **_answers(path, run, scored, questions, missing))
        unscored = [run for run, done in found if done is None]
        content = _overview(path, scored, compared, unscored, questions, _changed(dataset, runs))
        write_page(folder / "index.html", "evaluation/index.html", **content)
    return out / "index.html"


def _least_p(models: Sequence[RunSummary], compared: Sequence[RunComparison]) -> float:
    """The smallest p that any pair of models can reach: that of the sign-flip test, corrected for their number."""
    names = {run.name for run in models}
    of_models = [pair for pair in compared if pair.clips and {pair.a, pair.b} <= names]
    return min(1.0, max((0.5 ** (pair.clips - 1) for pair in of_models), default=0.0) * len(of_models))


def _overview(
    path: Path, runs: Sequence[RunSummary], compared: Sequence[RunComparison], unscored: Sequence[FinishedRun],
    questions: Mapping[str, Question], changed: bool,
) -> dict[str, Any]:  # fmt: skip
    models = [run for run in runs if not run.baseline]
    both_ways = {(pair.a, pair.b): pair for one in compared for pair in (one, one.swapped())}
    asked = [leaf for leaf in LEAVES if any(run.leaf(leaf) for run in runs)]
    chance = _chance(runs)
    return {
        "root": "",
        "page": "overview",
        "name": path.resolve().name,
        "runs": runs,
        "models": models,
        "rows": tables.leaderboard(runs, both_ways),
        "pairs": both_ways,
        "significant": tables.SIGNIFICANT,
        "least_p": _least_p(models, compared),
        "unscored": [run.name for run in unscored],
        "asked": asked,
        "not_asked": [leaf for leaf in LEAVES if leaf not in asked],
        "levels": LEVELS,
        "levels_asked": {leaf.split("/")[0] for leaf in asked},
        "capability_names": CAPABILITIES,
        "changed": changed,
        "chance": chance,
        "facts_of": {leaf: max(found["facts"] for run in runs if (found := run.leaf(leaf))) for leaf in asked},
        "graded_keys": {
            key: words
            for key, words in {**graded.MEANS, **graded.MEDIANS}.items()
            if any(key in run.result["graded"] for run in runs)
        },
        "graded_medians": graded.MEDIANS,
        "mistakes": _mistakes(runs),
        "trees": [(run, tables.tree(run.result)) for run in runs],
        "profiles": charts.profiles(models or runs, chance),
        "shown": charts.SHOWN,
        "correlations": tables.correlations(models),
        "fewest_facts": tables.FEWEST_FACTS,
        "windows": charts.window_scores(runs),
        "questions": len({id for run in runs for id in run.questions}),
        "facts": len({(fact.clip, fact.fact_id) for run in runs for fact in run.facts}),
        "clips": len({fact.clip for run in runs for fact in run.facts}),
        "in_dataset": len(questions),
    }


def _mistakes(runs: Sequence[RunSummary]) -> dict[str, Any]:
    """The counts of each mistake in the run that was asked most about it."""
    found: dict[str, Any] = {}
    for run in runs:
        for mistake, counts in run.result["mistakes"].items():
            found[mistake] = max(found.get(mistake, counts), counts, key=lambda each: float(each["questions"]))
    return dict(sorted(found.items(), key=lambda each: -each[1]["questions"]))


def _answers(
    path: Path, run: RunSummary, runs: Sequence[RunSummary], questions: Mapping[str, Question], missing: set[str]
) -> dict[str, Any]:
    others = [other for other in runs if other is not run]
    entries = [
        answer_card(
            item,
            with_hints_of(questions.get(item.id), run.hints, run.hint_pictures),
            {other.name: other.questions[item.id] for other in others if item.id in other.questions},
        )
        for item in run.shown
    ]
    return {
        "root": "../",
        "page": "answers",
        "name": path.resolve().name,
        "run": run,
        "runs": runs,
        "models": [other for other in runs if not other.baseline],
        "data": {
            "cards": entries,
            "filters": filters("outcome", "ability", "format", "status"),
            "missing": sorted(missing),
            "root": "../",
        },
        "no_questions": not questions,
    }


def _chance(runs: Sequence[RunSummary]) -> dict[str, float]:
    """Expected score of guessing, by leaf."""
    found: dict[str, dict[str, float]] = {}
    for run in runs:
        for item in run.items:
            found.setdefault(item.ability, {})[item.id] = item.chance
    return {leaf: fmean(by_question.values()) for leaf, by_question in found.items()}


def _dataset(runs: Sequence[FinishedRun]) -> Dataset | None:
    """The dataset of the runs, if it still exists at its path."""
    for place in dict.fromkeys(run.dataset for run in runs if run.dataset is not None):
        try:
            return Dataset.open(place)
        except UsageError:
            continue
    return None


def _changed(dataset: Dataset | None, runs: Sequence[FinishedRun]) -> bool:
    """Whether the dataset has changed since it was asked."""
    asked = {run.record["dataset_digest"] for run in runs if run.record.get("dataset_digest")}
    if dataset is None or not asked:
        return False
    try:
        return asked != {dataset_digest(item_hashes(dataset))}
    except UsageError:  # pictures are missing
        return True


def _place_media(
    folder: Path, dataset: Dataset | None, scored: Sequence[RunSummary], questions: Mapping[str, Question]
) -> set[str]:
    """Puts the pictures of the pages into `media/`; returns the missing ones."""
    shown = {item.id for run in scored for item in run.shown}
    missing = set()
    for path in sorted({path for id in shown if id in questions for path in questions[id].files}):
        try:
            place_file(dataset.path / path if dataset else Path(), folder / path)
        except OSError:
            missing.add(path)
    return missing


def _check(path: Path) -> None:
    if not ((path / "index.html").is_file() and (path / "answers").is_dir()):
        raise UsageError(f"{path} holds something that is not a report", "name a folder that does not exist yet")
