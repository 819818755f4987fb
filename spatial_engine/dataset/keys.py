"""Small keys of the questions of all clips: what the balance needs to know of each, as numbers."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int16, Int32, Int64

from spatial_engine.dataset.clip_keys import ClipKeys, Kind
from templates.chance import Chance
from templates.condition import MEASURES

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Keys:
    """One row per question, sorted by clip, fact and format."""

    clip_ids: Sequence[str]
    kinds: Sequence[Kind]
    prompt_keys: Sequence[str]
    word_texts: Sequence[str]
    """What `words` stand for."""
    clip: Int32[np.ndarray, "n"]
    """Index in `clip_ids`."""
    kind: Int16[np.ndarray, "n"]
    """Index in `kinds`."""
    table: Int32[np.ndarray, "n"]
    """Index of the question's table among those of its clip."""
    row: Int32[np.ndarray, "n"]
    """Its row in that table."""
    template: Int32[np.ndarray, "n"]
    leaf: Int32[np.ndarray, "n"]
    format: Int32[np.ndarray, "n"]
    words: Int32[np.ndarray, "n"]
    """What the right answer says, in the order of the words; 0: nothing that can be compared."""
    situation: Int32[np.ndarray, "n"]
    """Template, offered words and order of time: what a reader learns without a picture."""
    numbers: Float64[np.ndarray, "n 3"]
    """Value, tolerance and period of an answer that is a single number."""
    difficulty: Float32[np.ndarray, "n m"]
    """A column for each of `MEASURES`; NaN where it is not known."""
    fact: Int32[np.ndarray, "n"]
    draw: np.ndarray
    """A random number of each question, which depends on fact, format and seed alone."""
    options: Int32[np.ndarray, "n"]
    """Number of options of a choice, "cannot be determined" aside; 0 for other formats."""
    right: Int16[np.ndarray, "n"]
    """Index of the right option; -1 where there are none."""
    fixed: Bool[np.ndarray, "n"]
    """Whether all choices of its template offer the same words."""
    counts: Bool[np.ndarray, "n"]
    """Whether the answer is a count."""
    yes_no: Bool[np.ndarray, "n"]
    offers: Bool[np.ndarray, "n"]
    """Whether "cannot be determined" is offered."""
    unanswerable: Bool[np.ndarray, "n"]
    """Whether that option is right."""
    repeats: Bool[np.ndarray, "n"]
    """Whether it nearly repeats another question of its clip."""
    prompt_key: Int32[np.ndarray, "n"]
    """Index in `prompt_keys`."""
    prompts: Int16[np.ndarray, "n"]
    """Number of prompts to choose from."""

    @classmethod
    def of(cls, clips: Iterable[ClipKeys], seed: int) -> "Keys":
        """Of clips that are sorted by id. Reads them once, and keeps only numbers."""
        kinds, words, prompt_keys = _Codes[Kind](), _Codes[str]([""]), _Codes[str]()
        clip_ids: list[str] = []
        rows = {name: bytearray() for name in _COLUMNS}  # arrays of each clip would take twice the memory, and more
        for clip in clips:
            own = {
                "clip": np.full(len(clip), len(clip_ids)),
                "kind": kinds.of(clip.kinds)[clip.table],
                "words": words.of_column(clip.words),
                "prompt_key": prompt_keys.of_column(clip.prompt_key),
            }
            for name, dtype in _COLUMNS.items():
                rows[name] += (own[name] if name in own else getattr(clip, name)).astype(dtype).tobytes()
            clip_ids.append(clip.clip_id)
        joined: dict[str, np.ndarray] = {
            name: np.frombuffer(rows.pop(name), dtype).reshape(-1, *_WIDTHS.get(name, ()))
            for name, dtype in _COLUMNS.items()
        }
        kind, fact, situation = joined["kind"], joined.pop("fact"), joined.pop("situation")
        template, leaf, format = (
            _ranks([getattr(each, name) for each in kinds.values])[kind] for name in ("template", "ability", "format")
        )
        options, fixed, counts = (
            np.array([getattr(each, name) for each in kinds.values], dtype=dtype)[kind]
            for name, dtype in (("options", np.int32), ("fixed", np.bool_), ("counts", np.bool_))
        )
        return cls(
            **joined | {"words": _ranks(words.values)[joined["words"]]},
            clip_ids=clip_ids,
            kinds=kinds.values,
            prompt_keys=prompt_keys.values,
            word_texts=sorted(words.values),
            template=template,
            leaf=leaf,
            format=format,
            situation=_ranks(situation),
            fact=_ranks(fact),
            draw=_draw(fact, format, seed),
            options=options,
            fixed=fixed,
            counts=counts,
            yes_no=np.array([each.format == "yes_no" for each in kinds.values], dtype=np.bool_)[kind],
        )

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.table)

    def take(self, rows: np.ndarray) -> "Keys":
        """The rows at the given indices, or where a mask is true."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{n: column[rows] for n, column in columns.items() if isinstance(column, np.ndarray)})

    def in_order_of_dropping(self, rows: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        """The rows, first those whose fact is asked in other formats too, then by chance."""
        return rows[np.lexsort((self.draw[rows], -self._formats[rows]))]

    def first_dropped(self, rows: Int64[np.ndarray, "k"], surplus: int) -> Int64[np.ndarray, "d"]:
        """The first `surplus` rows in that order; none if it is 0 or less."""
        return self.in_order_of_dropping(rows)[:surplus] if surplus > 0 else rows[:0]

    @cached_property
    def _formats(self) -> Int64[np.ndarray, "n"]:
        """In how many formats the fact of each question is asked."""
        return np.bincount(self.fact, minlength=1)[self.fact]


_COLUMNS: dict[str, type] = {
    "clip": np.int32, "kind": np.int16, "table": np.int32, "row": np.int32, "fact": np.uint64, "words": np.int32,
    "situation": np.uint64, "numbers": np.float64, "difficulty": np.float32, "right": np.int16, "offers": np.bool_,
    "unanswerable": np.bool_, "repeats": np.bool_, "prompt_key": np.int32, "prompts": np.int16,
}  # fmt: skip
"""Type of each column that is made clip by clip."""
_WIDTHS = {"numbers": (3,), "difficulty": (len(MEASURES),)}
"""Numbers a row, where there are several."""


class _Codes(Generic[Value]):
    """Numbers for values, in the order in which they come."""

    def __init__(self, first: Iterable[Value] = ()) -> None:
        self._codes = {value: code for code, value in enumerate(first)}

    @property
    def values(self) -> list[Value]:
        """By number."""
        return [*self._codes]

    def of(self, values: Iterable[Value]) -> Int64[np.ndarray, "n"]:
        """The number of each value."""
        return np.array([self._codes.setdefault(value, len(self._codes)) for value in values], dtype=np.int64)

    def of_column(self, column: np.ndarray) -> Int64[np.ndarray, "n"]:
        """The same of an array with few distinct values."""
        values, rows = np.unique(column, return_inverse=True)
        return self.of(values.tolist())[rows]


def _ranks(values: np.ndarray | Sequence[str]) -> Int32[np.ndarray, "n"]:
    """The place of each value among all distinct ones in their order."""
    return np.unique(values, return_inverse=True)[1].astype(np.int32)


def _draw(fact: np.ndarray, format: Int32[np.ndarray, "n"], seed: int) -> Float64[np.ndarray, "n"]:
    drawn = np.empty(len(fact))
    for number in np.unique(format).tolist():
        rows = format == number
        drawn[rows] = Chance(ids=fact[rows], seed=seed).uniform("order of dropping", number + 1)[:, number]
    return drawn


def groups(*columns: np.ndarray) -> list[Int64[np.ndarray, "k"]]:
    """Rows with equal values in all columns, in the order of the values."""
    if not len(columns[0]):
        return []
    order = np.lexsort(columns[::-1])
    differ = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    return np.split(order, np.flatnonzero(differ) + 1)
