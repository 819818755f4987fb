"""Parameters of facts as columns; JSON, ids and pixels follow from what a template declares."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.columns import ColumnError, Columns, ColumnType, Json, Texts, column_types

AnyFacts = TypeVar("AnyFacts", bound="Facts")
_IN_ORDER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, kw_only=True)
class Facts(Columns):
    """Parameters of many facts in terms of the media alone: frames, pixels, names; nothing that depends on the choice
    of the world frame. Any scene of the footage can measure them again.

    The names of columns of pixels end in `_px`; pixels are full-size, rounded to 0.1. Those of columns of frames begin
    with `frame`.
    """

    def __post_init__(self) -> None:
        """Raises `ColumnError` also for columns that JSON rows cannot hold."""
        super().__post_init__()
        for name, declared in column_types(type(self)).items():
            if declared.optional or (declared.kind == "bool" and declared.ragged):
                what = "optional" if declared.optional else "flags of unequal number"
                raise ColumnError(
                    f'{type(self).__name__}.{name} is {what}; allowed: columns that every row has, with NaN, -1 or "" '
                    "where a value is unknown or a row ends"
                )

    def to_json(self) -> list[dict[str, Json]]:
        """The parameters of each fact. Where a row of a ragged column ends, its list ends; unknown pixels are null."""
        columns = {name: _to_json(getattr(self, name), declared) for name, declared in column_types(type(self)).items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @classmethod
    def from_json(cls: type[AnyFacts], rows: Sequence[Mapping[str, Json]]) -> AnyFacts:
        """The inverse of `to_json`. Raises `ColumnError` for parameters that are missing, unknown or malformed."""
        declared = column_types(cls)
        for row in rows:
            if odd := sorted(row.keys() ^ declared.keys()):
                raise ColumnError(f"{cls.__name__} has the columns {', '.join(declared)}; missing or unknown: {odd}")
        return cls(
            **{
                name: _from_json(f"{cls.__name__}.{name}", [row[name] for row in rows], kind)
                for name, kind in declared.items()
            }
        )

    @classmethod
    def none(cls: type[AnyFacts]) -> AnyFacts:
        """No facts."""
        return cls.from_json([])

    def ids(self, clip_id: str, template: str) -> list[str]:
        """Stable identity of each fact about that clip: 16 hex digits."""
        texts = (_IN_ORDER.encode([clip_id, template, row]) for row in self.to_json())
        return [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]

    def rounded(self: AnyFacts) -> AnyFacts:
        """The facts with pixels rounded to 0.1, as they are written."""
        return self.with_pixels(lambda xy_px: np.round(xy_px, 1))

    def moved(self: AnyFacts, by_px: np.ndarray) -> AnyFacts:
        """The facts with every pixel moved by x, y."""
        return self.with_pixels(lambda xy_px: xy_px + np.resize(by_px, xy_px.shape[-1]))

    @classmethod
    def has_pixels(cls) -> bool:
        """Whether there are columns of pixels."""
        return any(_is_pixels(name) for name, _ in _leaves(cls))

    def pixels(self) -> np.ndarray:
        """All pixels of each fact: (n, k, 2); NaN where there are fewer."""
        found = [
            column.reshape(len(self), math.prod(column.shape[1:]) // 2, 2)
            for name, column in self.arrays()
            if _is_pixels(name)
        ]
        return np.concatenate([np.empty((len(self), 0, 2)), *found], axis=1)

    def all_frames(self) -> np.ndarray:
        """All frames of each fact: (n, k); -1 where there are fewer."""
        found = [
            column.reshape(len(self), math.prod(column.shape[1:]))
            for name, column in self.arrays()
            if name.startswith("frame") and not _is_pixels(name)
        ]
        return np.concatenate([np.empty((len(self), 0), dtype=np.int64), *found], axis=1)

    def words(self) -> Texts:
        """The words of each fact, those in its tables of objects aside."""
        found = np.full(len(self), "")
        for name in column_types(type(self)):
            column = getattr(self, name)
            if isinstance(column, np.ndarray) and column.dtype.kind == "U" and column.ndim == 1:
                found = np.char.add(np.char.add(found, "\x1f"), column)
        return found

    def distinct(self: AnyFacts) -> AnyFacts:
        """The facts without repetitions, in their order."""
        flat = [column.reshape(len(column), math.prod(column.shape[1:])) for _, column in self.arrays()]
        keys = [np.unique(part, return_inverse=True)[1].reshape(part.shape) for part in flat]
        return self.take(np.sort(np.unique(np.concatenate(keys, axis=1), axis=0, return_index=True)[1]))

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Name and array of each column, those of tables inside it included."""
        for name in column_types(type(self)):
            column = getattr(self, name)
            yield from column.arrays() if isinstance(column, Facts) else [(name, column)]

    def with_pixels(self: AnyFacts, change: Callable[[np.ndarray], np.ndarray]) -> AnyFacts:
        """The facts with `change` applied to every column of pixels: (n, 2), or (n, k, 2) where a fact has several."""
        changed: dict[str, Any] = {}
        for name in column_types(type(self)):
            column = getattr(self, name)
            if isinstance(column, Facts):
                changed[name] = column.with_pixels(change)
            elif _is_pixels(name):
                changed[name] = change(column)
        return replace(self, **changed)


