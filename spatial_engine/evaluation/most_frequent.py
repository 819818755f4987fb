"""The best habit: one answer for every question of a template and format."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from spatial_engine.scoring.own import score_read
from spatial_engine.scoring.score import Score
from templates.measured import Json
from templates.question import LETTERS, Question

_T = TypeVar("_T")
_TRIED = 32
_TRIED_ON = 128
"""Answers that are tried, and questions that each is tried on: enough to find the peak of a distribution."""


def most_frequent(questions: Iterable[Question]) -> Callable[[Question], Json]:
    """The habit fitted to these questions. Of a choice: the words that are right most often among those offered, where
    words are right more than once (what was right once only is remembered, not usual); else the letter. Of others: the
    answer within whose reach most right answers lie."""
    groups: dict[tuple[str, ...], list[Question]] = defaultdict(list)
    for question in questions:
        groups[_group(question)].append(question)
    fixed = {group: _reaching_most(asked) for group, asked in groups.items() if group[1] != "choice"}
    words = {group: _usual_words(asked) for group, asked in groups.items() if group[1] == "choice"}
    letters: dict[tuple[str, ...], Mapping[str, int]] = {
        group: Counter(q.answer for q in asked) for group, asked in groups.items() if group[1] == "choice"
    }

    def habit(question: Question) -> Json:
        group = _group(question)
        if question.format != "choice":
            return fixed.get(group, "")
        known, arranged = words.get(group, {}), letters.get(group, {})

        def usual(letter: str) -> tuple[int, int]:
            return known.get(_words(question, letter), 0), arranged.get(letter, 0)

        return max(LETTERS[: len(question.options)], key=usual)

    return habit


def _group(question: Question) -> tuple[str, ...]:
    names = sorted(question.answer) if question.format == "json" else []
    return (question.template, question.format, *names)


def _words(question: Question, letter: str) -> str:
    return question.options[LETTERS.index(letter)]


def _usual_words(asked: Iterable[Question]) -> dict[str, int]:
    """How often words are the right ones, by words; pictures have none."""
    counts = Counter(_words(question, question.answer) for question in asked if not _is_drawn(question))
    return {words: count for words, count in counts.items() if count > 1}


def _is_drawn(question: Question) -> bool:
    return any(medium.get("option") for medium in question.media)


def _reaching_most(asked: Sequence[Question]) -> Json:
    """Of the answers of these questions the one that is right for most of them; the first of equals."""
    counts = Counter(json.dumps(question.answer, sort_keys=True) for question in asked)
    common = [text for text, count in counts.most_common(_TRIED // 2) if count > 1]
    tried = [json.loads(text) for text in dict.fromkeys([*common, *_spread(_sorted(counts), _TRIED)])]
    tried_on = _spread(asked, _TRIED_ON)
    return max(tried, key=lambda answer: sum(_is_right(question, answer) for question in tried_on))


def _sorted(texts: Iterable[str]) -> list[str]:
    """Numbers by size, others by letters."""
    return [text for _, text in sorted((json.loads(t) if _is_number(t) else 0.0, t) for t in texts)]


def _is_number(text: str) -> bool:
    return isinstance(json.loads(text), int | float)


def _spread(things: Sequence[_T], count: int) -> list[_T]:
    """At most `count` of them, evenly spaced."""
    if len(things) <= count:
        return list(things)
    return [things[i * len(things) // count] for i in range(count)]


def _is_right(question: Question, answer: Json) -> bool:
    found = score_read(question, answer)
    return isinstance(found, Score) and found.value == 1
