"""Models that see nothing, for every table: what a score is worth shows beside them.

oracle         the right answer, in the form that the protocol asks for
wrong          an answer that is surely wrong
no-op          does nothing: the empty plan, 0 for numbers, the point left where it was marked, photos as they lie, "no"
empty          an empty reply
random         an even guess, seeded by question and seed
most-frequent  always the answer that is right most often in its template and format, found on the very data set that is
               asked: the most that a habit can reach without looking
first-option   A
"""

import json
from collections.abc import Callable, Iterable

from spatial_engine.errors import UsageError
from spatial_engine.evaluation import baselines as answer_text
from spatial_engine.evaluation import guesses
from spatial_engine.evaluation.most_frequent import most_frequent
from templates.answers.registry import format_of
from templates.measured import Json
from templates.question import Question


def tagged(value: Json) -> str:
    """ "<answer>B</answer>", "<answer>[3, 2]</answer>", '<answer>{"roll": 2.2}</answer>'."""
    return f"<answer>{bare(value)}</answer>"


def bare(value: Json) -> str:
    """What stands between the tags: words as they are, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


Baseline = Callable[[Question], str]
"""What it replies to a question (as shown: with its options in the order shown)."""


def oracle_text(question: Question) -> str:
    """The right answer."""
    return answer_text.tagged(question.answer)


def wrong_text(question: Question) -> str:
    """An answer that scores 0: a near one of its kind, or no answer where every answer of its kind is right."""
    value = guesses.wrong(question)
    return "" if value is None else answer_text.tagged(value)


def no_op_text(question: Question) -> str:
    """What doing nothing comes to; a choice has no such answer."""
    value = guesses.no_op(question)
    return "" if value is None else answer_text.tagged(value)


def random_text(question: Question, seed: int) -> str:
    """An even guess."""
    value = guesses.drawn(question, seed)
    return "" if value is None else answer_text.tagged(value)


def first_option_text(question: Question) -> str:
    """A; yes of yes and no; of others what doing nothing comes to."""
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
"""All of them, by name."""


def reply(name: str, question: Question, seed: int = 0) -> str:
    """What one that needs no data set replies. Raises `UsageError` for other names."""
    if name not in _SIMPLE:
        raise UsageError(f"no baseline {name!r} for a single question", f"there are: {', '.join(_SIMPLE)}")
    return _SIMPLE[name](question, seed)


def baseline(name: str, questions: Iterable[Question] = (), seed: int = 0) -> Baseline:
    """A baseline of that name for a data set; only most-frequent looks at `questions`. Raises `UsageError`."""
    if name == "most-frequent":
        habit = most_frequent(questions)
        return lambda question: answer_text.tagged(habit(question))
    if name not in BASELINES:
        raise UsageError(f"no baseline {name!r}", f"there are: {', '.join(BASELINES)}")
    return lambda question: reply(name, question, seed)


def replies(name: str, questions: Iterable[Question], seed: int = 0) -> dict[str, str]:
    """Replies to all questions by id."""
    questions = list(questions)
    answer = baseline(name, questions, seed)
    return {question.id: answer(question) for question in questions}
