"""Accuracy over many answers: above chance, of yes and no (F1), and over all rotations of the options (circular)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

UNKNOWN_OPTIONS = 4
"""Number of options that VLMEvalKit assumes if a row states none; EASI's own script drops the row."""


@dataclass(frozen=True, kw_only=True)
class ChanceAdjusted:
    """CAA = (Σ X_i - Σ 1/n_i) / (N - Σ 1/n_i) over N questions with n_i options, as fractions (tables print x 100)."""

    value: float
    """1 at best, 0 for guessing, below 0 for worse; 0 if N or the denominator is 0."""
    accuracy: float
    chance: float
    """Expected accuracy of guessing."""
    count: int


def chance_adjusted(
    hits: Sequence[float], options: Sequence[int | None], *, drop_unknown: bool = False
) -> ChanceAdjusted:
    """Pooled over all questions: `hits[i]` is 1 for a right answer, `options[i]` the number of options of question i.

    Chance-adjusted accuracy of SITE (arXiv 2505.05456) and EASI. None (or less than one option) counts as four
    options, as in VLMEvalKit, or is dropped, as by EASI's script.
    """
    rows = [(hit, n) for hit, given in zip(hits, options, strict=True) if (n := _options(given, drop_unknown))]
    count, right = len(rows), sum(hit for hit, _ in rows)
    guessed = sum(1 / n for _, n in rows)
    above = count - guessed
    return ChanceAdjusted(
        value=(right - guessed) / above if above else 0.0,
        accuracy=right / count if count else 0.0,
        chance=guessed / count if count else 0.0,
        count=count,
    )


def _options(given: int | None, drop_unknown: bool) -> int:
    """0: drop the row."""
    if given is not None and given > 0:
        return given
    return 0 if drop_unknown else UNKNOWN_OPTIONS


@dataclass(frozen=True, kw_only=True)
class F1:
    """Counts, yes being positive, and ratios of them that are 0 where their denominator is."""

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
    targets: Sequence[str], predictions: Sequence[str | None], *, unparsed: Literal["wrong", "dropped"] = "wrong"
) -> F1 | None:
    """F1 of yes/no answers, in any case; None is an answer that could not be read.

    wrong: it is not a yes, so a miss where yes was right. dropped (VLMEvalKit): the row does not count, which raises
    the score of a model whose answers cannot be read; None where no row is left.
    """
    rows = [
        (target.lower(), None if prediction is None else prediction.lower())
        for target, prediction in zip(targets, predictions, strict=True)
        if prediction is not None or unparsed == "wrong"
    ]
    if unparsed == "dropped" and not rows:
        return None
    return F1(
        tp=sum(prediction == "yes" == target for target, prediction in rows),
        fp=sum(prediction == "yes" != target for target, prediction in rows),
        fn=sum(prediction != "yes" == target for target, prediction in rows),
        correct=sum(prediction == target for target, prediction in rows),
        count=len(rows),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, kw_only=True)
class Presented:
    """The answers to the k presentations of one question, as places 0..k-1."""

    options: int
    answer: int
    """Place of the right option before rotation."""
    predictions: tuple[int | None, ...]
    """By rotation; None, or nothing, where no answer was read: wrong."""

    @property
    def hits(self) -> tuple[bool, ...]:
        """By rotation."""
        given = (*self.predictions, *[None] * self.options)[: self.options]
        return tuple(prediction == (self.answer - i) % self.options for i, prediction in enumerate(given))


@dataclass(frozen=True, kw_only=True)
class Circular:
    """All as fractions; 0 of no questions."""

    plain: float
    """Rotation 0 only: the score without circular evaluation."""
    soft: float
    """CoreCognition, EASI: share of presentations answered right, pooled; questions with more options weigh more."""
    soft_by_question: float
    """Mean over questions, each with the same weight."""
    hard: float
    """MMBench: share of questions answered right in all their presentations."""


def circular(questions: Sequence[Presented]) -> Circular:
    """Circular evaluation: a question of k options is asked k times, every option once at every letter.

    VLMEvalKit computes the hard score too; there a language model reads the answers that rules cannot read.
    """
    hits = [question.hits for question in questions if question.options > 0]
    if not hits:
        return Circular(plain=0.0, soft=0.0, soft_by_question=0.0, hard=0.0)
    return Circular(
        plain=sum(each[0] for each in hits) / len(hits),
        soft=sum(map(sum, hits)) / sum(map(len, hits)),
        soft_by_question=sum(sum(each) / len(each) for each in hits) / len(hits),
        hard=sum(map(all, hits)) / len(hits),
    )
