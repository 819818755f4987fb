"""Low-level cues beside a question (SpatialTree's hints), as text: matched points, depths.

A question's own evidence rarely holds any but its answer. So cues come from what other questions about the same clip
have measured, on photos that this one shows too: their templates say it (`templates.template.Template.cue`). A cue that
would state the answer is never given: one of the kind that the question asks for, about a point that it marks or asks
for, or with a number that would count as right.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import hypot

from spatial_engine.errors import UsageError
from templates.columns import Json
from templates.cue import Cue, Pixel, photos
from templates.question import Question
from templates.registry import create_templates
from templates.template import Template

LEAVES = {
    "correspondence": "L1/Relation/Correspondence",
    "depth": "L1/Geometry/Distance",
    "size": "L1/Geometry/Size",
}
"""Kinds of hints, with the leaf whose facts they state. A kind is offered if a template of its leaf gives cues."""
MOST = 8
"""Largest number of cues of one kind."""
NOTHING = "nothing known"
STATES = "would state the answer"
_NEAR = 0.05
"""Points closer than this share of the picture's diagonal are the same."""


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
        allowed = [cue for cue in known if not _states_answer(cue, offered[kind], question)]
        if allowed:
            given[kind] = allowed[:MOST]
        else:
            withheld[kind] = STATES if known or question.ability == offered[kind] else NOTHING
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


def _states_answer(cue: Cue, leaf: str, question: Question) -> bool:
    if question.ability == leaf:
        return True
    if any(_right_number(value, question) for value in cue.values):
        return True
    return any(_near(pixel, medium, question) for medium in photos(question) for pixel in cue.pixels)


def _right_number(value: float, question: Question) -> bool:
    """Whether a value is a right answer, or one of several numbers of it."""
    asked = question.answer if isinstance(question.answer, Mapping) else {"": question.answer}
    allowed = question.tolerance if isinstance(question.tolerance, Mapping) else {"": question.tolerance}
    return any(
        isinstance(answer, int | float) and abs(value - answer) <= (allowed.get(name) or 0)
        for name, answer in asked.items()
    )


def _near(pixel: Pixel, medium: Mapping[str, Json], question: Question) -> bool:
    """Whether a cue's point is marked in a photo, or is the right answer."""
    frame, x, y = pixel
    if frame != medium["frames"][0]:
        return False
    points = [mark["xy_px"] for mark in medium.get("marks") or ()]
    if question.format == "point":
        points.append(question.answer)
    reach = _NEAR * hypot(*medium["frame_size_px"])
    return any(hypot(x - u, y - v) <= reach for u, v in points)


def _numbers(question: Question) -> dict[int, int]:
    """Numbers of the photos, by frame."""
    return {medium["frames"][0]: number for number, medium in enumerate(photos(question), start=1)}
