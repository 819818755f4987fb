"""Compares answers with a reference scene: ground truth, another set of experts, or a later version."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from templates.answers import RIGHT, UNDECIDED, WRONG, Answer
from templates.answers.answer import TRUTH_SIGMAS
from templates.answers.answers import Answers
from templates.answers.format import Denied
from templates.answers.registry import recorded_answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.generate import answers_to, measured_by
from templates.question import FormatName, Question
from templates.scene.scene import Scene
from templates.template import Template

LACKS = "truth: "
"""Begins the reasons of what the truth does not give."""
_MAX_OPEN = 2
"""So many of the eight places around a pixel may leave the verdict open: three lie beyond a straight edge nearby."""
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
    fact: dict[str, Json]
    """Parameters of the template."""
    predictions: tuple[Answer | Denied, ...]
    """The claim is right if all of them are."""
    others: Sequence[Answer] = ()
    """The other options of a choice."""

    def right(self, truth: Answer) -> bool | None:
        """Whether the claim is right if `truth` is the true answer; None where σ of the truth leaves it open.

        Where it leaves open whether a point lies within its tolerance, it still decides which of the points that are
        offered is the nearest."""
        verdict = min(int(part.right(truth)) for part in self.predictions)
        return {RIGHT: True, WRONG: False}.get(verdict or self._nearest(truth))

    def _nearest(self, truth: Answer) -> int:
        """RIGHT if the truth is clearly nearer to the answers than to every other option, WRONG if it is clearly nearer
        to one of these."""
        answers = [part for part in self.predictions if isinstance(part, Answer)]
        leads = np.array([answer.lead(other, truth) for answer in answers for other in self.others])
        if (leads <= -TRUTH_SIGMAS).any():
            return WRONG
        return RIGHT if len(leads) and (leads >= TRUTH_SIGMAS).all() else UNDECIDED


def compare_all(
    template: Template, claims: Sequence[Claim], truth: Scene, *, slack_px: float = 0.0
) -> list[Comparison]:
    """Compares claims of one template with `truth`.

    With `slack_px` > 0 the fact's pixels are also moved by that distance in eight directions. Where a move turns the
    verdict round, or more than two leave it open, the truth does not decide: the pixel lies at an edge, on a thin
    object, or near a hole in the depth. Raises `ColumnError` for facts that are not of the template.
    """
    if not claims:
        return []
    facts = template.facts.from_json([claim.fact for claim in claims])
    found = _compared(template, claims, facts, truth)
    if slack_px <= 0 or not template.facts.has_pixels():
        return found
    decided = np.array([k for k, comparison in enumerate(found) if comparison.right is not None], dtype=np.int64)
    left_open = np.zeros(len(found), dtype=np.int64)
    for step in slack_px * _EIGHT_DIRECTIONS / np.linalg.norm(_EIGHT_DIRECTIONS, axis=1, keepdims=True):
        near = _compared(template, [claims[k] for k in decided], facts.take(decided).moved(step), truth)
        for k, other in zip(decided, near, strict=True):
            left_open[k] += other.right is None
            turned = other.right is not None and found[k].right is not None and other.right != found[k].right
            if turned or left_open[k] > _MAX_OPEN:
                found[k] = replace(found[k], right=None, reason="truth differs within a few pixels")
    return found


def _compared(template: Template, claims: Sequence[Claim], facts: Facts, truth: Scene) -> list[Comparison]:
    """One comparison per claim; all facts are measured at once."""
    if not claims:
        return []
    measured = measured_by(template, facts, truth)
    measured = replace(measured, why=_unknown(template, measured.why))
    targets = {}
    for format in {claim.format for claim in claims}:
        answers = answers_to(template, format, facts, measured)
        targets[format] = replace(answers, why=_unknown(template, answers.why))
    return [_comparison(claim, targets[claim.format], k) for k, claim in enumerate(claims)]


def _unknown(template: Template, why: Texts) -> Texts:
    """The reasons for which the truth is not known, without those for which a fact is only not worth asking."""
    return np.where(np.isin(why, [*template.not_worth_asking]), "", why)


def _comparison(claim: Claim, targets: Answers, row: int) -> Comparison:
    if targets.why[row] != "":
        return Comparison(right=None, reason=f"{LACKS}{targets.why[row]}")
    target = targets.row(row)
    right = claim.right(target)
    return Comparison(right=right, reason="truth is too close to call" if right is None else "", target=target)


def verdict(template: Template, format: FormatName, fact: dict[str, Json], answer: Answer, truth: Scene) -> bool | None:
    """Whether an answer to a fact is right on `truth`; None where the truth does not decide."""
    (found,) = compare_all(template, [Claim(format=format, fact=fact, predictions=(answer,))], truth)
    return found.right


def judge(question: Question, template: Template, truth: Scene) -> bool | None:
    """`verdict` on a stored question."""
    return verdict(template, question.format, dict(question.fact), recorded_answer(question), truth)
