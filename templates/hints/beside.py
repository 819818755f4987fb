"""Hints beside a question, from the signals of its clip. Questions of L1 get none: they ask for what hints show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from templates.cue import Cue, photos
from templates.generate import licence_of_answers, provenance_of
from templates.hints.depth import depth_hint
from templates.hints.hint import Allowed, Hint, Numbers, Scenes
from templates.hints.matches import matches_hint
from templates.hints.rule import asks_for, states_answer
from templates.hints.sizes import sizes_hint
from templates.perception.geometry import RangeMetres
from templates.perception.object_extent import ObjectSize
from templates.perception.same_point import SamePoint
from templates.question import Question
from templates.template import Template

_MAKERS: Mapping[str, tuple[Callable[[Scenes, Numbers, Allowed, float], Hint], Template]] = {
    "correspondence": (matches_hint, SamePoint()),
    "depth": (depth_hint, RangeMetres()),
    "size": (sizes_hint, ObjectSize()),
}
"""By kind: what makes the hint, and the template whose facts it states."""
_PHOTOS = 4
"""Most photos of one question for which there are hints."""


def hints_beside(question: Question, scenes: Scenes, kinds: Sequence[str], min_confidence: float) -> dict[str, Hint]:
    """What may stand beside a question, by kind; without the kinds that would state the answer and those of which
    nothing is known. Photos that are cropped have no hints, which would show more than the photo."""
    if question.ability.startswith("L1/") or not (numbers := _numbers(question)):
        return {}
    found = {}
    for kind in kinds:
        if asks_for(question, kind):
            continue
        make, template = _MAKERS[kind]
        hint = make(scenes, numbers, partial(_allowed, kind, question), min_confidence)
        if hint.cues or hint.pictures:
            licence = licence_of_answers(scenes[0], provenance_of(template, scenes))
            found[kind] = replace(hint, licence=licence)
    return found


def _allowed(kind: str, question: Question, cue: Cue) -> bool:
    return not states_answer(cue, kind, question)


def _numbers(question: Question) -> dict[int, int]:
    """Numbers of the first photos, by frame."""
    shown = enumerate(photos(question), start=1)
    found = {medium["frames"][0]: number for number, medium in shown if not medium.get("crop_px")}
    return dict(list(found.items())[:_PHOTOS])
