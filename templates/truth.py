"""Drafts held against a scene that knows better: ground truth, or another set of experts."""

from collections.abc import Mapping, Sequence

from templates.answer import right
from templates.draft import Draft
from templates.measured import Undecided
from templates.scene import Scene
from templates.template import Template


def judge(drafts: Sequence[Draft], truth: Scene, templates: Mapping[str, Template]) -> list[bool | None]:
    """For each draft whether its answer is right on `truth`; None where the truth does not decide."""
    return [_judge(draft, truth, templates[draft.template]) for draft in drafts]


def _judge(draft: Draft, truth: Scene, template: Template) -> bool | None:
    (measured,) = template.measure([draft.fact], truth)
    if isinstance(measured, Undecided):
        return None
    answer = template.answer(draft.format, draft.fact, measured)
    return None if isinstance(answer, Undecided) else right(draft.answer, answer)
