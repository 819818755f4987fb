"""The last thing that evaluate and score print: how a run did, what it took, and what to do about what failed."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.cost import Prices
from spatial_engine.evaluation.evaluate import Plan
from spatial_engine.evaluation.pairs import places
from spatial_engine.evaluation.responses import ResponseFile
from spatial_engine.evaluation.runs import RESULT, RunFolder
from spatial_engine.progress import counted, printable

_SHOWN = 3  # reasons of failures
_ROWS = 12


def show_plan(plan: Plan, prices: Prices | None) -> None:
    """What asking would take."""
    left = plan.left
    print(f"answered already: {plan.answered}; in the cache: {plan.cached}; to be asked: {left.requests}")
    print(f"pictures: {left.pictures}")
    print(f"tokens, estimated: {left.input_tokens} in, {left.output_tokens} out")
    if prices is not None:
        print(f"cost, estimated: {prices.amount(left.input_tokens, left.output_tokens):.2f}")


def show_run(path: Path) -> bool:
    """Score, what it took, failures, and all runs beside it. Returns whether every request got its reply or its
    time-out."""
    run, result = RunFolder(path), read_json(path / RESULT)
    overall, statuses, usage = result["overall"], result["statuses"], result["usage"]
    if overall["score"] is None:
        print(f"{printable(path.name)}: nothing to score")
    else:
        between = f" ({_between(overall['interval'])})" if overall["interval"] else ""
        facts = counted(overall["facts"], "fact")
        print(f"{printable(path.name)}: score {overall['score']:.3f}{between} over {facts} of {overall['clips']} clips")
    print("  " + ", ".join(f"{status.replace('_', ' ')} {count}" for status, count in statuses.items() if count))
    _show_usage(usage)
    print(f"  written: {printable(str(path))}")
    well = _show_failures(run.responses)
    show_leaderboard(path.parent, path.name)
    return well


def show_leaderboard(out: Path, name: str) -> None:
    """All runs of OUT, best first, baselines last; `name` is pointed at. Of many runs the first and that one."""
    found = places(out)
    shown = [place for number, place in enumerate(found) if number < _ROWS or place.name == name]
    width = max((len(printable(place.name)) for place in shown), default=0)
    print(f"all runs of {printable(str(out))}, with 95 % intervals:")
    for place in shown:
        mark = ">" if place.name == name else " "
        score = "nothing scored" if place.score is None else f"{place.score:.3f}  {_between(place.interval):14}"
        kind = "  baseline" if place.baseline else ""
        print(f"{mark} {printable(place.name):{width}}  {score}  {counted(place.facts, 'fact')}{kind}")
    if len(shown) < len(found):
        print(f"  and {len(found) - len(shown)} more: spatial-engine report {printable(str(out))}")


def _between(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def _show_usage(usage: dict[str, dict[str, float] | None]) -> None:
    parts = []
    for name, word in (("input_tokens", "tokens in"), ("output_tokens", "tokens out"), ("seconds", "s of replies")):
        if spread := usage.get(name):
            parts.append(f"{spread['sum']:.0f} {word}")
    if cost := usage.get("cost"):
        parts.append(f"cost {cost['amount']:.2f} {cost['currency']}")
    if parts:
        print("  " + ", ".join(parts))


def _show_failures(file: ResponseFile) -> bool:
    failed = Counter(response.error for response in file.read().values() if response.outcome == "failed")
    for reason, count in failed.most_common(_SHOWN):
        print(f"  failed {count}: {printable(reason)}")
    if failed:
        print("  try: the same command again asks for the failed ones; what is answered is kept")
    return not failed
