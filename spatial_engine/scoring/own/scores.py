"""Finds the answer in a response to a question of a dataset, and scores it."""

from collections.abc import Callable
from typing import TypeVar

from experts.registry import UnknownNameError
from spatial_engine.scoring.own.readers import reader_of
from spatial_engine.scoring.reading import Reading, Unreadable
from templates.answers.format import Format
from templates.answers.registry import format_of
from templates.answers.score import Score, UnscorableError, Unscored
from templates.columns import Json
from templates.question import Question

_T = TypeVar("_T")
_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What fields raise that are absent or of another shape than their format's."""


def score(question: Question, response: str | None) -> Score | Unscored:
    """What a response is worth: 1 if it is right, else 0, with the graded scores in its detail.

    A response that says nothing readable scores 0 with detail {"unreadable": reason}. `Unscored` only where the
    question itself cannot be scored. Never raises, whatever the response.
    """
    worthless = score_read(question, None)
    if isinstance(worthless, Unscored):
        return worthless
    found = read(question, response)
    if isinstance(found, Unreadable):
        return Score(value=0.0, detail={**worthless.detail, "unreadable": found.reason})
    return score_read(question, found.value)


def read(question: Question, response: str | None) -> Reading | Unreadable:
    """The answer in a response, in the form of `Question.answer`; points in pixels of the full-size frame."""
    if not response or not response.strip():
        return Unreadable(reason="empty")
    found = by_format(question, lambda form: reader_of(form.reader).find(question, response))
    return Unreadable(reason="nothing found") if isinstance(found, Unscored) else found


def bare(question: Question, text: str) -> Json | None:
    """The answer if the text is the answer and nothing else, else None. For rewards, which are strict."""
    found = by_format(question, lambda form: reader_of(form.reader).bare(question, text))
    return None if isinstance(found, Unscored) else found


def holds(question: Question, quote: str, answer: str) -> bool:
    """Whether the words that a judge quotes from a reply support the answer that it found, as far as rules can tell."""
    found = by_format(question, lambda form: reader_of(form.reader).holds(question, quote, answer))
    return False if isinstance(found, Unscored) else found


def score_read(question: Question, value: Json) -> Score | Unscored:
    """What an answer is worth once it has been read: by rules, by a judge, or by whoever knows it."""
    return by_format(question, lambda form: form.score(question, value))


def chance(question: Question) -> float:
    """Expected score of a uniform guess: 1/k of k options, 1/2, 1/n! of n photos, else 0."""
    found = by_format(question, lambda form: form.chance(question))
    return 0.0 if isinstance(found, Unscored) else found


def by_format(question: Question, asked: Callable[[Format], _T]) -> _T | Unscored:
    """The result of `asked` for the question's format; `Unscored` if fields are missing or do not fit the format."""
    try:
        return asked(format_of(question.format))
    except UnknownNameError:
        return Unscored(reason=f"no rule scores {question.scorer} answers in the format {question.format}")
    except UnscorableError as error:
        return Unscored(reason=str(error))
    except _UNFIT:
        return Unscored(reason=f"the question's fields do not fit the format {question.format}")
