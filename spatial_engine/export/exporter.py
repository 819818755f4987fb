"""Exporters by name, and what every export has: it appears whole or not at all, and says what it left out."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experts.registry import Registry, UnknownNameError
from spatial_engine.atomic_file import write_json
from spatial_engine.atomic_folder import atomic_folder
from spatial_engine.dataset import Dataset
from spatial_engine.errors import UsageError
from templates.measured import Json

EXPORTERS = Registry(
    "spatial_engine.exporters",
    {"spatialtree": "spatial_engine.export.spatialtree:export_spatialtree"},
)
"""All exporters: `(dataset, folder) -> Exported`. Third parties add theirs as entry points of that group."""

REPORT = "export_report.json"


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What an exporter wrote."""

    rows: int
    left_out: Mapping[str, int]
    """Questions that the form cannot hold, by reason."""
    files: tuple[str, ...]
    """Names of files and folders that it wrote: the next export replaces them."""


Exporter = Callable[[Dataset, Path], Exported]


def export(dataset: Dataset | str | Path, out: str | Path, *, to: str) -> Path:
    """Writes a data set in another form into the folder `out`; replaces an earlier export there.

    Raises `UsageError` for an unknown form, a folder that is no data set, or an `out` that holds something else.
    """
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    try:
        exporter: Exporter = EXPORTERS.load(to)
    except UnknownNameError as error:
        raise UsageError(f"no export to {to!r}", f"there is: {', '.join(EXPORTERS.targets())}") from error
    out = Path(out)
    with atomic_folder(out, _written_before(out), _check) as folder:
        done = exporter(dataset, folder)
        record = {"to": to, "rows": done.rows, "left_out": dict(done.left_out), "files": [*done.files, REPORT]}
        write_json(folder / REPORT, record)
    return out


def write_rows(path: Path, rows: Iterable[Mapping[str, Json]]) -> None:
    """JSON objects, one a line."""
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)


def counted(reasons: Iterable[str]) -> dict[str, int]:
    """Reasons by how often they occur."""
    return dict(sorted(Counter(reasons).items()))


def _written_before(out: Path) -> list[str]:
    file = out / REPORT
    return list(json.loads(file.read_text(encoding="utf-8"))["files"]) if file.is_file() else []


def _check(path: Path) -> None:
    if not (path / REPORT).is_file():
        raise UsageError(f"{path} holds something that is not an export", "name a folder that does not exist yet")
