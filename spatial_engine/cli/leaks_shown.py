"""What the commands print."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spatial_engine.dataset.split import Divided
from spatial_engine.progress import counted, printable
from templates.measured import Json

_SHOWN = 20


def show_leaks(found: Mapping[str, Json], to: Console) -> None:
    """Each guesser over all labels, named leaks, what is repeated or divided."""
    table = Table("guesser", "questions", "right", "chance", "gain", "99 % interval", title="without looking")
    for name, cells in found["baselines"].items():
        if (cell := cells["overall"]) is not None:
            table.add_row(name, *_numbers(cell))
    to.print(table)
    for leak in found["named"][:_SHOWN]:
        _, right, chance, gain, interval = _numbers(leak)
        to.print(
            f"[red]leak[/] {leak['baseline']} at {_safe(leak['place'])}: "
            f"{right} right, chance {chance}, gain {gain} {interval}",
            soft_wrap=True,
        )
    if len(found["named"]) > _SHOWN:
        to.print(f"and {len(found['named']) - _SHOWN} more, in audit.json")
    if not found["named"]:
        to.print(f"no gain is surely above its limit ({100 * found['limits']['gain']:.0f} points over chance)")
    for template, numbers in found["numbers"].items():
        if numbers["concentrated"]:
            to.print(f"[red]leak[/] {_safe(template)}: few numbers are the answer to most questions", soft_wrap=True)
    _show_doubles(found, to)


def show_split(done: Divided, to: Console) -> None:
    """A line per part."""
    for name, count in done.questions.items():
        if name in done.parts:
            to.print(f"written: {_safe(str(done.parts[name].path))}: {counted(count, 'question')}", soft_wrap=True)
        else:
            to.print(f"{name}: nothing; {counted(done.groups, 'group')} of clips in all", soft_wrap=True)
    for reason, count in done.left_out.items():
        to.print(f"left out: {counted(count, 'question')}: {_safe(reason)}", soft_wrap=True)


def _show_doubles(found: Mapping[str, Json], to: Console) -> None:
    if found["repeated"]["pairs"]:
        to.print(f"near-duplicate questions: {counted(found['repeated']['pairs'], 'pair')}")
    for kind in ("scenes", "facts", "photos"):
        if count := found["divided"][kind]["count"]:
            to.print(f"[red]leak[/] {counted(count, kind[:-1])} in more than one split")
    looks = found["look_alikes"]
    if looks is None:
        return
    to.print(
        f"{counted(looks['photos'], 'photo')} compared: {counted(looks['pairs_of_clips'], 'pair')} of clips share some"
    )
    if looks["pairs_of_clips_between_splits"]:
        to.print(
            f"[red]leak[/] near-duplicate photos: {counted(looks['pairs_of_clips_between_splits'], 'pair')} of clips "
            "that stand in two splits"
        )
        to.print("  try: spatial-engine split, which keeps such clips together")


def _numbers(cell: Mapping[str, Any]) -> list[str]:
    low, high = cell["interval"]
    shares = [f"{100 * cell[name]:.1f} %" for name in ("right", "chance")]
    return [str(cell["questions"]), *shares, f"{100 * cell['gain']:+.1f}", f"({100 * low:+.1f} to {100 * high:+.1f})"]


def _safe(text: str) -> str:
    return escape(printable(text))
