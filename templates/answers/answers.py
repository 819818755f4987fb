"""The answers to many facts in one format: stacks of one type or of several, and why other facts have none."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers.answer import Answer
from templates.answers.label import Label
from templates.columns import Texts

NOT_CONFIRMED = "not confirmed by an independent measurement"


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Typed answers to n facts. A row belongs to at most one stack."""

    why: Texts
    """Why a fact has no answer in this format; "" where it has one."""
    stacks: tuple[tuple[Int64[np.ndarray, "_"], Answer], ...]
    """Rows and their answers."""

    def __post_init__(self) -> None:
        """Raises `ValueError` for stacks with more or fewer answers than rows."""
        for rows, answer in self.stacks:
            if odd := answer.lengths() - {len(rows)}:
                raise ValueError(f"{type(answer).__name__} has columns of {sorted(odd)} rows for {len(rows)} facts")

    @classmethod
    def of(cls, answer: Answer, why: Texts) -> "Answers":
        """One stack that covers all rows; those with a reason have no answer."""
        return cls(why=why, stacks=((np.arange(len(why)), answer),))

    @classmethod
    def either(cls, which: Bool[np.ndarray, "n"], one: Answer, other: Answer, why: Texts) -> "Answers":
        """`one` where `which` is true, else `other`; both cover all rows."""
        rows = [np.flatnonzero(which), np.flatnonzero(~which)]
        return cls(why=why, stacks=tuple((r, s.take(r)) for r, s in zip(rows, (one, other), strict=True) if len(r)))

    def __len__(self) -> int:
        """Number of rows, refused ones included."""
        return len(self.why)

    @cached_property
    def p_right(self) -> Float64[np.ndarray, "n"]:
        """Probability that each answer is right; 0 where there is none."""
        p = np.zeros(len(self))
        for rows, answer in self.stacks:
            known = np.flatnonzero(self.why[rows] == "")  # the numbers of other rows may be anything
            if len(known):
                p[rows[known]] = answer.take(known).p_right()
        return p

    def gated(self, min_confidence: float) -> "Answers":
        """The answers; those with a smaller P(right) have a reason instead."""
        why = self.why.astype(object)
        for rows, answer in self.stacks:
            outlier = np.broadcast_to(1 - np.asarray(answer.outlier_probability) < min_confidence, len(rows))
            why[rows] = np.where(self.why[rows] == "", np.where(outlier, NOT_CONFIRMED, answer.refusal), self.why[rows])
        passed = (self.why == "") & (self.p_right >= min_confidence)
        return Answers(why=np.where(passed, "", why).astype(np.str_), stacks=self.stacks)

    def refused(self, why: Texts) -> "Answers":
        """The answers; rows without a reason take that of `why`."""
        return Answers(why=np.where(self.why == "", why, self.why), stacks=self.stacks)

    def take(self, rows: Int64[np.ndarray, "k"]) -> "Answers":
        """The rows at the given indices."""
        stacks = []
        for own, answer in self.stacks:
            at = np.full(len(self), -1)
            at[own] = np.arange(len(own))
            chosen = at[rows]
            if (chosen >= 0).any():
                stacks.append((np.flatnonzero(chosen >= 0), answer.take(chosen[chosen >= 0])))
        return Answers(why=self.why[rows], stacks=tuple(stacks))

    def row(self, k: int) -> Answer:
        """One answer."""
        if k not in self._places:
            raise IndexError(f"row {k} has no answer: {self.why[k]}")
        stack, row = self._places[k]
        return self.stacks[stack][1].row(row)

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        """The stack of each row that has an answer, and its row there."""
        stacks = enumerate(rows.tolist() for rows, _ in self.stacks)
        return {k: (stack, row) for stack, rows in stacks for row, k in enumerate(rows)}

    def column(self, kind: type[Answer], name: str, others: np.ndarray) -> np.ndarray:
        """A field of the answers of one type, by row; for other rows that of `others`."""
        found = others.astype(object) if others.dtype.kind == "U" else others.copy()
        for rows, answer in self.stacks:
            if isinstance(answer, kind):
                found[rows] = getattr(answer, name)
        return found.astype(others.dtype.type)

    def labels(self) -> Texts:
        """The word of each answer that is a label; "" for others."""
        return self.column(Label, "text", np.full(len(self), ""))

    def among(self, words: Sequence[str]) -> Int64[np.ndarray, "n"]:
        """Index of each answer's label in the words; 0 for others."""
        return (self.labels()[:, None] == np.array(words)).argmax(axis=1)
