"""The rows of a benchmark's tables: parquet, TSV, CSV, JSON Lines and JSON, one row at a time."""

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spatial_engine.errors import SetupError, UsageError

SUFFIXES = (".parquet", ".tsv", ".csv", ".jsonl", ".json")
_ROWS_AT_ONCE = 32


class BrokenRow(ValueError):  # noqa: N818 - counted, not shown
    """A row that cannot be asked. The message is the reason: short and countable."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a table."""

    values: Mapping[str, Any]
    """By column. Empty for a line that is no row."""
    table: Path
    number: int
    """From 1, within the table."""
    fault: str = ""
    """Why it is no row; "" if it is one."""


def tables(path: Path, patterns: Sequence[str]) -> list[Path]:
    """The file itself; in a folder the files of the first pattern that any matches, sorted. Raises `UsageError`."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder", "name the local copy of the benchmark")
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise UsageError(f"{path} is no table", f"name a folder, or a file that ends in {', '.join(SUFFIXES)}")
        return [path]
    for pattern in patterns:
        if found := sorted(file for file in path.glob(pattern) if file.is_file()):
            return found
    remedy = f"name the table itself: a file that ends in {', '.join(SUFFIXES)}"
    raise UsageError(f"{path} holds none of {', '.join(patterns)}", remedy)


def read_rows(table: Path) -> Iterator[Row]:
    """Every row of a table. Raises `UsageError` for a file that cannot be read, `SetupError` without pyarrow."""
    suffix = table.suffix.lower()
    read = {".parquet": _parquet, ".jsonl": _json_lines, ".json": _json}.get(suffix, _cells)
    try:
        yield from read(table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{table} cannot be read: {error}", "the file may be damaged: copy it again") from error


def _parquet(table: Path) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise SetupError("pyarrow is not installed, and this benchmark is in parquet", "pip install pyarrow") from error
    try:
        number = 0
        for batch in pq.ParquetFile(table).iter_batches(batch_size=_ROWS_AT_ONCE):
            for values in batch.to_pylist():
                number += 1
                yield Row(values=values, table=table, number=number)
    except pa.ArrowException as error:
        raise UsageError(f"{table} is not a readable parquet file", "it may be damaged: copy it again") from error


def _cells(table: Path) -> Iterator[Row]:
    """TSV (VLMEvalKit) and CSV: a line of names, quoted as in CSV, with pictures of any length."""
    separator = "\t" if table.suffix.lower() == ".tsv" else ","
    csv.field_size_limit(sys.maxsize)
    with table.open(newline="", encoding="utf-8-sig") as file:
        for number, values in enumerate(csv.DictReader(file, delimiter=separator), start=1):
            uneven = None in values or None in values.values()
            fault = "a row with more or fewer cells than columns" if uneven else ""
            yield Row(values={} if uneven else values, table=table, number=number, fault=fault)


def _json_lines(table: Path) -> Iterator[Row]:
    with table.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield _row(line, table, number)


def _row(line: bytes, table: Path, number: int) -> Row:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return Row(values={}, table=table, number=number, fault="a line that is not JSON")
    return _checked(values, table, number)


def _json(table: Path) -> Iterator[Row]:
    try:
        found = json.loads(table.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{table} is not JSON: {error}", "the file may be damaged: copy it again") from error
    if not isinstance(found, list):
        raise UsageError(f"{table} is not a list of items", "name another file of the benchmark")
    for number, values in enumerate(found, start=1):
        yield _checked(values, table, number)


def _checked(values: Any, table: Path, number: int) -> Row:
    if not isinstance(values, dict):
        return Row(values={}, table=table, number=number, fault="a row that is no object")
    return Row(values=values, table=table, number=number)
