"""Low-level cues beside a question (SpatialTree's hints): matched points, depths, sizes.

If `generate` was asked for them, they stand in the dataset (`Question.hints`), with pictures. Else cues come from what
other questions about the same clip have measured, on photos that this one shows too, as a question's own evidence
rarely holds any but its answer: their templates say it (`templates.template.Template.cue`). A cue that would state the
answer is never given (`templates.hints.rule`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from spatial_engine.evaluation.named_media import HINT, named_media
from spatial_engine.options.hints import check_kinds
from templates.cue import Cue, photos
from templates.hints.hint import MOST
from templates.hints.kinds import LEAVES
from templates.hints.rule import asks_for, states_answer
from templates.question import Question
from templates.registry import create_templates
from templates.template import Template

_HEAD = "Known from measurement"
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
    check_kinds(wanted)
    offered = kinds()
    given: dict[str, list[Cue]] = {}
    withheld: dict[str, str] = {}
    for kind in dict.fromkeys(wanted):
        if stored := [Cue(text=text) for hint in question.hints if hint["kind"] == kind for text in hint["text"]]:
            given[kind] = stored
            continue
        known = list(_from_others(question, offered[kind], others))
        allowed = [cue for cue in known if not states_answer(cue, kind, question)]
        if allowed:
            given[kind] = allowed[:MOST]
        else:
            withheld[kind] = STATES if known or asks_for(question, kind) else NOTHING
    return given, withheld


def with_pictures(question: Question, wanted: Sequence[str]) -> Question:
    """The question with the pictures of its hints of these kinds after its own; they are called "hint picture".

    Raises `UsageError` for an unknown kind.
    """
    check_kinds(wanted)
    shown = [picture for hint in question.hints if hint["kind"] in wanted for picture in hint["pictures"]]
    own = [medium for medium in question.media if not medium.get("option")]
    return replace(question, media=[*own, *shown, *question.media[len(own) :]]) if shown else question


def kinds_of_pictures(question: Question, wanted: Sequence[str]) -> tuple[str, ...]:
    """Those of which the question has pictures."""
    return tuple(hint["kind"] for hint in question.hints if hint["kind"] in wanted and hint["pictures"])


def known(question: Question, given: Mapping[str, Sequence[Cue]]) -> str:
    """What is known from measurement, in words: what the hint pictures of a question are, and the cues; "" for neither.
    Pixels refer to the full-size frame, whose size is stated."""
    pictures = [(name, medium["text"]) for name, medium in named_media(question) if medium.get("kind") == HINT]
    lines = [f"{name[:1].upper()}{name[1:]} shows {text}." for name, text in pictures]
    lines += [f"{cue.text[:1].upper()}{cue.text[1:]}" for cues in given.values() for cue in cues]
    if not lines:
        return ""
    sizes = {tuple(medium["frame_size_px"]) for medium in question.media if "frame_size_px" in medium}
    size = " of {} x {}".format(*sizes.pop()) if len(sizes) == 1 else ""
    head = f"Known from measurement (pixels [x, y]{size}, x to the right, y down)" if given else _HEAD
    return f"{head}:\n" + "\n".join(f"- {line}" for line in lines)


def hinted(
    question: Question, hints: Sequence[str], hint_pictures: Sequence[str], others: Sequence[Question] = ()
) -> Question:
    """The question with its hints in its prompt and among its media, as any other program shows them."""
    given, _ = cues(question, hints, others)
    shown = with_pictures(question, hint_pictures)
    words = known(shown, given)
    words += "\nHint pictures stand after the other pictures." if len(shown.media) > len(question.media) else ""
    return replace(shown, prompt=f"{words}\n{question.prompt}" if words else question.prompt, hints=())


def _from_others(question: Question, leaf: str, others: Sequence[Question]) -> Iterator[Cue]:
    """In the order of facts, which is independent of the order of the dataset."""
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
