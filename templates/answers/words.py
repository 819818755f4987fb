"""The format that asks for a set: letters or words in any order."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from templates.answers.answer import Answer
from templates.answers.format import Format
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question

_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")
_EDGES = " \t\n.,;:!\"'`*()[]"


class Words(Format):
    """A list of letters or words, in any order. Right: the true set. The measurement is the label of the set."""

    name: ClassVar[str] = "set"
    reader: ClassVar[str] = "words"
    takes: ClassVar[tuple[str, ...]] = ("label",)

    def form(self, question: Question) -> str:
        """A list."""
        return "one JSON list of strings, in any order ([] for none)"

    def score(self, question: Question, value: Json) -> Score:
        """1 for the right set; in the detail the precision, the recall and their F1."""
        right = _right_words(question)
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            return Score(value=0.0, detail={"value": None, "right": right})
        target, predicted = folded(right), folded(value)
        common = len(target & predicted)
        graded = {
            "precision": common / len(predicted) if predicted else float(not target),
            "recall": common / len(target) if target else float(not predicted),
            "f1": 2 * common / (len(target) + len(predicted)) if target or predicted else 1.0,
        }
        detail = {"value": value, "right": right, **graded}
        return Score(value=float(predicted == target), detail=detail, nearness=graded["f1"])

    def possible(self, question: Question) -> Sequence[str]:
        """The right set: there are too many to list."""
        return (json.dumps(_right_words(question)),)

    def stated(self, question: Question, recorded: Answer) -> Answer:
        """The set as a label."""
        prediction = recorded.predicted(set_label(_right_words(question)))
        if prediction is None:
            raise ValueError(f"a set is measured as a label, not as {recorded.name}")
        return prediction

    def no_op(self, question: Question) -> Json:
        """The empty set."""
        return []

    def near_misses(self, question: Question) -> Iterator[Json]:
        """One word fewer; one more."""
        right = _right_words(question)
        if right:
            yield right[:-1]
        yield [*right, "none of these"]


def set_label(words: Iterable[str]) -> str:
    """The label of a set, equal for equal sets: the JSON list of its words in lower case, without articles, sorted."""
    return json.dumps(sorted(folded(words)), ensure_ascii=False)


def folded(words: Iterable[str]) -> set[str]:
    """Words in lower case, without articles and punctuation around them."""
    return {_ARTICLE.sub("", " ".join(word.casefold().split()).strip(_EDGES)) for word in words}


def _right_words(question: Question) -> list[str]:
    words = question.answer
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise UnscorableError("the right answer is no list of words")
    if len(folded(words)) < len(words):
        raise UnscorableError("the right answer names a word twice")
    return words
