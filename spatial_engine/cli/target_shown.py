"""Console output of targeted sets: what can be drawn, bin by bin, and what limits it."""

from collections.abc import Mapping
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spatial_engine.progress import counted, printable
from templates.columns import Json

_TITLES = {"answer": "answers", "difficulty": "difficulty", "scene": "scenes (smallest, middle, largest)"}


def show_plan(target: Mapping[str, Json], to: Console) -> None:
    """Every bin, then the sum and its limits."""
    for by, rows in groupby(target["bins"], key=lambda row: row["by"]):
        table, former = Table("", _TITLES[by], "can be asked", "would be drawn"), ""
        for row in rows:
            of, former = row["of"] if row["of"] != former else "", row["of"]
            table.add_row(escape(of), escape(printable(row["bin"])), str(row["could"]), str(row["drawn"]))
        to.print(table)
    if target["count"] is None:
        _show_limits(target, to)
    print(f"would be drawn: {counted(target['drawn'], 'question')}")
    show_target(target, to)


def show_target(target: Mapping[str, Json] | None, to: Console) -> None:
    """Says where a set is smaller than wanted, and why."""
    if target is None or target["count"] is None or target["drawn"] >= target["count"]:
        return
    to.print(f"[yellow]{target['drawn']} of {target['count']} questions can be reached[/]")
    _show_limits(target, to)
    to.print(
        "  try: more footage, a larger --per-clip (clips are then asked for more), or fewer limits", soft_wrap=True
    )


def _show_limits(target: Mapping[str, Json], to: Console) -> None:
    to.print(f"  {target['decided']} are decided, and balanced, by what was asked of each clip")
    for step in target["reach"]:
        to.print(f"  {step['questions']} of them within {escape(step['limit'])}")
