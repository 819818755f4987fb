"""Low-level cues beside a question (SpatialTree's hints), as text: matched points, depths, sizes.

A question's own evidence rarely holds any but its answer. So cues come from what other questions about the same clip
have measured, on photos that this one shows too; and from `evidence["cues"]`, where a template put some:
{kind: [{"text": ..., "values": [...]}, ...]}. A cue that would state the answer is never given: one of the kind that
the question asks for, about a point that it marks or asks for, or with a number that would count as right.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any, Literal

from spatial_engine.errors import UsageError
from templates.question import Question

Kind = Literal["correspondence", "depth", "size"]

KINDS: Mapping[Kind, str] = {
    "correspondence": "L1/Relation/Correspondence",
    "depth": "L1/Geometry/Distance",
    "size": "L1/Geometry/Size",
}
"""Each with the leaf whose questions it would answer."""
MOST = 8
"""Cues of one kind."""
NOTHING = "nothing known"
STATES = "would state the answer"
_NEAR = 0.05
"""Of the picture's diagonal: two points closer than this are one."""

_Pixel = tuple[int, float, float]  # frame, x, y


@dataclass(frozen=True, kw_only=True)
class Cue:
    """One measured fact, in words."""

    text: str
    values: tuple[float, ...] = ()
    """Numbers that it states, pixels apart."""
    pixels: tuple[_Pixel, ...] = ()
    """Points that it speaks of: frame, x, y."""


def cues(
    question: Question, kinds: Sequence[str], others: Sequence[Question] = ()
) -> tuple[dict[str, list[Cue]], dict[str, str]]:
    """By kind, what may be given; and why nothing is given of the kinds that are missing.

    Raises `UsageError` for an unknown kind.
    """
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"unknown hints: {', '.join(unknown)}", f"there is: {', '.join(KINDS)}")
    given: dict[str, list[Cue]] = {}
    withheld: dict[str, str] = {}
    for kind in dict.fromkeys(kinds):
        known = [*_own(question, kind), *_from_others(question, kind, others)]
        allowed = [cue for cue in known if not _states_answer(cue, kind, question)]
        if allowed:
            given[kind] = allowed[:MOST]
        else:
            withheld[kind] = STATES if known or question.ability == KINDS[kind] else NOTHING  # type: ignore[index]
    return given, withheld


def _own(question: Question, kind: str) -> Iterator[Cue]:
    listed = question.evidence.get("cues")
    entries = listed.get(kind) if isinstance(listed, Mapping) else None
    for entry in entries if isinstance(entries, Sequence) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("text"), str):
            values = [value for value in entry.get("values") or () if isinstance(value, int | float)]
            yield Cue(text=entry["text"], values=tuple(map(float, values)))


def _from_others(question: Question, kind: str, others: Sequence[Question]) -> Iterator[Cue]:
    """In the order of their facts, so that no order of the data set shows."""
    numbers = _numbers(question)
    for other in sorted(others, key=lambda other: (other.fact_id, other.format)):
        maker = _MAKERS.get((other.template, other.format))
        if maker is None or maker.kind != kind or other.clip != question.clip or other.fact_id == question.fact_id:
            continue
        shape = (len(_frames(other)), len(_marks(other)))
        if shape == (maker.photos, maker.marks) and _numbers(other).keys() <= numbers.keys():
            yield maker.cue(other, numbers)


def _states_answer(cue: Cue, kind: str, question: Question) -> bool:
    if question.ability == KINDS[kind]:  # type: ignore[index]
        return True
    if any(_right_number(value, question) for value in cue.values):
        return True
    return any(_near(pixel, medium, question) for medium in _frames(question) for pixel in cue.pixels)


def _right_number(value: float, question: Question) -> bool:
    """Whether a number would count as right, of one or of several that are asked for."""
    asked = question.answer if isinstance(question.answer, Mapping) else {"": question.answer}
    allowed = question.tolerance if isinstance(question.tolerance, Mapping) else {"": question.tolerance}
    return any(
        isinstance(answer, int | float) and abs(value - answer) <= (allowed.get(name) or 0)
        for name, answer in asked.items()
    )


def _near(pixel: _Pixel, medium: Mapping[str, Any], question: Question) -> bool:
    """Whether a cue's point is one that a photo marks, or the one that is asked for in it."""
    frame, x, y = pixel
    if frame != medium["frames"][0]:
        return False
    points = [mark["xy_px"] for mark in medium.get("marks") or ()]
    if question.format == "point":
        points.append(question.answer)
    reach = _NEAR * hypot(*medium["frame_size_px"])
    return any(hypot(x - u, y - v) <= reach for u, v in points)


def _frames(question: Question) -> list[Mapping[str, Any]]:
    return [medium for medium in question.media if medium.get("kind") == "frames" and not medium.get("option")]


def _numbers(question: Question) -> dict[int, int]:
    """Number of the photo by frame."""
    return {medium["frames"][0]: number for number, medium in enumerate(_frames(question), start=1)}


def _match(other: Question, numbers: Mapping[int, int]) -> Cue:
    """By number of the photo: the order of the frames may be what is asked for."""
    _, second = _frames(other)
    pixels: list[_Pixel] = [*_marks(other), (second["frames"][0], *other.answer)]
    a, b = sorted(pixels, key=lambda pixel: numbers[pixel[0]])
    return Cue(text=f"{_at(a, numbers)} and {_at(b, numbers)} are the same point of the scene.", pixels=(a, b))


def _ratio(other: Question, numbers: Mapping[int, int]) -> Cue:
    a, b = _marks(other)
    text = f"{_at(b, numbers)} is {other.answer:g} times as far from the camera as {_at(a, numbers)}."
    return Cue(text=text, values=(float(other.answer),), pixels=(a, b))


def _range(other: Question, numbers: Mapping[int, int]) -> Cue:
    (a,) = _marks(other)
    text = f"{_at(a, numbers)} is {other.answer:g} m from the camera."
    return Cue(text=text, values=(float(other.answer),), pixels=(a,))


def _marks(question: Question) -> list[_Pixel]:
    """All marked points, in the order of photos and marks."""
    return [(medium["frames"][0], *mark["xy_px"]) for medium in _frames(question) for mark in medium["marks"]]


def _at(pixel: _Pixel, numbers: Mapping[int, int]) -> str:
    frame, x, y = pixel
    return f"pixel [{round(x)}, {round(y)}] of photo {numbers[frame]}"


@dataclass(frozen=True, kw_only=True)
class _Maker:
    kind: Kind
    photos: int
    marks: int
    cue: Callable[[Question, Mapping[int, int]], Cue]


_MAKERS: Mapping[tuple[str, str], _Maker] = {
    ("same_point", "point"): _Maker(kind="correspondence", photos=2, marks=1, cue=_match),
    ("range_ratio", "numeric"): _Maker(kind="depth", photos=1, marks=2, cue=_ratio),
    ("range_metres", "numeric"): _Maker(kind="depth", photos=1, marks=1, cue=_range),
}
"""Template and format -> what its measured answer says about the points that it marks."""
