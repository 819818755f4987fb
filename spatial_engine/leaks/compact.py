"""Compact columns: texts that stand once, and rows of unequal lengths."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int32, Int64

from templates.columns import Json


@dataclass(frozen=True)
class Coded:
    """A column with few distinct texts."""

    texts: tuple[str | None, ...]
    """The distinct ones."""
    index: Int32[np.ndarray, "n"]
    """Of each row's text."""

    @classmethod
    def of(cls, values: Iterable[str | None]) -> "Coded":
        """The column with these texts."""
        places: dict[str | None, int] = {}
        index = [places.setdefault(value, len(places)) for value in values]
        return cls(tuple(places), np.array(index, dtype=np.int32))

    @classmethod
    def joined(cls, parts: Iterable["Coded"]) -> "Coded":
        """The rows of all parts, one after the other."""
        places: dict[str | None, int] = {}
        index = [np.empty(0, dtype=np.int32)]
        for part in parts:
            own = [places.setdefault(text, len(places)) for text in part.texts]
            index.append(np.array(own, dtype=np.int32)[part.index])
        return cls(tuple(places), np.concatenate(index))

    def first(self, rows: Int64[np.ndarray, "k"]) -> str:
        """The text of the first of some rows; "" for none."""
        return self.texts[self.index[rows[0]]] or ""

    @property
    def known_texts(self) -> list[str]:
        """The distinct texts."""
        return [text for text in self.texts if text is not None]

    @property
    def known(self) -> np.ndarray:
        """Where there is a text."""
        return np.array([text is not None for text in self.texts] or [False])[self.index]

    @cached_property
    def ranks(self) -> Int32[np.ndarray, "n"]:
        """The place of each row's text among all in their order; nothing comes first."""
        order = sorted(range(len(self.texts)), key=lambda k: (self.texts[k] is not None, self.texts[k] or ""))
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[order] = np.arange(len(order))
        return ranks[self.index]

    def counts(self, rows: np.ndarray | slice = slice(None)) -> dict[str, int]:
        """Number of rows of each text, among the given ones, in the order of the texts."""
        counted = np.bincount(self.index[rows], minlength=len(self.texts)).tolist()
        named = ((text, count) for text, count in zip(self.texts, counted, strict=True) if text is not None and count)
        return dict(sorted(named))

    def to_record(self) -> list[Json]:
        """As `write_arrays` files it."""
        return [[*self.texts], self.index]

    @classmethod
    def from_record(cls, record: Sequence[Json]) -> "Coded":
        """The inverse of `to_record`."""
        return cls(tuple(record[0]), record[1])


@dataclass(frozen=True)
class Ragged:
    """Any number of values in each row."""

    values: np.ndarray
    """Of all rows."""
    counts: Int32[np.ndarray, "n"]
    """Number of values of each row."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[Json]], dtype: str, shape: tuple[int, ...] = ()) -> "Ragged":
        """The column with these rows."""
        values = np.array([value for row in rows for value in row], dtype=dtype).reshape(-1, *shape)
        return cls(values, np.array([len(row) for row in rows], dtype=np.int32))

    @classmethod
    def joined(cls, parts: Sequence["Ragged"]) -> "Ragged":
        """The rows of all parts, one after the other."""
        return cls(np.concatenate([part.values for part in parts]), np.concatenate([part.counts for part in parts]))

    @cached_property
    def starts(self) -> Int64[np.ndarray, "n"]:
        """Index of the first value of each row."""
        return np.cumsum(self.counts, dtype=np.int64) - self.counts

    @cached_property
    def row(self) -> Int64[np.ndarray, "m"]:
        """Row of each value."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def take(self, rows: np.ndarray) -> "Ragged":
        """The rows at the given indices."""
        counts = self.counts[rows]
        ends = np.cumsum(counts, dtype=np.int64)
        places = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        return Ragged(self.values[places + np.repeat(self.starts[rows], counts)], counts)

    def where(self, kept: np.ndarray) -> "Ragged":
        """The values of some rows; other rows become empty."""
        return Ragged(self.values[kept[self.row]], np.where(kept, self.counts, 0))

    def to_record(self) -> list[Json]:
        """As `write_arrays` files it."""
        return [self.values, self.counts]

    @classmethod
    def from_record(cls, record: Sequence[Json]) -> "Ragged":
        """The inverse of `to_record`."""
        return cls(*record)


def grouped(rows: Int64[np.ndarray, "k"], *columns: np.ndarray) -> list[Int64[np.ndarray, "_"]]:
    """The rows with equal values in all columns, in the order of the values."""
    if not len(rows):
        return []
    own = [column[rows] for column in columns]
    order = np.lexsort(own[::-1])
    differ = np.any([column[order][1:] != column[order][:-1] for column in own], axis=0)
    return np.split(rows[order], np.flatnonzero(differ) + 1)
