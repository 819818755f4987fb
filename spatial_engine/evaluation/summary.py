"""Prints the result of `evaluate` and `score`: the score of the run, its cost, and its failures with a remedy."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.benchmarks.own_metric import shown_metric
from spatial_engine.evaluation.evaluate import Plan
from spatial_engine.evaluation.responses import ResponseFile
from spatial_engine.evaluation.result import result
from spatial_engine.evaluation.runs import RESULT, FinishedRun, RunFolder, finished_runs
from spatial_engine.options import Prices, Shard
from spatial_engine.progress import counted, printable

_SHOWN = 3  # reasons of failures
_ROWS = 12


def show_plan(plan: Plan, prices: Prices) -> None:
    """Prints the estimated cost."""
    remaining = plan.remaining
    print(f"answered already: {plan.answered}; in the cache: {plan.cached}; to be asked: {remaining.requests}")
    print(f"pictures: {remaining.pictures}")
    print(f"tokens, estimated: {remaining.input_tokens} in, {remaining.output_tokens} out")
    if (amount := prices.amount(remaining.input_tokens, remaining.output_tokens)) is not None:
        print(f"cost, estimated: {amount:.2f}")


def show_run(path: Path) -> bool:
    """Prints score, cost, failures, and all runs of OUT. Returns whether no request failed."""
    run, result = RunFolder(path), read_json(path / RESULT)
    overall, statuses, usage = result["overall"], result["statuses"], result["usage"]
    if overall["score"] is None:
        print(f"{printable(path.name)}: nothing to score")
    else:
        between = f" ({_between(overall['interval'])})" if overall["interval"] else ""
        facts = counted(overall["facts"], "fact")
        print(f"{printable(path.name)}: score {overall['score']:.3f}{between} over {facts} of {overall['clips']} clips")
    print("  " + ", ".join(f"{status.replace('_', ' ')} {count}" for status, count in statuses.items() if count))
    if judged := result["judged"]:
        score = "not scored" if judged["score"] is None else f"{judged['score']:.3f}"
        print(f"  free text, judged apart: {score} ({judged['items']} judged, {judged['unjudged']} without a verdict)")
    if published := result.get("published"):
        print(f"  its own metric: {shown_metric(published)}")
    _show_usage(usage)
    print(f"  written: {printable(str(path))}")
    well = _show_failures(run.responses)
    show_leaderboard(path.parent, path.name)
    return well


def show_share(path: Path, shard: Shard) -> bool:
    """Prints what a shard has answered. Returns whether no request failed."""
    file = RunFolder(path).of_shard(shard)
    answers = file.read()
    print(f"{printable(path.name)}: {counted(len(answers), 'answer')} of shard {shard}")
    print(f"  written: {printable(str(file.path))}")
    well = _show_failures(file)
    print("  scores, after the last shard: spatial-engine merge-runs DATASET OUT... -o OUT")
    return well


def show_leaderboard(out: Path, name: str) -> None:
    """Prints the runs of OUT, best first and baselines last, with a mark at `name`. Of many runs it prints the first
    ones and `name`."""
    found = ranked_runs(out)
    shown = [run for number, run in enumerate(found) if number < _ROWS or run.name == name]
    width = max((len(printable(run.name)) for run in shown), default=0)
    print(f"all runs of {printable(str(out))}, with 95 % intervals:")
    for run in shown:
        mark = ">" if run.name == name else " "
        score = "nothing scored" if run.score is None else f"{run.score:.3f}  {_between(run.interval):14}"
        kind = "  baseline" if run.baseline else ""
        print(f"{mark} {printable(run.name):{width}}  {score}  {counted(run.facts, 'fact')}{kind}")
    if len(shown) < len(found):
        print(f"  and {len(found) - len(shown)} more: spatial-engine report {printable(str(out))}")


def _between(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def _show_usage(usage: dict[str, dict[str, float] | None]) -> None:
    parts = []
    for name, word in (("input_tokens", "tokens in"), ("output_tokens", "tokens out"), ("seconds", "s of replies")):
        if counts := usage.get(name):
            parts.append(f"{counts['sum']:.0f} {word}")
    if cost := usage.get("cost"):
        parts.append(f"cost {cost['amount']:.2f} {cost['currency']}")
    if parts:
        print("  " + ", ".join(parts))


def _show_failures(file: ResponseFile) -> bool:
    failed = Counter(response.error for response in file.read().values() if response.outcome == "failed")
    for reason, count in failed.most_common(_SHOWN):
        print(f"  failed {count}: {printable(reason)}")
    if failed:
        print("  try: the same command again repeats the failed requests; answers are kept")
    return not failed


@dataclass(frozen=True, kw_only=True)
class RankedRun:
    """One line of the leaderboard."""

    name: str
    """Name of its folder."""
    score: float | None
    """Mean over facts; None if nothing was scored."""
    interval: Sequence[float] | None
    """95 % interval; None for a single clip."""
    facts: int
    """Number of facts that it was asked about."""
    baseline: bool


def ranked_runs(out: Path) -> list[RankedRun]:
    """Best first, models before baselines; runs without scores are omitted."""
    found = [ranked for run in finished_runs(out) if (ranked := _ranked(run))]
    return sorted(found, key=lambda run: (run.baseline, -(run.score or 0.0), run.name))


def _ranked(run: FinishedRun) -> RankedRun | None:
    """`result.json` where it is there and new enough; else its numbers from the scores."""
    kept = run.kept_result()
    if kept is None:
        items, _ = run.scores()
        if not items:
            return None
        kept = result(items, run=run.record)
    overall = kept["overall"]
    return RankedRun(
        name=run.name,
        score=overall["score"],
        interval=overall["interval"],
        facts=overall["facts"],
        baseline=run.baseline,
    )
