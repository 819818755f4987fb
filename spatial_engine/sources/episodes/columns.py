"""Columns of numbers by name, out of CSV and parquet files."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from spatial_engine.errors import SetupError, UsageError


def read_parquet(path: Path) -> dict[str, list[Any]]:
    """The columns of a file. Raises `SetupError` without pyarrow, and `UsageError`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise SetupError(
            "pyarrow is not installed, and this dataset lies in parquet files", "pip install pyarrow"
        ) from error
    try:
        columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
    except (OSError, pa.ArrowException) as error:
        raise UsageError(f"{path} is not a readable parquet file", "the file may be damaged") from error
    return columns


def read_table(path: Path) -> dict[str, list[Any]]:
    """The columns of a CSV or parquet file. Raises as `read_parquet`."""
    if path.suffix == ".parquet":
        return read_parquet(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [*csv.reader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read as CSV", "UTF-8, with a line of names") from error
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise UsageError(f"{path} has rows of unequal length", "a line of names, then a number per name")
    return {name.strip(): [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


def numbers(columns: Mapping[str, Sequence[Any]], names: Sequence[str], source: Path) -> Float64[np.ndarray, "n k"]:
    """The named columns; "state.3" is place 3 of a column of lists. NaN for what is no number. Raises `UsageError`."""
    return np.stack([_column(columns, name, source) for name in names], axis=1)


def _column(columns: Mapping[str, Sequence[Any]], name: str, source: Path) -> Float64[np.ndarray, "n"]:
    of, _, place = name.rpartition(".")
    if name not in columns and not (of in columns and place.isdigit()):
        raise UsageError(f"{source} has no column {name!r}", f"it has: {', '.join(columns)}")
    if name in columns:
        return np.array([_number(value) for value in columns[name]])
    return np.array(
        [_number(row[int(place)] if row is not None and int(place) < len(row) else None) for row in columns[of]]
    )


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
