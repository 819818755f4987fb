"""The majority baseline: one answer for all questions of a template and format."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from spatial_engine.scoring.constant_answer import best_constant
from spatial_engine.scoring.own import score_read
from templates.answers.score import Score
from templates.columns import Json
from templates.question import LETTERS, Question


def most_frequent(questions: Iterable[Question]) -> Callable[[Question], Json]:
    """The majority baseline fitted to these questions.

    For a choice it answers the offered option whose text is right most often. Texts that are right only once do not
    count: they would reveal single answers. Ties, and pictures, go to the most frequent letter. For other formats it
    gives the answer that is right for most questions.
    """
    groups: dict[tuple[str, ...], list[Question]] = defaultdict(list)
    for question in questions:
        groups[_group(question)].append(question)
    choices = {group: asked for group, asked in groups.items() if asked[0].options}
    fixed = {group: _reaching_most(asked) for group, asked in groups.items() if group not in choices}
    words = {group: _frequent_words(asked) for group, asked in choices.items()}
    letters: dict[tuple[str, ...], Mapping[str, int]] = {
        group: Counter(q.answer for q in asked) for group, asked in choices.items()
    }

    def majority(question: Question) -> Json:
        group = _group(question)
        if not question.options:
            return fixed.get(group, "")
        known, arranged = words.get(group, {}), letters.get(group, {})

        def frequency(letter: str) -> tuple[int, int]:
            return known.get(_words(question, letter), 0), arranged.get(letter, 0)

        return max(LETTERS[: len(question.options)], key=frequency)

    return majority


def _group(question: Question) -> tuple[str, ...]:
    names = sorted(question.answer) if isinstance(question.answer, Mapping) else []
    return (question.template, question.format, *names)


def _words(question: Question, letter: str) -> str:
    return question.options[LETTERS.index(letter)]


def _frequent_words(asked: Iterable[Question]) -> dict[str, int]:
    """Counts of right texts, of those that are right more than once."""
    counts = Counter(question.right_words for question in asked if question.right_words is not None)
    return {words: count for words, count in counts.items() if count > 1}


def _reaching_most(asked: Sequence[Question]) -> Json:
    """The answer, among those of the questions, that is right for most of them."""
    by_answer = sorted(asked, key=lambda question: _sort_key(question.answer))

    def hits(tried: Sequence[str], on: Sequence[int]) -> list[int]:
        return [sum(_is_right(by_answer[i], json.loads(answer)) for i in on) for answer in tried]

    return json.loads(best_constant([json.dumps(q.answer, sort_keys=True) for q in by_answer], hits))


def _sort_key(answer: Json) -> tuple[float, str]:
    """Numbers by size, other answers by their JSON."""
    return (answer if isinstance(answer, int | float) else 0.0, json.dumps(answer, sort_keys=True))


def _is_right(question: Question, answer: Json) -> bool:
    found = score_read(question, answer)
    return isinstance(found, Score) and found.value == 1
