"""Which typical mistakes a model makes: wrong answers of a question that are known to follow from one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.scoring import own
from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question


def mistakes_made(question: Question, value: Json) -> dict[str, bool]:
    """Whether an answer is that of each typical mistake (`evidence.traps`); `value` is in the form of
    `Question.answer`."""
    traps = question.evidence.get("traps")
    if not isinstance(traps, Mapping):
        return {}
    right = _scores_one(question, value)
    return {
        str(mistake): not right and _scores_one(replace(question, answer=answer, value=answer), value)
        for mistake, answer in traps.items()
    }


def _scores_one(question: Question, value: Json) -> bool:
    score = own.score_read(question, value)
    return isinstance(score, Score) and score.value == 1.0


def counted_mistakes(items: Iterable[ScoredItem]) -> dict[str, dict[str, float]]:
    """By mistake: how many questions it would answer, and how many a model answered so. `by_chance`: how many a guess
    among the options would."""
    found: dict[str, dict[str, float]] = {}
    for item in items:
        made = item.detail.get("mistakes") or {}
        for mistake, is_made in made.items():
            counts = found.setdefault(mistake, {"questions": 0, "made": 0, "by_chance": 0.0})
            counts["questions"] += 1
            counts["made"] += is_made
            counts["by_chance"] += item.chance
    return dict(sorted(found.items(), key=lambda each: (-each[1]["questions"], each[0])))
