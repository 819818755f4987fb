"""Low-level cues beside a question (SpatialTree's hints), as text: matched points, depths, sizes.

A question's own evidence rarely holds any but its answer. So cues come from what other questions about the same clip
have measured, on photos that this one shows too: their templates say it (`templates.template.Template.cue`). A cue that
would state the answer is never given (`templates.hints.rule`).
"""

from collections.abc import Iterator, Sequence
from functools import cache

from spatial_engine.errors import UsageError
from templates.cue import Cue, photos
from templates.hints.rule import LEAVES, asks_for, states_answer
from templates.question import Question
from templates.registry import create_templates
from templates.template import Template

MOST = 8
"""Largest number of cues of one kind."""
NOTHING = "nothing known"
STATES = "would state the answer"


def kinds() -> dict[str, str]:
    """The kinds on offer, with their leaves."""
    known = {template.ability for template in _templates().values() if template.cue_formats}
    return {kind: leaf for kind, leaf in LEAVES.items() if leaf in known}


@cache
def _templates() -> dict[str, Template]:
    return create_templates()


def cues(
    question: Question, wanted: Sequence[str], others: Sequence[Question] = ()
) -> tuple[dict[str, list[Cue]], dict[str, str]]:
    """The cues by kind, and the reasons of kinds without cues.

    Raises `UsageError` for an unknown kind.
    """
    if not wanted:
        return {}, {}
    offered = kinds()
    if unknown := [kind for kind in wanted if kind not in offered]:
        raise UsageError(f"no hints of the kind {', '.join(unknown)}", f"there is: {', '.join(offered)}")
    given: dict[str, list[Cue]] = {}
    withheld: dict[str, str] = {}
    for kind in dict.fromkeys(wanted):
        known = list(_from_others(question, offered[kind], others))
        allowed = [cue for cue in known if not states_answer(cue, kind, question)]
        if allowed:
            given[kind] = allowed[:MOST]
        else:
            withheld[kind] = STATES if known or asks_for(question, kind) else NOTHING
    return given, withheld


def _from_others(question: Question, leaf: str, others: Sequence[Question]) -> Iterator[Cue]:
    """In the order of facts, which is independent of the order of the data set."""
    numbers = _numbers(question)
    for other in sorted(others, key=lambda other: (other.fact_id, other.format)):
        template = _templates().get(other.template)
        if template is None or template.ability != leaf or other.format not in template.cue_formats:
            continue
        if other.clip != question.clip or other.fact_id == question.fact_id:
            continue
        if _numbers(other).keys() <= numbers.keys() and (cue := template.cue(other, numbers)) is not None:
            yield cue


def _numbers(question: Question) -> dict[int, int]:
    """Numbers of the photos, by frame."""
    return {medium["frames"][0]: number for number, medium in enumerate(photos(question), start=1)}
