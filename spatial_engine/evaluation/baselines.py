"""Baselines that see no pictures, to compare models with.

oracle         the right answer, in the form that the protocol asks for
wrong          an answer that is certainly wrong
no-op          does nothing: the empty plan, 0 for numbers, the marked point itself, the photos in their order, "no"
empty          an empty reply
random         a uniform guess, seeded by question and seed
most-frequent  the majority baseline: the most frequent right answer of the template and format, fitted on the dataset
               itself; an upper bound for blind guessing
first-option   A
"""

import json
from collections.abc import Callable, Iterable

from spatial_engine.errors import UsageError
from spatial_engine.evaluation import baselines as answer_text
from spatial_engine.evaluation import guesses
from spatial_engine.evaluation.most_frequent import most_frequent
from templates.answers.registry import format_of
from templates.columns import Json
from templates.question import Question


def tagged(value: Json) -> str:
    """ "<answer>B</answer>", "<answer>[3, 2]</answer>", '<answer>{"roll": 2.2}</answer>'."""
    return f"<answer>{bare(value)}</answer>"


def bare(value: Json) -> str:
    """The text between the tags: words as they are, other answers as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


Baseline = Callable[[Question], str]
"""The reply to a question with its options in the order shown."""


def oracle_text(question: Question) -> str:
    """The right answer."""
    return answer_text.tagged(question.answer)


def wrong_text(question: Question) -> str:
    """A near answer that scores 0; an empty one if every near answer is right."""
    value = guesses.wrong(question)
    return "" if value is None else answer_text.tagged(value)


def no_op_text(question: Question) -> str:
    """The answer of doing nothing; empty for a choice."""
    value = guesses.no_op(question)
    return "" if value is None else answer_text.tagged(value)


def random_text(question: Question, seed: int) -> str:
    """A uniform guess."""
    value = guesses.drawn(question, seed)
    return "" if value is None else answer_text.tagged(value)


def first_option_text(question: Question) -> str:
    """A, or yes; for other formats the answer of doing nothing."""
    value = format_of(question.format).first(question)
    return "" if value is None else answer_text.tagged(value)


_SIMPLE: dict[str, Callable[[Question, int], str]] = {
    "oracle": lambda question, seed: oracle_text(question),
    "wrong": lambda question, seed: wrong_text(question),
    "no-op": lambda question, seed: no_op_text(question),
    "empty": lambda question, seed: "",
    "random": random_text,
    "first-option": lambda question, seed: first_option_text(question),
}
BASELINES = ("oracle", "wrong", "no-op", "empty", "random", "most-frequent", "first-option")
"""Names of all baselines."""


def reply(name: str, question: Question, seed: int = 0) -> str:
    """The reply of a baseline that needs no dataset. Raises `UsageError` for other names."""
    if name not in _SIMPLE:
        raise UsageError(f"no baseline {name!r} for a single question", f"there are: {', '.join(_SIMPLE)}")
    return _SIMPLE[name](question, seed)


def baseline(name: str, questions: Iterable[Question] = (), seed: int = 0) -> Baseline:
    """The baseline of that name for a dataset; only most-frequent uses `questions`. Raises `UsageError`."""
    if name == "most-frequent":
        majority = most_frequent(questions)
        return lambda question: answer_text.tagged(majority(question))
    if name not in BASELINES:
        raise UsageError(f"no baseline {name!r}", f"there are: {', '.join(BASELINES)}")
    return lambda question: reply(name, question, seed)


def replies(name: str, questions: Iterable[Question], seed: int = 0) -> dict[str, str]:
    """Replies to all questions by id."""
    questions = list(questions)
    answer = baseline(name, questions, seed)
    return {question.id: answer(question) for question in questions}
