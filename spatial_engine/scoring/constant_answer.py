"""The best constant answer: the one answer that is right for most of many questions."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

_TRIED = 33
"""Number of candidates, evenly spaced among the right answers; a third as many of the most frequent ones are added."""
_TRIED_ON = 256
"""Number of questions that each candidate is tried on, evenly spaced likewise."""

Answer = TypeVar("Answer", bound=Hashable)


def best_constant(
    answers: Sequence[Answer], hits: Callable[[Sequence[Answer], Sequence[int]], Sequence[int]]
) -> Answer:
    """The answer, among the right ones of some questions, that is right for most of them; of equally good ones the
    first.

    `answers`: the right answer of each question, sorted. `hits(tried, on)`: for each answer of `tried`, for how many of
    the questions with the indices `on` it is right. If there are many, a sample of answers is tried on a sample of
    questions: enough to find the peak of a distribution.
    """
    common = [answer for answer, count in Counter(answers).most_common(_TRIED // 3) if count > 1]
    tried = [*common, *(answers[i] for i in _evenly_spaced(len(answers), _TRIED))]
    return tried[int(np.argmax(hits(tried, _evenly_spaced(len(answers), _TRIED_ON))))]


def _evenly_spaced(length: int, count: int) -> list[int]:
    """Indices of at most `count` elements, from the first to the last."""
    return np.linspace(0, length - 1, min(count, length)).astype(int).tolist()
