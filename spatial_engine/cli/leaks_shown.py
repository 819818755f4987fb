"""Console output of `leaks` and `split`."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spatial_engine.dataset.split import Divided
from spatial_engine.progress import counted, printable
from templates.columns import Json

_SHOWN = 20


def show_leaks(found: Mapping[str, Json], to: Console) -> None:
    """Each baseline over all questions, the leaks found, near-duplicates, and what several splits share."""
    table = Table("baseline", "questions", "accuracy", "chance", "gain", "99 % interval", title="without the pictures")
    for name, cells in found["baselines"].items():
        if (cell := cells["overall"]) is not None:
            table.add_row(name, *_numbers(cell))
    to.print(table)
    for leak in found["found"][:_SHOWN]:
        _, accuracy, chance, gain, interval = _numbers(leak)
        to.print(
            f"[red]leak[/] {leak['baseline']} at {_safe(leak['group'])}: "
            f"{accuracy} right, chance {chance}, gain {gain} {interval}",
            soft_wrap=True,
        )
    if len(found["found"]) > _SHOWN:
        to.print(f"and {len(found['found']) - _SHOWN} more, in audit.json")
    if not found["found"]:
        to.print(f"no gain is significantly above its limit ({100 * found['limits']['gain']:.0f} points over chance)")
    for template, numbers in found["frequent_numbers"].items():
        if numbers["leak"]:
            to.print(f"[red]leak[/] {_safe(template)}: few numbers are the answer to most questions", soft_wrap=True)
    _show_duplicates(found, to)


def show_split(done: Divided, to: Console) -> None:
    """A line per part."""
    for name, count in done.questions.items():
        if name in done.parts:
            to.print(f"written: {_safe(str(done.parts[name].path))}: {counted(count, 'question')}", soft_wrap=True)
        else:
            to.print(f"{name}: nothing; {counted(done.groups, 'group')} of clips in all", soft_wrap=True)
    for reason, count in done.left_out.items():
        to.print(f"left out: {counted(count, 'question')}: {_safe(reason)}", soft_wrap=True)


def _show_duplicates(found: Mapping[str, Json], to: Console) -> None:
    if found["near_duplicates"]["pairs"]:
        to.print(f"near-duplicate questions: {counted(found['near_duplicates']['pairs'], 'pair')}")
    for kind in ("scenes", "facts", "photos"):
        if count := found["across_splits"][kind]["count"]:
            to.print(f"[red]leak[/] {counted(count, kind[:-1])} in more than one split")
    photos = found["similar_photos"]
    if photos is None:
        return
    to.print(
        f"{counted(photos['photos'], 'photo')} compared: {counted(photos['clip_pairs'], 'pair')} of clips share some"
    )
    if photos["clip_pairs_across_splits"]:
        to.print(
            f"[red]leak[/] near-duplicate photos: {counted(photos['clip_pairs_across_splits'], 'pair')} of clips "
            "across splits"
        )
        to.print("  try: spatial-engine split, which keeps such clips together")


def _numbers(cell: Mapping[str, Any]) -> list[str]:
    low, high = cell["interval"]
    shares = [f"{100 * cell[name]:.1f} %" for name in ("accuracy", "chance")]
    return [str(cell["questions"]), *shares, f"{100 * cell['gain']:+.1f}", f"({100 * low:+.1f} to {100 * high:+.1f})"]


def _safe(text: str) -> str:
    return escape(printable(text))
