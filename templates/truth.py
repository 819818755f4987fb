"""Compares answers with a reference scene: ground truth, another set of experts, or a later version."""

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

_EIGHT_DIRECTIONS = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]], dtype=float)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result of comparing an answer with the truth."""

    right: bool | None
    """None where the truth does not decide."""
    reason: str = ""
    """Why the truth does not decide."""
    target: Answer | None = None
    """The true answer, where the truth gives one."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Answers to a fact in one format: the recorded measurement, and the written answer."""

    format: FormatName
    fact: Fact
    predictions: tuple[Answer | Denied, ...]
    """The claim is right if all of them are."""

    def right(self, truth: Answer) -> bool | None:
        """Whether the claim is right if `truth` is the true answer; None where σ of the truth leaves it open."""
        return {RIGHT: True, WRONG: False}.get(min(int(part.right(truth)) for part in self.predictions))


def compare_all(
    template: Template, claims: Sequence[Claim], truth: Scene, *, slack_px: float = 0.0
) -> list[Comparison]:
    """Compares claims of one template with `truth`; each distinct fact is measured once.

    With `slack_px` > 0 the fact's pixels are also moved by that distance in eight directions. Where a move changes the
    verdict, the truth does not decide: the pixel lies at an edge, on a thin object, or near a hole in the depth.
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
    target = template.answer(claim.format, claim.fact, measured)
    if isinstance(target, Undecided):
        return Comparison(right=None, reason=f"truth: {target.reason}")
    right = claim.right(target)
    return Comparison(right=right, reason="truth is too close to call" if right is None else "", target=target)


def _nudged(fact: Fact, slack_px: float) -> list[Fact]:
    """Copies of the fact with all pixels moved by one step; empty if the fact has no pixels."""
    if not names_pixels(fact.params) or slack_px <= 0:
        return []
    steps = slack_px * _EIGHT_DIRECTIONS / np.linalg.norm(_EIGHT_DIRECTIONS, axis=1, keepdims=True)
    return [fact.with_pixels(partial(_added, step)) for step in steps]


def _added(step: Float64[np.ndarray, "2"], pixel: list[float]) -> list[float]:
    return (np.array(pixel) + step).tolist()


def verdict(template: Template, format: FormatName, fact: Fact, answer: Answer, truth: Scene) -> bool | None:
    """Whether an answer to a fact is right on `truth`; None where the truth does not decide."""
    (found,) = compare_all(template, [Claim(format=format, fact=fact, predictions=(answer,))], truth)
    return found.right


def judge(question: Question, template: Template, truth: Scene) -> bool | None:
    """`verdict` on a stored question."""
    fact = Fact(template=question.template, params=question.fact)
    return verdict(template, question.format, fact, recorded_answer(question), truth)
