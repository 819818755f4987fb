"""Prints the results of commands: clips and signals, questions by leaf, plans, exports and weights."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from experts.checkpoints.weight_files import Fault, Weights
from experts.expert import needs_weights
from spatial_engine.annotation.overview import Plan
from spatial_engine.annotation.plan import Step
from spatial_engine.annotation.plugin_errors import is_template_error
from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.generate_shard import ShareOfDataset
from spatial_engine.dataset.writing import MOVED, UNREADABLE
from spatial_engine.errors import StoreError
from spatial_engine.export.exporter import REPORT
from spatial_engine.options import Shard
from spatial_engine.progress import counted, duration, printable
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.store import ClipRecord, FootageRecord, Store
from templates.generate import SURPLUS
from templates.unlocked import Unlocked

_WHOLE = Shard()
_TENSORS = (".safetensors", ".pt", ".pth", ".tar")


def show_store(store: Store, to: Console, shard: Shard = _WHOLE) -> bool:
    """Signals over all clips of a shard, then what could not be read or failed. Returns whether all went well. Signals
    of experts, versions and settings of earlier runs do not count."""
    footage = [record for record in store.footage() if shard.holds(record.name)]
    own = {clip for record in footage for clip in record.clips}
    records = {clip: record for clip, record in store.records().items() if clip in own}
    readable = {clip: record for clip, record in records.items() if isinstance(record, ClipRecord)}
    present = {(clip, *item) for clip, record in readable.items() for item in record.signals.items()}
    entries = [entry for entry in Ledger.open(store).entries() if (entry.clip, entry.signal, entry.key) in present]
    title = f"{'clips' if shard.count == 1 else f'clips of shard {shard}'}: {len(records)}"
    table = Table("signal", "done", "no_estimate", "failed", "most often because", title=title)
    for signal in dict.fromkeys(entry.signal for entry in entries):
        of_signal = [entry for entry in entries if entry.signal == signal]
        states = Counter(entry.state for entry in of_signal)
        counts = [str(states[state] or "") for state in ("done", "no_estimate", "failed")]
        table.add_row(signal, *counts, _safe(_most_frequent(entry.reason for entry in of_signal if entry.reason)))
    if entries:
        to.print(table)
    trouble = [(error.cause, error.remedy) for error in records.values() if isinstance(error, StoreError)]
    trouble += _trouble(store, footage, readable)
    for line, remedy in trouble:
        to.print(f"[red]failed[/] {_safe(line)}", soft_wrap=True)
        if remedy:
            to.print(f"  try: {_safe(remedy)}", soft_wrap=True)
    return not trouble


def _trouble(
    store: Store, footage: Iterable[FootageRecord], records: Mapping[str, ClipRecord]
) -> list[tuple[str, str]]:
    """Prints failures with their remedies; what is missing on this machine only once for all clips."""
    trouble = [(f"{record.name}: {record.error}", record.remedy) for record in footage if record.error]
    missing: Counter[tuple[str, str, str]] = Counter()
    for clip_id, of_clip in sorted(records.items()):
        name = of_clip.clip["name"]
        for failed in store.present_failures(clip_id):
            if failed.setup:
                missing[failed.expert, failed.error, failed.remedy] += 1
            else:
                trouble.append((f"{name}: {failed.expert} failed: {failed.error}", failed.remedy or "--retry-failed"))
    for (expert, error, remedy), count in missing.items():
        trouble.append((f"{counted(count, 'clip')}: {expert} cannot run here: {error}", remedy))
    return trouble


def show_dataset(dataset: Dataset, to: Console) -> bool:
    """Prints questions by leaf, with the most frequent reason why there are not more. Returns whether nothing
    failed."""
    audit = dataset.audit
    lost_facts: dict[str, Counter[str]] = defaultdict(Counter)
    for kind in ("refused", "dropped"):
        for leaf, reasons in audit[kind].items():
            if leaf:
                lost_facts[leaf].update(reasons)
    for leaf, count in audit.get("surplus", {}).items():
        lost_facts[leaf][SURPLUS] += count
    table = Table("leaf", "questions", "facts", "why not more", title=f"questions: {audit['questions']}")
    for leaf in [*audit["abilities"], *(leaf for leaf in lost_facts if leaf not in audit["abilities"])]:
        counts = audit["abilities"].get(leaf, {"questions": 0, "facts": 0})
        most = lost_facts[leaf].most_common(2)
        most = most if most and most[0][0] == SURPLUS else most[:1]
        why = "; ".join(f"{reason} ({count})" for reason, count in most)
        table.add_row(leaf, str(counts["questions"]), str(counts["facts"]), _safe(why))
    to.print(table)
    crashed = {
        reason: count
        for leaf, reasons in audit["refused"].items()
        for reason, count in reasons.items()
        if not leaf or is_template_error(reason)
    }
    for reason, count in crashed.items():
        to.print(f"[red]failed[/] {counted(count, 'clip')}: {_safe(reason)}", soft_wrap=True)
    faulty = Counter[str]()
    for reasons in audit["dropped"].values():
        faulty.update({reason: count for reason, count in reasons.items() if is_template_error(reason)})
    for reason, count in faulty.items():
        to.print(f"[red]failed[/] {counted(count, 'question')}: {_safe(reason)}", soft_wrap=True)
    lost = sum(reasons.get(UNREADABLE, 0) for reasons in audit["dropped"].values())
    if lost:
        to.print(f"[red]failed[/] {counted(lost, 'question')}: {UNREADABLE}", soft_wrap=True)
        to.print(f"  try: {MOVED}", soft_wrap=True)
    return not (lost or faulty or crashed)


def show_share(share: ShareOfDataset, to: Console) -> bool:
    """Prints what failed in a shard. Returns whether nothing did."""
    for line in share.failed:
        to.print(f"[red]failed[/] {_safe(line)}", soft_wrap=True)
    return not share.failed


def show_plan(plan: Plan, to: Console) -> None:
    """Footage and its options, the experts in their order with licences and what is missing, then time and disk."""
    unknown = sum(not each.extent.frames for each in plan.footage)
    silent = f", {counted(unknown, 'file')} of unknown length" if unknown else ""
    pieces = counted(len(plan.footage), "piece")
    to.print(
        f"footage: {pieces}, {plan.frames} frames: {counted(plan.clips, 'clip')} or more (a cut begins another){silent}"
    )
    for each in plan.footage:
        own = ", ".join(f"{key} {value}" for key, value in each.own_options.items())
        source = f"; {_safe(own)} ({_safe(str(plan.clip_file))})" if own else ""
        to.print(f"   {_safe(each.name)}: {counted(each.extent.frames, 'frame')}{source}", soft_wrap=True)
    _show_steps(plan.steps, to)
    workers = f" on {counted(plan.workers, 'worker')}" if plan.workers > 1 else ""
    guessed = [step.expert.name for step in plan.steps if step.seconds is None]
    rough = f"; nobody measured {', '.join(guessed)}" if guessed else ""
    to.print(f"in all: about {duration(plan.seconds)}{workers}{_safe(rough)}", soft_wrap=True)
    more = "; experts with models need more" if any(needs_weights(step.expert) for step in plan.steps) else ""
    disk = f"about {_size(plan.bytes)} for the store{more}; {_size(plan.free_bytes)} are free"
    to.print(f"disk: {disk} at {_safe(str(plan.store))}", soft_wrap=True)
    if plan.bytes > plan.free_bytes:
        to.print("[red]the disk is too small[/]\n  try: write elsewhere with -o, or free some", soft_wrap=True)
    _show_unlocked(plan.unlocked, to)
    _show_stopped(plan.steps, to)


def _show_unlocked(known: Unlocked, to: Console) -> None:
    """Leaf by leaf, and what would unlock the rest."""
    to.print("can be asked about, as far as the footage decides it:")
    for leaf, names in known.asked.items():
        to.print(f"   {leaf}: {', '.join(names)}", soft_wrap=True)
    by_signals: dict[tuple[str, ...], list[str]] = {}
    for name, missing in known.lacking.items():
        by_signals.setdefault(missing, []).append(name)
    for missing, lacking in by_signals.items():
        to.print(f"   not {', '.join(lacking)}: nothing here provides {' and '.join(missing)}", soft_wrap=True)
    if by_signals:
        to.print("     try: docs/objects.md says where each signal comes from")


def _show_steps(steps: Sequence[Step], to: Console) -> None:
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


def _show_stopped(steps: Sequence[Step], to: Console) -> None:
    stopped = [step.expert for step in steps if step.obstacles]
    if stopped:
        signals = sorted({signal for expert in stopped for signal in expert.provides})
        to.print(f"cannot run here: {_safe(', '.join(expert.name for expert in stopped))}", soft_wrap=True)
        to.print(f"  so nothing will provide {_safe(', '.join(signals))}", soft_wrap=True)


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6))} MB"


def _cost(step: Step) -> str:
    kind = "measured on this store" if step.measured else "estimate"
    seconds = "time unknown" if step.seconds is None else f"{step.seconds:.1f} s a clip ({kind})"
    memory = "memory unknown" if step.memory_gb is None else f"{step.memory_gb:.1f} GB of memory or more (estimate)"
    return f"{seconds}, {memory}"


def _most_frequent(reasons: Iterable[str]) -> str:
    found = Counter(reasons).most_common(1)
    return found[0][0] if found else ""


def _safe(text: str) -> str:
    """Text of the user without markup and control characters."""
    return escape(printable(text))


def show_export(path: Path) -> None:
    """Prints the folder of an export, its number of questions, and where the reasons for skipped ones are."""
    record = read_json(path / REPORT)
    left_out = sum(record["left_out"].values())
    why = f", {left_out} questions left out ({REPORT} there says why)" if left_out else ""
    splits = ", ".join(f"{count} {split}" for split, count in record.get("splits", {}).items())
    print(f"written: {printable(str(path))}: {record['rows']} rows{f' ({splits})' if splits else ''}{why}")
    if mix := record.get("mix"):
        print(f"  and {mix['rows']} of {mix['wanted']} rows of {printable(mix['file'])}, in train.json")
        for reason, count in mix["broken"].items():
            print(f"  {counted(count, 'row')} not used: {reason}")


def show_weights(checkpoints: Iterable[tuple[Weights, Fault | None]], to: Console) -> None:
    """Prints every checkpoint with its licence, size and state."""
    table = Table(Column("weights", no_wrap=True), "licence", "commercial", Column("size", no_wrap=True), "here")
    for row, fault in checkpoints:
        sizes = [file.bytes for file in row.files if file.name.endswith(_TENSORS)]
        size = f"{sum(filter(None, sizes)) / 1e9:.2f} GB" if all(sizes) else "not known"
        table.add_row(row.name, row.licence, "yes" if row.commercial_ok else "no", size, fault.kind if fault else "yes")
    to.print(table)
