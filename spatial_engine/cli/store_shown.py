"""Console output of `store`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from spatial_engine.progress import counted, duration, printable
from spatial_engine.store.damage import Checked, Damage, Repaired
from spatial_engine.store.garbage import Garbage
from spatial_engine.store.statistics import StoreStats

_SHOWN = 20


def show_checked(store: Path, found: Checked, to: Console) -> bool:
    """What is damaged or missing; returns whether nothing is."""
    counts = f"{len(found.damage)} damaged, {len(found.missing)} missing"
    to.print(f"read: {counted(found.files, 'file')}, {decimal(found.bytes)}; {counts}")
    _show_damage("damaged", found.damage, to)
    _show_paths("missing", found.missing, to)
    _show_busy(found.busy, to)
    if found.damage:
        to.print(f"  try: spatial-engine store repair {_safe(store)}", soft_wrap=True)
    if found.missing:
        to.print(f"  try: spatial-engine annotate VIDEOS -o {_safe(store)} makes it", soft_wrap=True)
    return not (found.damage or found.missing)


def show_repaired(store: Path, done: Repaired, to: Console) -> None:
    """What was removed and restored."""
    _show_damage("removed", done.removed, to)
    _show_paths("whole, checksum restored", done.restored, to)
    _show_busy(done.busy, to)
    to.print(
        f"removed: {len(done.removed)}; checksums restored: {len(done.restored)}; added to the ledger: {done.ledger}"
    )
    if done.removed:
        to.print(f"  try: spatial-engine annotate VIDEOS -o {_safe(store)} makes them again", soft_wrap=True)


def show_garbage(found: Garbage, to: Console, *, dry_run: bool) -> None:
    """What was removed, or would be."""
    would = "would remove" if dry_run else "removed"
    to.print(
        f"{would} {decimal(found.bytes)}: {counted(len(found.former), 'signal')} of former settings, "
        f"{counted(len(found.forgotten), 'clip')} without footage, {counted(len(found.leftovers), 'temporary file')}"
    )
    _show_busy(found.busy, to)


def show_stats(stats: StoreStats, to: Console) -> None:
    """Signals and experts, a row each."""
    table = Table("signal", "done", "no_estimate", "failed", "size", title=f"clips: {stats.clips}")
    for name, one in stats.signals.items():
        counts = [str(one.states.get(state, "")) for state in ("done", "no_estimate", "failed")]
        table.add_row(_safe(name), *counts, decimal(one.bytes))
    to.print(table)
    table = Table("expert", "calls", "seconds per call", "in all", title="measured time")
    for expert, (calls, seconds) in stats.calls.items():
        table.add_row(_safe(expert), str(calls), f"{seconds / calls:.2f}", duration(seconds))
    to.print(table)
    to.print(f"footage: {counted(stats.footage, 'piece')}, {stats.unopened} not readable")
    to.print(
        f"disk: {decimal(stats.bytes)}, of it {decimal(stats.former_bytes)} that no clip names: of former settings, "
        "without footage (store gc removes these), or of an annotate that has not ended"
    )


def _show_damage(word: str, damage: Sequence[Damage], to: Console) -> None:
    _show_paths(word, [f"{one.file}: {one.reason}" for one in damage], to)


def _show_paths(word: str, paths: Iterable[str | Path], to: Console) -> None:
    paths = list(paths)
    for path in paths[:_SHOWN]:
        to.print(f"[red]{word}[/] {_safe(path)}", soft_wrap=True)
    if len(paths) > _SHOWN:
        to.print(f"... and {len(paths) - _SHOWN} more")


def _show_busy(busy: Sequence[str], to: Console) -> None:
    if busy:
        to.print(f"left alone: {counted(len(busy), 'clip')} that another process writes")


def _safe(text: str | Path) -> str:
    return escape(printable(str(text)))
