"""Prints the plan and the result of `rephrase`."""

from spatial_engine.dataset.rephrase import UNASKED, Rephrased, RephrasePlan
from spatial_engine.options import Spending
from spatial_engine.progress import counted, printable


def show_rephrase_plan(plan: RephrasePlan, spending: Spending) -> None:
    """Prints what would be asked, and its estimated cost."""
    print(
        f"{counted(plan.questions, 'question')} to reword, {counted(plan.rewordings, 'different rewording')} to ask for"
    )
    if not plan.rewordings:
        print("without --model, prompts take other wordings of their templates; nothing is asked")
        return
    remaining = plan.remaining
    print(f"requests, second readings included: at most {remaining.requests}; the cache has the others")
    print(f"tokens, estimated: {remaining.input_tokens} in, {remaining.output_tokens} out")
    if (amount := spending.amount(remaining.input_tokens, remaining.output_tokens)) is not None:
        print(f"cost, estimated: {amount:.2f}")


def show_rephrased(done: Rephrased) -> bool:
    """Prints shares, reasons and cost. Returns whether every request got a reply."""
    print(f"reworded: {done.kept} of {counted(done.chosen, 'question')}; the others keep their prompt")
    for reason, count in done.unused.items():
        print(f"  {count}  {printable(reason)}")
    if done.requests:
        cost = "" if done.amount is None else f", cost {done.amount:.2f}"
        print(f"{counted(done.requests, 'request')}, tokens {done.input_tokens} in, {done.output_tokens} out{cost}")
    print(f"written: {printable(str(done.dataset.path))}")
    if done.failed:
        print(
            f"{counted(done.failed, 'question')} without a reply: run the same command again, it asks for these alone"
        )
    if done.unused.get(UNASKED):
        print("with a larger --budget the same command goes on where it stopped")
    return not done.failed
