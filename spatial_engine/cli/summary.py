"""The last thing that a command prints: what came of the clips, and of each leaf of the tree."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from experts.checkpoints.weight_files import Fault, Weights
from spatial_engine.annotation.plan import Step
from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.asking import CRASHED
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import MOVED, UNREADABLE
from spatial_engine.export.exporter import REPORT
from spatial_engine.progress import counted, printable
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.store import Store

_TENSORS = (".safetensors", ".pt", ".pth", ".tar")


def show_store(store: Store, to: Console) -> bool:
    """Signals over all clips, then what could not be read or failed. Returns whether all went well."""
    clip_ids = set(store.clip_ids())
    entries = [entry for entry in Ledger.open(store).entries() if entry.clip in clip_ids]
    table = Table("signal", "done", "no_estimate", "failed", "most often because", title=f"clips: {len(clip_ids)}")
    for signal in dict.fromkeys(entry.signal for entry in entries):
        of_signal = [entry for entry in entries if entry.signal == signal]
        states = Counter(entry.state for entry in of_signal)
        counts = [str(states[state] or "") for state in ("done", "no_estimate", "failed")]
        table.add_row(signal, *counts, _safe(_most_frequent(entry.reason for entry in of_signal if entry.reason)))
    if entries:
        to.print(table)
    trouble = _trouble(store, sorted(clip_ids))
    for line, remedy in trouble:
        to.print(f"[red]failed[/] {_safe(line)}", soft_wrap=True)
        if remedy:
            to.print(f"  try: {_safe(remedy)}", soft_wrap=True)
    return not trouble


def _trouble(store: Store, clip_ids: Sequence[str]) -> list[tuple[str, str]]:
    """What could not be read or failed, and what to do about it. What this machine lacks is said once for all clips."""
    trouble = [(f"{record.name}: {record.error}", record.remedy) for record in store.footage() if record.error]
    lacking: Counter[tuple[str, str, str]] = Counter()
    for clip_id in clip_ids:
        name = store.record(clip_id).clip["name"]
        for failed in store.present_failures(clip_id):
            if failed.setup:
                lacking[failed.expert, failed.error, failed.remedy] += 1
            else:
                trouble.append((f"{name}: {failed.expert} failed: {failed.error}", failed.remedy or "--retry-failed"))
    for (expert, error, remedy), count in lacking.items():
        trouble.append((f"{counted(count, 'clip')}: {expert} cannot run here: {error}", remedy))
    return trouble


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
    """The experts in their order, with licences, expected cost and what is missing; in the end, what cannot run."""
    for number, step in enumerate(steps, start=1):
        expert = step.expert
        head = f"{number}. {_safe(expert.name)} {_safe(expert.version)}: {_cost(step)}; {_safe(step.licence)}"
        to.print(head, soft_wrap=True)
        to.print(f"   provides {_safe(', '.join(sorted(expert.provides)))}")
        if expert.needs:
            to.print(f"   needs {_safe(', '.join(sorted(expert.needs)))}")
        for obstacle in step.obstacles:
            to.print(f"   [red]in the way:[/] {_safe(obstacle.cause)}", soft_wrap=True)
            to.print(f"     try: {_safe(obstacle.remedy)}", soft_wrap=True)
    known = [step.seconds for step in steps if step.seconds is not None]
    unknown = f", and {counted(len(steps) - len(known), 'expert')} of unknown cost" if len(known) < len(steps) else ""
    to.print(f"in all: {sum(known):.0f} s a clip on one core{unknown}")
    stopped = [step.expert for step in steps if step.obstacles]
    if stopped:
        signals = sorted({signal for expert in stopped for signal in expert.provides})
        to.print(f"cannot run here: {_safe(', '.join(expert.name for expert in stopped))}", soft_wrap=True)
        to.print(f"  so nothing will provide {_safe(', '.join(signals))}", soft_wrap=True)


def _cost(step: Step) -> str:
    kind = "measured on this store" if step.measured else "estimate"
    seconds = "time unknown" if step.seconds is None else f"{step.seconds:.1f} s a clip ({kind})"
    memory = "memory unknown" if step.memory_gb is None else f"{step.memory_gb:.1f} GB or more (estimate)"
    return f"{seconds}, {memory}"


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


def show_weights(standings: Iterable[tuple[Weights, Fault | None]], to: Console) -> None:
    """Every checkpoint: its licence, its size, and whether it is here."""
    table = Table(Column("weights", no_wrap=True), "licence", "commercial", Column("size", no_wrap=True), "here")
    for row, fault in standings:
        sizes = [file.bytes for file in row.files if file.name.endswith(_TENSORS)]
        size = f"{sum(filter(None, sizes)) / 1e9:.2f} GB" if all(sizes) else "not known"
        table.add_row(row.name, row.licence, "yes" if row.commercial_ok else "no", size, fault.kind if fault else "yes")
    to.print(table)
