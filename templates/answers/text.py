"""Answers in free words, and the format that asks for them. A judge model checks their claims one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from templates.answers.answer import Answer, Recorded
from templates.answers.format import Format, OfficialMetric
from templates.answers.label import Categorical
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question

NEEDS_JUDGE = "free text is scored by a judge model"


@dataclass(frozen=True, kw_only=True)
class Text(Categorical):
    """A description. Right: it makes all claims of the true one."""

    name: ClassVar[str] = "text"

    text: str | np.ndarray
    """A right answer."""
    claims: str | np.ndarray
    """What every right answer says: one short sentence a line, each of which a judge can check alone."""

    @property
    def compared(self) -> str | np.ndarray:
        """The claims."""
        return self.claims

    def to_json(self) -> Recorded:
        """The text; the claims are parameters of the score."""
        params = {"claims": str(self.claims).splitlines()}
        return Recorded(value=self.text, answer=self.text, margin=float(self.margin), scorer_params=params)

    @classmethod
    def from_json(cls, question: Question) -> "Text":
        """Raises `UnscorableError` where text or claims are missing."""
        if not isinstance(question.value, str):
            raise UnscorableError("no text as the right answer")
        margin = np.inf if question.margin is None else question.margin
        return cls(text=question.value, claims="\n".join(_claims(question)), margin=margin)

    def predicted(self, value: Json) -> "Text | None":
        """Other words with the same claims: rules do not compare words."""
        return replace(self, text=value) if isinstance(value, str) else None


class FreeText(Format):
    """An answer in free words. The score is the share of the claims that a judge model finds in it."""

    name: ClassVar[str] = "text"
    reader: ClassVar[str] = "text"
    takes: ClassVar[tuple[str, ...]] = ("text",)

    def form(self, question: Question) -> str:
        """Words."""
        return "the answer in one to three plain sentences"

    def claims(self, question: Question) -> Sequence[str]:
        """Those of the right answer."""
        return _claims(question)

    def score(self, question: Question, value: Json) -> Score:
        """The share of claims that the judge found: `value` is {"text": ..., "claims": [true, false, ...]}, or None for
        an empty reply. Raises `UnscorableError` for a text that no judge has seen."""
        claims = _claims(question)
        found = [False] * len(claims) if value is None else value.get("claims") if isinstance(value, Mapping) else None
        if not isinstance(found, list) or len(found) != len(claims):
            raise UnscorableError(NEEDS_JUDGE)
        text = None if value is None else value.get("text")
        share = sum(verdict is True for verdict in found) / len(claims)
        return Score(value=share, detail={"value": text, "claims": dict(zip(claims, found, strict=True))})

    def stated(self, question: Question, recorded: Answer) -> Answer:
        """The recorded text. Raises `UnscorableError` for other words: what they claim is not known."""
        if question.answer != question.value:
            raise UnscorableError("the written text is not the measured one")
        return recorded

    def possible(self, question: Question) -> Sequence[str]:
        """The right text: there are too many to list."""
        return (str(question.answer),)

    def official(self, question: Question) -> OfficialMetric:
        """By a judge of the whole text."""
        return OfficialMetric("gpteval", str(question.answer))


def _claims(question: Question) -> list[str]:
    claims = question.scorer_params.get("claims")
    if not isinstance(claims, list) or not claims or not all(isinstance(claim, str) and claim for claim in claims):
        raise UnscorableError("no claims for a judge to check")
    return claims
