"""One entry for every format: how a response is read, what the reading is worth, what a guesser expects."""

from collections.abc import Callable
from dataclasses import dataclass

from spatial_engine.scoring.own import labels, numbers, plan, point
from spatial_engine.scoring.own.fault import Fault
from spatial_engine.scoring.reading import Reading, Unreadable
from spatial_engine.scoring.score import Score, Unscored
from templates.measured import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class _Format:
    """Functions of one format. All of them raise `Fault` where a question's own fields do not allow it."""

    read: Callable[[Question, str], Reading | Unreadable]
    score: Callable[[Question, Json], Score]
    chance: Callable[[Question], float]


def _hopeless(question: Question) -> float:
    return 0.0


_FORMATS = {
    "choice": _Format(read=labels.read_letter, score=labels.score_letter, chance=labels.chance_of_letter),
    "yes_no": _Format(read=labels.read_yes_no, score=labels.score_yes_no, chance=lambda question: 0.5),
    "order": _Format(read=labels.read_order, score=labels.score_order, chance=labels.chance_of_order),
    "numeric": _Format(read=numbers.read_numeric, score=numbers.score_numeric, chance=_hopeless),
    "json": _Format(read=numbers.read_json, score=numbers.score_json, chance=_hopeless),
    "point": _Format(read=point.read_point, score=point.score_point, chance=_hopeless),
    "plan": _Format(read=plan.read_plan, score=plan.score_plan, chance=_hopeless),
}


def score(question: Question, response: str | None) -> Score | Unscored:
    """What a response is worth: 1 if it is right, else 0, with the graded scores in its detail.

    A response that says nothing readable scores 0 with detail {"unreadable": reason}. `Unscored` only where the
    question itself cannot be scored. Never raises, whatever the response.
    """
    try:
        worthless = _format(question).score(question, None)
        found = read(question, response)
    except Fault as fault:
        return Unscored(reason=str(fault))
    if isinstance(found, Unreadable):
        return Score(value=0.0, detail={**worthless.detail, "unreadable": found.reason})
    return score_read(question, found.value)


def read(question: Question, response: str | None) -> Reading | Unreadable:
    """The answer in a response, in the form of `Question.answer`; points in pixels of the full-size frame."""
    if not response or not response.strip():
        return Unreadable(reason="empty")
    try:
        return _format(question).read(question, response)
    except Fault:
        return Unreadable(reason="nothing found")


def score_read(question: Question, value: Json) -> Score | Unscored:
    """What an answer is worth once it has been read: by rules, by a judge, or by whoever knows it."""
    try:
        return _format(question).score(question, value)
    except Fault as fault:
        return Unscored(reason=str(fault))


def chance(question: Question) -> float:
    """What someone who guesses evenly expects of `score`: 1/k of k options, 1/2, 1/n! of n photos, else 0."""
    try:
        return _format(question).chance(question)
    except Fault:
        return 0.0


def _format(question: Question) -> _Format:
    if question.format not in _FORMATS:
        raise Fault(f"no rule scores the format {question.format}")
    return _FORMATS[question.format]
