"""Small keys of the questions of all clips: what the balance needs to know of each, as integers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.asked import Asked
from templates.chance import Chance


@dataclass(frozen=True, kw_only=True)
class Keys:
    """One row per question, sorted by clip, fact and format."""

    asked: Sequence[Asked]
    part: Int64[np.ndarray, "n"]
    """Index of the question's table in `asked`."""
    row: Int64[np.ndarray, "n"]
    """Its row in that table."""
    template: Int64[np.ndarray, "n"]
    leaf: Int64[np.ndarray, "n"]
    format: Int64[np.ndarray, "n"]
    words: Int64[np.ndarray, "n"]
    """What the right answer says, in the order of the words; 0: nothing that can be compared."""
    situation: Int64[np.ndarray, "n"]
    """Template, offered words and order of time: what a reader learns without a picture (`Asked.situations`)."""
    numbers: Float64[np.ndarray, "n 3"]
    """Value, tolerance and period of an answer that is a single number (`Asked.numbers`)."""
    fact: Int64[np.ndarray, "n"]
    draw: np.ndarray
    """A random number of each question, which depends on fact, format and seed alone."""
    options: Int64[np.ndarray, "n"]
    """Number of options of a choice, "cannot be determined" aside; 0 for other formats."""
    counts: Bool[np.ndarray, "n"]
    """Whether the answer is a count."""
    yes_no: Bool[np.ndarray, "n"]
    offers: Bool[np.ndarray, "n"]
    """Whether "cannot be determined" is offered."""
    unanswerable: Bool[np.ndarray, "n"]
    """Whether that option is right."""

    @classmethod
    def of(cls, asked: Sequence[Asked], seed: int) -> "Keys":
        """Of questions in any order."""
        counts = [len(part) for part in asked]
        part = np.repeat(np.arange(len(asked)), counts)
        row = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(count) for count in counts)])
        fact_ids = np.concatenate([np.empty(0, dtype="<U16"), *(one.fact_ids for one in asked)])
        fact = np.unique(fact_ids, return_inverse=True)[1]
        words = np.concatenate([np.array([""]), *(one.right_words() for one in asked)])
        situations = np.concatenate([np.array([""]), *(one.situations() for one in asked)])[1:]
        names = [(one.clip_id, one.template.name, one.template.ability, one.format) for one in asked]
        clip, template, leaf, format = (
            np.unique(column, return_inverse=True)[1][part]
            for column in np.array(names, dtype=np.str_).reshape(-1, 4).T
        )
        chance = Chance.of(fact_ids.tolist(), seed)
        draw = np.take_along_axis(
            chance.uniform("order of dropping", int(format.max(initial=0)) + 1), format[:, None], 1
        )
        keys = cls(
            asked=asked,
            part=part,
            row=row,
            template=template,
            leaf=leaf,
            format=format,
            words=np.unique(words, return_inverse=True)[1][1:],
            situation=np.unique(
                np.array([template, np.unique(situations, return_inverse=True)[1]]).T, axis=0, return_inverse=True
            )[1].ravel(),
            numbers=np.concatenate([np.empty((0, 3)), *(one.numbers() for one in asked)]),
            fact=fact,
            draw=draw[:, 0],
            options=np.array([one.count_options() if one.format == "choice" else 0 for one in asked], dtype=np.int64)[
                part
            ],
            counts=np.array([one.counts() for one in asked], dtype=bool)[part],
            yes_no=np.array([one.format == "yes_no" for one in asked], dtype=bool)[part],
            offers=_flags([one.offers_undetermined() for one in asked]),
            unanswerable=_flags([one.offers_undetermined() & one.unanswerable() for one in asked]),
        )
        return keys.take(np.lexsort((format, fact, clip)))

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.part)

    def take(self, rows: np.ndarray) -> "Keys":
        """The rows at the given indices, or where a mask is true."""
        columns = {name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **columns)

    def in_order_of_dropping(self, rows: Int64[np.ndarray, "k"]) -> Int64[np.ndarray, "k"]:
        """The rows, first those whose fact is asked in other formats too, then by chance."""
        formats = np.bincount(self.fact, minlength=1)[self.fact]
        return rows[np.lexsort((self.draw[rows], -formats[rows]))]

    def first_dropped(self, rows: Int64[np.ndarray, "k"], surplus: int) -> Int64[np.ndarray, "d"]:
        """The first `surplus` rows in that order; none if it is 0 or less."""
        return self.in_order_of_dropping(rows)[: max(surplus, 0)]


def groups(*columns: np.ndarray) -> list[Int64[np.ndarray, "k"]]:
    """Rows with equal values in all columns, in the order of the values."""
    if not len(columns[0]):
        return []
    codes = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _flags(parts: list[np.ndarray]) -> Bool[np.ndarray, "n"]:
    return np.concatenate([np.empty(0, dtype=bool), *parts])
