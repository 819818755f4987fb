"""Prints the result of `navigate`: the model's row above those of the baselines."""

from pathlib import Path

from rich.table import Table

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.runs import RESULT
from spatial_engine.progress import console, counted, printable


def show_navigation(path: Path) -> bool:
    """Returns whether every task was brought to an end."""
    result = read_json(path / RESULT)
    table = Table("", "tasks", "success", "SPL", "steps", "blocked", "replies", "no plan")
    for name, row in {path.name: result["model"], **result["baselines"]}.items():
        shares = (_share(row[each]) for each in ("success", "spl"))
        means = (_mean(row[each]) for each in ("steps", "blocked", "replies", "unreadable"))
        table.add_row(printable(name), str(row["tasks"]), *shares, *means)
    to = console()
    to.print(table)
    print(f"written: {printable(str(path))}")
    if unfinished := result["unfinished"]:
        print(f"not finished: {counted(unfinished, 'task')}; run the same command again")
    return not unfinished


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
