"""A benchmark's own metric, by the published scorer that its items name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spatial_engine.evaluation.responses import Response
from spatial_engine.scoring.scorers import create_scorer, score_items
from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question

PUBLISHED = "published"
"""Key of `Question.extra`: {"scorer": a name of SCORERS, "item": what it takes, "told": how it takes an answer}."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The first presentation of a question, and what came of it."""

    question: Question
    response: Response | None
    extracted: Json
    """The answer that was found in the response."""

    @property
    def reply(self) -> str | None:
        """What the published scorer reads; None for a reply that did not come.

        The whole reply, or what a judge found in it; where the scorer does not know our prompts, the answer that was
        found, in the words of its own.
        """
        if self.response is None or self.response.outcome != "answered":
            return None
        told = self.question.extra[PUBLISHED]["told"]
        if told is None:
            return self.response.judged or self.response.text
        if isinstance(told, Mapping):
            return str(told.get(str(self.extracted), ""))
        return "" if self.extracted is None else str(told).replace("{}", str(self.extracted))


def own_metric(asked: Sequence[Answered]) -> dict[str, Json] | None:
    """The published score of the first presentation of every question; None for questions of our own. A reply that did
    not come is wrong."""
    rows = [one for one in asked if PUBLISHED in one.question.extra]
    if not rows:
        return None
    name = rows[0].question.extra[PUBLISHED]["scorer"]
    scorer = create_scorer(name)
    items = [one.question.extra[PUBLISHED]["item"] for one in rows]
    scored, totals = score_items(scorer, items, {one.question.id: one.reply for one in rows})
    return {
        "scorer": name,
        "source": scorer.source,
        "items": len(scored),
        "score": totals.score,
        "categories": dict(totals.categories),
        "detail": dict(totals.detail),
    }


def score_reply(question: Question, value: Json) -> Score:
    """The published score of an answer in the format `reply`; 0 without an answer."""
    published = question.extra[PUBLISHED]
    if not isinstance(value, str):
        return Score(value=0.0)
    found = create_scorer(published["scorer"]).score(published["item"], value)
    return Score(value=min(1.0, max(0.0, found.value)), detail={"value": value})


def shown_metric(found: Mapping[str, Json]) -> str:
    """In one line."""
    score = "none" if found["score"] is None else f"{found['score']:.3f}"
    return f"{score} ({found['scorer']})"
