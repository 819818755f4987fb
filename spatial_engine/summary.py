"""The last thing that a command prints: what came of the clips, and of each leaf of the tree."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset import MOVED, UNREADABLE, Dataset
from spatial_engine.export.exporter import REPORT
from spatial_engine.ledger import Ledger
from spatial_engine.pipeline import CRASHED
from spatial_engine.plan import Step
from spatial_engine.progress import counted, printable
from spatial_engine.store import Store


def console() -> Console:
    """Standard output, without colours of rich's own choice."""
    return Console(highlight=False)


def show_store(store: Store, to: Console) -> bool:
    """Signals over all clips, then what could not be read or failed. Returns whether all went well."""
    clip_ids = set(store.clip_ids())
    entries = [entry for entry in Ledger.open(store).entries() if entry.clip in clip_ids]
    table = Table("signal", "done", "abstained", "failed", "most often because", title=f"clips: {len(clip_ids)}")
    for signal in dict.fromkeys(entry.signal for entry in entries):
        of_signal = [entry for entry in entries if entry.signal == signal]
        states = Counter(entry.state for entry in of_signal)
        counts = [str(states[state] or "") for state in ("done", "abstained", "failed")]
        table.add_row(signal, *counts, _safe(_most_frequent(entry.reason for entry in of_signal if entry.reason)))
    if entries:
        to.print(table)
    trouble = [(f"{record.name}: {record.error}", record.remedy) for record in store.footage() if record.error]
    for clip_id in sorted(clip_ids):
        name, failures = store.record(clip_id).clip["name"], store.present_failures(clip_id)
        trouble += [
            (f"{name}: {failed.expert} failed: {failed.error}", failed.remedy or "--retry-failed")
            for failed in failures
        ]
    for line, remedy in trouble:
        to.print(f"[red]failed[/] {_safe(line)}", soft_wrap=True)
        if remedy:
            to.print(f"  try: {_safe(remedy)}", soft_wrap=True)
    return not trouble


def show_dataset(dataset: Dataset, to: Console) -> bool:
    """Questions per leaf, or the one reason why there are none. Returns whether no clip crashed or was lost."""
    audit = dataset.audit
    refused = {leaf: reasons for leaf, reasons in audit["refused"].items() if leaf}
    table = Table("leaf", "questions", "facts", "why not more", title=f"questions: {audit['questions']}")
    for leaf in [*audit["abilities"], *(leaf for leaf in refused if leaf not in audit["abilities"])]:
        counts = audit["abilities"].get(leaf, {"questions": 0, "facts": 0})
        reason = next(iter(refused.get(leaf, {})), "")
        table.add_row(leaf, str(counts["questions"]), str(counts["facts"]), _safe(reason))
    to.print(table)
    crashed = audit["refused"].get("", {})
    for reason in crashed:
        to.print(f"[red]failed[/] {_safe(reason)}", soft_wrap=True)
    lost = sum(reasons.get(UNREADABLE, 0) for reasons in audit["dropped"].values())
    if lost:
        to.print(f"[red]failed[/] {counted(lost, 'question')}: {UNREADABLE}", soft_wrap=True)
        to.print(f"  try: {MOVED}", soft_wrap=True)
    return not lost and not any(reason.startswith(CRASHED) for reason in crashed)


def show_plan(steps: Sequence[Step], to: Console) -> None:
    """The experts in their order, with licences and expected cost."""
    for number, step in enumerate(steps, start=1):
        expert = step.expert
        kind = "measured on this store" if step.measured else "estimate"
        seconds = "cost unknown" if step.seconds is None else f"{step.seconds:.1f} s a clip ({kind})"
        to.print(f"{number}. {_safe(expert.name)} {_safe(expert.version)}: {seconds}; {_safe(step.licence)}")
        to.print(f"   provides {_safe(', '.join(sorted(expert.provides)))}")
        if expert.needs:
            to.print(f"   needs {_safe(', '.join(sorted(expert.needs)))}")
    known = [step.seconds for step in steps if step.seconds is not None]
    to.print(f"in all: {sum(known):.0f} s a clip on one core")


def _most_frequent(reasons: Iterable[str]) -> str:
    found = Counter(reasons).most_common(1)
    return found[0][0] if found else ""


def _safe(text: str) -> str:
    """User-provided words as plain text: no markup, no control characters."""
    return escape(printable(text))


def show_export(path: Path) -> None:
    """Where an export lies, how much of the data set it holds, and where the reasons for the rest stand."""
    record = read_json(path / REPORT)
    left_out = sum(record["left_out"].values())
    why = f", {left_out} questions left out ({REPORT} there says why)" if left_out else ""
    print(f"written: {printable(str(path))}: {record['rows']} rows{why}")
