"""The status page: all runs that keep their state in one folder, with their progress and failures."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from spatial_engine.atomic_file import atomic_file, read_json
from spatial_engine.monitoring.tally import Stage
from spatial_engine.progress import duration

_REFRESH_S = 5


def write_status_page(folder: Path) -> None:
    """Writes `index.html` about the runs whose state files are in the folder. It loads itself again while one runs."""
    runs = list(_runs(folder))
    page = _template().render(
        runs=runs,
        stages=_together([stage for run in runs for stage in run["stages"]]),
        failures=[(run, name, reason) for run in runs for name, reason in run["failures"]],
        refresh_s=_REFRESH_S if any(run["state"] == "running" for run in runs) else None,
    )
    with atomic_file(folder / "index.html") as temporary:
        temporary.write_bytes(page.encode("utf-8", "replace"))


def _runs(folder: Path) -> Sequence[dict[str, Any]]:
    """The states of all runs, by command and shard. A file that cannot be read is left out."""
    found = []
    for path in sorted(folder.glob("[!.]*.json")):
        with suppress(OSError, ValueError):
            found.append(read_json(path))
    return found


def _together(stages: Sequence[Mapping[str, Any]]) -> list[Stage]:
    """Stages of the same name as one; its seconds are those of all runs."""
    sums: dict[str, Stage] = {}
    for stage in stages:
        one = sums.setdefault(stage["name"], Stage(name=stage["name"], total=0, began_s=0.0))
        one.total += stage["total"]
        one.done += stage["done"]
        one.failed += stage["failed"]
        one.seconds += stage["seconds"]
        for part, seconds in stage["parts"].items():
            one.parts[part] += seconds
    return [stage for stage in sums.values() if stage.total]


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("spatial_engine.monitoring", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["duration"] = duration
    return environment.get_template("status.html")
