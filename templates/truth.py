"""Answers held against a scene that knows better: ground truth, another set of experts, a later version."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float64

from templates.answers import RIGHT, WRONG, Answer
from templates.answers.format import Denied
from templates.answers.registry import recorded_answer
from templates.fact import Fact, names_pixels
from templates.measured import Measured, Undecided
from templates.question import FormatName, Question
from templates.scene.scene import Scene
from templates.template import Template

_ROUND = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]], dtype=float)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """An answer beside the truth."""

    right: bool | None
    """None where the truth does not decide."""
    reason: str = ""
    """Why it does not."""
    true: Answer | None = None
    """The true answer, where there is one."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What is said about a fact."""

    format: FormatName
    fact: Fact
    said: tuple[Answer | Denied, ...]
    """All of it must be right."""

    def right(self, truth: Answer) -> bool | None:
        """Whether it is right if this is the true answer; None where that does not decide."""
        return {RIGHT: True, WRONG: False}.get(min(int(part.right(truth)) for part in self.said))


def compare(
    template: Template, format: FormatName, fact: Fact, answer: Answer, truth: Scene, *, slack_px: float = 0.0
) -> Comparison:
    """Holds an answer about a fact against `truth`, as `compare_all` does."""
    claim = Claim(format=format, fact=fact, said=(answer,))
    (found,) = compare_all(template, [claim], truth, slack_px=slack_px)
    return found


def compare_all(
    template: Template, claims: Sequence[Claim], truth: Scene, *, slack_px: float = 0.0
) -> list[Comparison]:
    """Holds claims of one template against `truth`; each fact is measured once, whatever is said of it.

    With `slack_px` a fact's pixels are moved by so much in eight directions: where that changes the verdict, or
    leaves the truth undecided, truth at that place is no evidence (a border, a thin thing, a depth hole).
    """
    measured = _measured(template, [claim.fact for claim in claims], truth)
    found = [_compared(template, claim, measured[_key(claim.fact)]) for claim in claims]
    decided = [k for k, comparison in enumerate(found) if comparison.right is not None]
    moved = {k: _nudged(claims[k].fact, slack_px) for k in decided}
    around = _measured(template, [fact for facts in moved.values() for fact in facts], truth)
    for k, facts in moved.items():
        near = (_compared(template, replace(claims[k], fact=fact), around[_key(fact)]) for fact in facts)
        if any(other.right != found[k].right for other in near):
            found[k] = replace(found[k], right=None, reason="truth differs within a few pixels")
    return found


def _measured(template: Template, facts: Sequence[Fact], truth: Scene) -> dict[str, Measured | Undecided]:
    distinct = {_key(fact): fact for fact in facts}
    return dict(zip(distinct, template.measure(list(distinct.values()), truth), strict=True)) if distinct else {}


def _key(fact: Fact) -> str:
    return fact.id("")


def _compared(template: Template, claim: Claim, measured: Measured | Undecided) -> Comparison:
    if isinstance(measured, Undecided):
        return Comparison(right=None, reason=f"truth: {measured.reason}")
    true_answer = template.answer(claim.format, claim.fact, measured)
    if isinstance(true_answer, Undecided):
        return Comparison(right=None, reason=f"truth: {true_answer.reason}")
    decided = claim.right(true_answer)
    return Comparison(
        right=decided, reason="" if decided is not None else "truth is too close to call", true=true_answer
    )


def _nudged(fact: Fact, slack_px: float) -> list[Fact]:
    """The fact with its pixels moved, all by the same step; none if it names no pixel."""
    if not names_pixels(fact.params) or slack_px <= 0:
        return []
    steps = slack_px * _ROUND / np.linalg.norm(_ROUND, axis=1, keepdims=True)
    return [fact.with_pixels(partial(_added, step)) for step in steps]


def _added(step: Float64[np.ndarray, "2"], pixel: list[float]) -> list[float]:
    return (np.array(pixel) + step).tolist()


def verdict(template: Template, format: FormatName, fact: Fact, answer: Answer, truth: Scene) -> bool | None:
    """Whether an answer about a fact is right on `truth`; None where the truth does not decide."""
    return compare(template, format, fact, answer, truth).right


def judge(question: Question, template: Template, truth: Scene) -> bool | None:
    """`verdict` on a question as it was written."""
    fact = Fact(template=question.template, params=question.fact)
    return verdict(template, question.format, fact, recorded_answer(question), truth)
