"""The fields of a row by our names: which column holds which is a table that the user may override."""

import ast
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.benchmarks.rows import BrokenRow, Row

Columns = Mapping[str, Sequence[str]]
"""By field, the columns that may hold it; the first one with a value counts."""
_LONGEST = 1 << 28
"""Longer texts are no lists. Those of pictures in base64 have millions of characters."""


class Fields:
    """One row under our names."""

    def __init__(self, row: Row, columns: Columns) -> None:
        self.row = row
        self._columns = columns

    def get(self, field: str) -> Any:
        """The value of the first column that has one; None without any."""
        for column in self._columns.get(field, ()):
            if not _is_blank(value := self.row.values.get(column)):
                return value
        return None

    def need(self, field: str) -> Any:
        """The value. Raises `BrokenRow` where there is none."""
        value = self.get(field)
        if value is None:
            raise BrokenRow(f"no {field}")
        return value

    def text(self, field: str) -> str:
        """The value as text, without blanks around it. Raises `BrokenRow` where there is none."""
        return str(self.need(field)).strip()

    def column(self, name: str) -> Any:
        """The value of a column by its own name; None where it is blank."""
        value = self.row.values.get(name)
        return None if _is_blank(value) else value


def merged(columns: Columns, overrides: Sequence[str]) -> dict[str, Sequence[str]]:
    """The columns with those that the user names as "field=column". Raises `UsageError` for an unknown field."""
    found = dict(columns)
    for override in overrides:
        field, _, column = override.partition("=")
        if field not in columns or not column:
            known = ", ".join(columns)
            raise UsageError(f"--columns {override}", f"give FIELD=COLUMN with a field of {known}")
        found[field] = (column,)
    return found


def check_columns(row: Row, columns: Columns, needed: Sequence[str]) -> None:
    """Raises `UsageError` where a table lacks every column of a field that its items need."""
    for field in needed:
        if not any(name in row.values for name in columns[field]):
            cause = f"{row.table} has no column for the {field}: none of {', '.join(columns[field])}"
            has = ", ".join(map(str, row.values)) or "none"
            raise UsageError(cause, f"it has {has}; name the right one: --columns {field}=COLUMN")


def listed(value: Any) -> list[Any] | None:
    """A list, or a text that is one in JSON or Python; None for anything else."""
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, str) or not value.lstrip().startswith("[") or len(value) > _LONGEST:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
        return found if isinstance(found, list) else None
    return None


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or value == [] or (isinstance(value, float) and math.isnan(value))
