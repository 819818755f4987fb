"""What questions offer beside their prompt, as columns: it is decided with the answers, before anything is worded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64, Shaped

from templates.columns import Json, Texts

_KINDS = {"U": "text", "Uif": "text or numbers", "iu": "int", "b": "bool"}
_ALLOWED = {"why": "U", "options": "Uif", "right": "iu", "undetermined": "b", "mistakes": "U"}
"""Kinds of each column."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Options of n questions."""

    why: Texts
    """Why no question can be made ("no room for distinct wrong points"); "" where one can."""
    options: np.ndarray | None = None
    """Values of the options: words (n, o), pixels (n, o, 2) or paths (n, o, k, 2). None: the format has none."""
    right: Int64[np.ndarray, "n"] | None = None
    """Index of the right option. Of a single drawing that yes or no is asked about: 0 if it is right, else 1."""
    undetermined: Bool[np.ndarray, "n"] | None = None
    """Whether the last option is "cannot be determined", which is not among `options`. None: it never is."""
    mistakes: Shaped[np.ndarray, "n o"] | None = None
    """The typical mistake that leads to each option ("mirrored", "nearer in the picture"); "" for none."""

    def __post_init__(self) -> None:
        """Raises `TypeError` for columns of another kind, and `ValueError` where a question lacks options or has no
        right one. Rows with a reason mean nothing."""
        for name, kinds in _ALLOWED.items():
            column = getattr(self, name)
            if column is not None and getattr(column, "dtype", np.dtype("O")).kind not in kinds:
                held = getattr(column, "dtype", type(column).__name__)
                raise TypeError(f"Offer.{name} is {held}; allowed: an array of {_KINDS[kinds]}")
        if self.options is None:
            return
        if self.options.ndim not in (2, 3, 4):
            raise ValueError(f"Offer.options has shape {self.options.shape}; allowed: (n, o), (n, o, 2), (n, o, k, 2)")
        rows = {len(part) for part in (self.options, self.right, self.undetermined) if part is not None}
        if self.right is None or rows != {len(self.why)}:
            raise ValueError(f"Offer has columns of {rows} rows; allowed: options and right of {len(self.why)} rows")
        if self.mistakes is not None and self.mistakes.shape != self.options.shape[:2]:
            raise ValueError(f"Offer.mistakes has shape {self.mistakes.shape}; allowed: {self.options.shape[:2]}")
        most = np.maximum(self.options.shape[1] - 1 + (0 if self.undetermined is None else self.undetermined), 1)
        odd = (self.why == "") & ((self.right < 0) | (self.right > most))
        if odd.any():
            row = int(odd.argmax())
            allowed = np.broadcast_to(most, len(odd))[row]
            raise ValueError(f"Offer.right is {self.right[row]} in row {row}; allowed: 0 to {allowed}")

    @classmethod
    def first_right(
        cls,
        options: np.ndarray,
        why: Texts | None = None,
        mistakes: Shaped[np.ndarray, "n o"] | Sequence[str] | None = None,
    ) -> "Offer":
        """Options of which the first one of each question is right. `mistakes`: of each question, or of all."""
        count = len(options)
        why = np.full(count, "") if why is None else why
        if mistakes is not None:
            mistakes = np.broadcast_to(np.array(mistakes), options.shape[:2])
        return cls(why=why, options=options, right=np.zeros(count, dtype=np.int64), mistakes=mistakes)

    def take(self, rows: Int64[np.ndarray, "k"]) -> "Offer":
        """The rows at the given indices."""
        options, right, undetermined, mistakes = (
            None if part is None else part[rows]
            for part in (self.options, self.right, self.undetermined, self.mistakes)
        )
        return Offer(why=self.why[rows], options=options, right=right, undetermined=undetermined, mistakes=mistakes)

    def one(self, k: int) -> "Offer":
        """That of one question, which was checked with the others."""
        offer, at = object.__new__(Offer), slice(k, k + 1)
        offer.__dict__.update({name: None if part is None else part[at] for name, part in vars(self).items()})
        return offer

    def values(self, k: int) -> list[Json]:
        """The values of the options of one question."""
        found: list[Json] = [] if self.options is None else self.options[k].tolist()
        return found


def fixed_options(words: Sequence[str], answers: Texts) -> Offer:
    """The same words for every question. A question whose answer is none of them is refused."""
    options = np.broadcast_to(np.array(words), (len(answers), len(words)))
    right = options == answers[:, None]
    why = np.where(right.any(axis=1), "", "the answer is none of the options")
    return Offer(why=why, options=options, right=right.argmax(axis=1))