@dataclass(frozen=True, kw_only=True)
class ObjectRefs(Facts):
    """Objects as a photo shows them, so that any scene of the footage can find each again."""

    frame: Int64[np.ndarray, "n"]
    inside_px: Float64[np.ndarray, "n 2"]
    """A pixel of the object."""
    box_px: Float64[np.ndarray, "n 2 2"]
    """Left upper and right lower corner of its box."""
    name: Texts
    """What it is: "chair"."""


def _is_pixels(name: str) -> bool:
    return name.endswith("_px")


def _leaves(table: type[Columns]) -> Iterator[tuple[str, ColumnType]]:
    for name, declared in column_types(table).items():
        yield from _leaves(declared.table) if declared.table else [(name, declared)]


_BLANK: dict[str, Json] = {"int": -1, "float": np.nan, "text": "", "bool": False}
"""What fills a row where it ends, by kind of column; NaN also stands for unknown numbers."""


def _to_json(column: Any, declared: ColumnType) -> list[Json]:
    if isinstance(column, Facts):
        return column.to_json()
    rows: list[Json] = column.tolist()
    if declared.ragged:
        blank = np.isnan(column) if declared.kind == "float" else column == _BLANK[declared.kind]
        ends = (~blank.any(axis=tuple(range(2, column.ndim)))).sum(axis=1).tolist()
        return [row[:end] for row, end in zip(rows, ends, strict=True)]
    if declared.kind != "float":
        return rows
    known = ~np.isnan(column).any(axis=tuple(range(1, column.ndim)))
    return [row if is_known else None for row, is_known in zip(rows, known.tolist(), strict=True)]


def _from_json(where: str, values: list[Json], declared: ColumnType) -> Any:
    if declared.table is not None:
        assert issubclass(declared.table, Facts)
        return declared.table.from_json(values)
    lengths = tuple(int(axis) for axis in declared.axes[1:] if axis.isdigit())
    blank = np.full(lengths, _BLANK[declared.kind])
    shape: tuple[int, ...] = (len(values), *lengths)
    try:
        if declared.ragged:
            longest = max([1, *map(len, values)])
            values = [[*value, *[blank] * (longest - len(value))] for value in values]
            shape = (len(values), longest, *lengths)
        elif declared.kind == "float":
            values = [blank if value is None else value for value in values]
        column = np.array(values) if math.prod(shape) else np.empty(shape, dtype=blank.dtype)
    except (TypeError, ValueError) as error:
        raise ColumnError(
            f"{where} is malformed: {error}; declared: {declared.kind} ({', '.join(declared.axes)})"
        ) from error
    return column
