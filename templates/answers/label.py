"""Labels: one of a closed set of words."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from templates.answers.answer import TRUTH_SIGMAS, Answer, Recorded, Rows
from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class Categorical(Answer):
    """Base of answers that are right or wrong as a whole: equal to the true one, or another."""

    refusal: ClassVar[str] = "too close to call"

    margin: Rows
    """Distance of the measurement from the nearest other answer, in its σ."""

    @property
    @abstractmethod
    def compared(self) -> str | np.ndarray:
        """What is equal in equal answers."""

    def p_within(self) -> Rows:
        """One-sided: the nearest other answer lies `margin` σ away."""
        return ndtr(self.margin)

    def decides(self) -> np.ndarray | np.bool_:
        """True from a margin of `TRUTH_SIGMAS` on."""
        return np.asarray(self.margin) >= TRUTH_SIGMAS

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """A different answer has an error of 1, which is too large."""
        return np.full((*np.shape(self.margin), 1), 0.5)

    def error(self, truth: "Categorical") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """0 for an equal answer, 1 for another; σ is infinite for a truth that does not decide."""
        differs = np.asarray(np.asarray(self.compared) != np.asarray(truth.compared), dtype=float)
        return differs[..., None], np.where(truth.decides(), 0.0, np.inf)[..., None]


@dataclass(frozen=True, kw_only=True)
class Label(Categorical):
    """One of a closed set of words. Right: the true label."""

    name: ClassVar[str] = "label"

    text: str | np.ndarray
    """The word; for a stack, an array of words."""

    @property
    def compared(self) -> str | np.ndarray:
        """The word."""
        return self.text

    def to_json(self) -> Recorded:
        """The word."""
        return Recorded(value=self.text, answer=self.text, margin=float(self.margin))

    @classmethod
    def from_json(cls, question: Question) -> "Label":
        """A label without a margin is certain."""
        if not isinstance(question.value, str):
            raise ValueError(f"a label is a word, not {question.value!r}")
        return cls(text=question.value, margin=np.inf if question.margin is None else question.margin)

    def predicted(self, value: Json) -> "Label | None":
        """The label with another word."""
        return replace(self, text=value) if isinstance(value, str) else None
