"""Tables as frozen dataclasses of arrays: one array per column, one row per item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np
from jaxtyping import Shaped

Texts = Shaped[np.ndarray, "n"]
"""A column of texts; "" stands for none."""
Json = Any
"""A JSON value: dict, list, str, float, int, bool or None."""
AnyColumns = TypeVar("AnyColumns", bound="Columns")


class ColumnError(ValueError):
    """A column has the wrong type or shape, or is missing. The message names table and column."""


NOT_A_COLUMN = {"column": False}
"""Metadata of fields that are no columns."""


@dataclass(frozen=True, kw_only=True)
class ColumnType:
    """What a column is declared as."""

    kind: str
    """int, float, bool or text, or table for columns of their own."""
    axes: tuple[str, ...] = ()
    """Names or lengths of the axes; the first one is the row."""
    optional: bool = False
    table: "type[Columns] | None" = None

    @property
    def dtype(self) -> type:
        """Of its arrays."""
        return {"int": np.int64, "float": np.float64, "bool": np.bool_, "text": np.str_}[self.kind]

    @cached_property
    def lengths(self) -> tuple[int | None, ...]:
        """Of the axes after the first one; None for those of any length."""
        return tuple(int(axis) if axis.isdigit() else None for axis in self.axes[1:])

    @property
    def ragged(self) -> bool:
        """Whether rows have unequal lengths: the second axis has a name, and -1 or NaN ends a row."""
        return len(self.axes) > 1 and not self.axes[1].isdigit()


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Base of tables. Every field is an array whose first axis is the row, or a table with the same rows; others have
    the metadata `NOT_A_COLUMN`."""

    def __post_init__(self) -> None:
        """Raises `ColumnError` for columns that are not what the class declares."""
        counts = {}
        for name, declared in column_types(type(self)).items():
            if (column := getattr(self, name)) is None and declared.optional:
                continue
            column = column if declared.table else self._array(name, declared, column)
            object.__setattr__(self, name, column)
            counts[name] = len(column)
        if len(set(counts.values())) > 1:
            raise ColumnError(f"columns of {type(self).__name__} have unequal lengths: {counts}")

    def __len__(self) -> int:
        """Number of rows."""
        return next(len(column) for name in column_types(type(self)) if (column := getattr(self, name)) is not None)

    def take(self: AnyColumns, rows: np.ndarray | slice) -> AnyColumns:
        """The rows at the given indices, or where a mask is true."""
        taken = object.__new__(type(self))  # the table was checked: its rows need not be
        columns, held = column_types(type(self)), vars(self)
        names = self.__dataclass_fields__
        taken.__dict__.update({n: _taken(held[n], rows) if n in columns else held[n] for n in names})
        return taken

    @classmethod
    def concatenated(cls: type[AnyColumns], tables: Sequence[AnyColumns]) -> AnyColumns:
        """The rows of all tables; no rows where there are none. For tables whose columns are all arrays."""
        return cls(
            **{
                name: np.concatenate([_no_rows(declared), *(getattr(table, name) for table in tables)])
                for name, declared in column_types(cls).items()
            }
        )

    @classmethod
    def _array(cls, name: str, declared: ColumnType, column: Any) -> np.ndarray:
        array = np.asarray(column)
        if array.size == 0 and array.ndim <= 1:
            array = _no_rows(declared)
        elif array.dtype.kind not in _KINDS[declared.kind]:
            raise ColumnError(f"{cls.__name__}.{name} holds {array.dtype}; declared: {declared.kind}")
        lengths = zip(declared.lengths, array.shape[1:], strict=False)
        if array.ndim != len(declared.axes) or any(known not in (None, length) for known, length in lengths):
            declared_axes = ", ".join(declared.axes)
            raise ColumnError(f"{cls.__name__}.{name} has shape {array.shape}; declared: ({declared_axes})")
        return array.astype(declared.dtype)


_KINDS = {"int": "iu", "float": "fiu", "bool": "b", "text": "U"}
"""Kinds of arrays that a column may be given as."""


def _taken(column: Any, rows: np.ndarray | slice) -> Any:
    if column is None:
        return None
    return column.take(rows) if isinstance(column, Columns) else column[rows]


def _no_rows(declared: ColumnType) -> np.ndarray:
    return np.empty((0, *(1 if length is None else length for length in declared.lengths)), dtype=declared.dtype)


def column_types(table: type[Columns]) -> Mapping[str, ColumnType]:
    """What the annotations of a table declare, by column. Raises `ColumnError` for other annotations."""
    return _column_types(table)  # type: ignore[arg-type]  # mypy: dataclasses with eq have no hash, their classes have


@cache
def _column_types(table: type[Columns]) -> Mapping[str, ColumnType]:
    hints = get_type_hints(table)
    return {
        field.name: _column_type(table, field.name, hints[field.name])
        for field in fields(table)
        if field.metadata != NOT_A_COLUMN
    }


def _column_type(table: type, name: str, hint: Any) -> ColumnType:
    parts = [part for part in get_args(hint) if part is not type(None)] if isinstance(hint, UnionType) else [hint]
    optional, hint = len(parts) != 1 or parts[0] is not hint, parts[0]
    if isinstance(hint, type) and issubclass(hint, Columns):
        return ColumnType(kind="table", table=hint, optional=optional)
    axes = tuple(getattr(hint, "dim_str", "").split())
    dtypes = getattr(hint, "dtypes", ())
    known = {"int64": "int", "float64": "float", "bool": "bool"}
    kind = "text" if hint is Texts else next((known[d] for d in dtypes if d in known), None)
    if kind is None or not axes:
        raise ColumnError(
            f"{table.__name__}.{name} is declared as {hint}; allowed: Int64, Float64 or Bool of np.ndarray with its "
            "axes, Texts, or a table"
        )
    return ColumnType(kind=kind, axes=axes, optional=optional)
