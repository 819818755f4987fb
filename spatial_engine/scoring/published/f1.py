"""F1 of yes / no answers (STARE, arXiv 2506.04633), yes being positive; and STARE's macro score."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_INVISIBLE = re.compile("[\u200b\u200c\u200d\ufeff]")
_LETTER_WORD = re.compile(r"([A-F])\s*+[.:：)）]?+\s*+(yes|no)", re.IGNORECASE)
_TERMS = (
    ("2d_trans", "2d_trans_vsim"),
    ("3d_trans", "3d_trans_vsim"),
    ("folding_nets", "folding_nets_vsim"),
    ("tangram_puzzle", "tangram_puzzle_vsim"),
    ("temporal",),
    ("perspective",),
)


@dataclass(frozen=True, kw_only=True)
class F1:
    """Counts, and ratios of them that are 0 where their denominator is."""

    tp: int
    fp: int
    fn: int
    correct: int
    count: int

    @property
    def precision(self) -> float:
        """TP / (TP + FP)."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """TP / (TP + FN)."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def value(self) -> float:
        """2 P R / (P + R)."""
        return _ratio(2 * self.precision * self.recall, self.precision + self.recall)

    @property
    def accuracy(self) -> float:
        """Share of equal words."""
        return _ratio(self.correct, self.count)


def f1(
    truths: Sequence[str], predictions: Sequence[str | None], *, unparsed: Literal["wrong", "dropped"] = "wrong"
) -> F1 | None:
    """Words in any case; None is an answer that could not be read.

    wrong: it is not a yes, so a miss where yes was right. dropped (VLMEvalKit): the row does not count, which raises
    the score of a model that mumbles; None where no row is left.
    """
    rows = [
        (truth.lower(), None if said is None else said.lower())
        for truth, said in zip(truths, predictions, strict=True)
        if said is not None or unparsed == "wrong"
    ]
    if unparsed == "dropped" and not rows:
        return None
    return F1(
        tp=sum(said == "yes" == truth for truth, said in rows),
        fp=sum(said == "yes" != truth for truth, said in rows),
        fn=sum(said != "yes" == truth for truth, said in rows),
        correct=sum(said == truth for truth, said in rows),
        count=len(rows),
    )


def option_words(question: str) -> dict[str, str]:
    """{"a": "yes", "b": "no"} of a question that says "A. yes B. no", as VLMEvalKit finds them: later ones win."""
    return {letter.lower(): word.lower() for letter, word in _LETTER_WORD.findall(_INVISIBLE.sub("", question))}


def stare_macro(scores: Mapping[str, float | None]) -> float | None:
    """Mean of six terms, each the mean of a category and its `_vsim` twin; terms without any score are left out.

    `scores`: F1 of folding_nets and tangram_puzzle, accuracy of 2d_trans, 3d_trans, temporal and perspective.
    """
    terms = [_mean([scores.get(category) for category in term]) for term in _TERMS]
    return _mean(terms)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
