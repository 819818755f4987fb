"""Questions that ask the same of the same pictures, under different ids."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from spatial_engine.leaks.fixed_number import numbers_of, period_of
from spatial_engine.leaks.guesses import has_words, right_option
from templates.measured import Json
from templates.question import Question

NEAR_MARKS = 0.02
"""Share of the picture's diagonal within which two marks are one point, as when the data set is balanced."""

SamePicture = Callable[[str], AbstractSet[str]]
"""Paths of the photos that look like one, itself included."""


def near_duplicates(questions: Sequence[Question], same: SamePicture) -> list[tuple[int, int]]:
    """Pairs of indices: one template and format, photos that look the same in the same order, marks hardly apart, and
    one answer. Questions without photos are duplicates only where every word and drawing is equal."""
    asked: dict[tuple[str, str, int, str], list[int]] = defaultdict(list)
    photos = [_photos(question) for question in questions]
    for n, question in enumerate(questions):
        first = str(photos[n][0]["path"]) if photos[n] else _content(question)
        asked[question.template, question.format, len(photos[n]), first].append(n)
    pairs = []
    for (template, form, count, first), members in asked.items():
        for other in same(first) if count else {first}:
            for n in members:
                pairs += [
                    (n, m)
                    for m in asked.get((template, form, count, other), ())
                    if n < m and _same_photos(photos[n], photos[m], same) and same_answer(questions[n], questions[m])
                ]
    return sorted(pairs)


def same_answer(a: Question, b: Question) -> bool:
    """In words of the right option, not its letter; numbers and points within the smaller tolerance."""
    if a.format == "choice":
        at, bt = right_option(a), right_option(b)
        if at is None or bt is None or has_words(a) != has_words(b):
            return False
        return a.options[at] == b.options[bt] if has_words(a) else True
    first, second = numbers_of(a), numbers_of(b)
    if first is None or second is None:
        return bool(a.answer == b.answer)
    if len(first[0]) != len(second[0]):
        return False
    period = period_of(a)
    return all(
        _apart(u, v, period) <= min(s, t) for u, v, s, t in zip(first[0], second[0], first[1], second[1], strict=True)
    )


def _apart(u: float, v: float, period: float | None) -> float:
    gap = abs(u - v)
    return gap if period is None else min(gap % period, period - gap % period)


def _photos(question: Question) -> list[Mapping[str, Json]]:
    return [medium for medium in question.media if medium.get("kind") == "frames" and medium.get("path")]


def _content(question: Question) -> str:
    drawings = " ".join(sorted(str(medium.get("id")) for medium in question.media))
    return "\n".join([question.prompt, *sorted(question.options), drawings])


def _same_photos(first: Sequence[Mapping[str, Json]], second: Sequence[Mapping[str, Json]], same: SamePicture) -> bool:
    return all(b["path"] in same(str(a["path"])) and _same_marks(a, b) for a, b in zip(first, second, strict=True))


def _same_marks(a: Mapping[str, Json], b: Mapping[str, Json]) -> bool:
    marks = [sorted(m.get("marks") or (), key=lambda mark: str(mark.get("text"))) for m in (a, b)]
    if [mark.get("text") for mark in marks[0]] != [mark.get("text") for mark in marks[1]]:
        return False
    scale = [math.hypot(*(m.get("frame_size_px") or (1.0, 1.0))) for m in (a, b)]
    return all(
        math.dist(*([v / s for v in mark["xy_px"]] for mark, s in zip(pair, scale, strict=True))) <= NEAR_MARKS
        for pair in zip(*marks, strict=True)
    )
