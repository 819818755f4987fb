"""The last thing that evaluate and score print: how a run did, what it took, and what to do about what failed."""

from collections import Counter
from pathlib import Path

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.cost import Prices
from spatial_engine.evaluation.evaluate import Plan
from spatial_engine.evaluation.responses import ResponseFile
from spatial_engine.evaluation.run_folder import RESULT, RunFolder
from spatial_engine.progress import counted, printable

_SHOWN = 3  # reasons of failures


def show_plan(plan: Plan, prices: Prices | None) -> None:
    """What asking would take."""
    left = plan.left
    print(f"answered already: {plan.answered}; in the cache: {plan.cached}; to be asked: {left.requests}")
    print(f"pictures: {left.pictures}")
    print(f"tokens, estimated: {left.input_tokens} in, {left.output_tokens} out")
    if prices is not None:
        print(f"cost, estimated: {prices.amount(left.input_tokens, left.output_tokens):.2f}")


def show_run(path: Path) -> bool:
    """Score, what it took, and failures. Returns whether every request got its reply or its time-out."""
    run, result = RunFolder(path), read_json(path / RESULT)
    overall, statuses, usage = result["overall"], result["statuses"], result["usage"]
    if overall["score"] is None:
        print(f"{printable(path.name)}: nothing to score")
    else:
        low, high = overall["interval"] or (None, None)
        between = "" if low is None else f" ({low:.3f} to {high:.3f})"
        facts = counted(overall["facts"], "fact")
        print(f"{printable(path.name)}: score {overall['score']:.3f}{between} over {facts} of {overall['clips']} clips")
    print("  " + ", ".join(f"{status.replace('_', ' ')} {count}" for status, count in statuses.items() if count))
    _show_usage(usage)
    print(f"  written: {printable(str(path))}")
    return _show_failures(run.responses)


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
