"""Finished questions of every format, without a data set on disk."""

from spatial_engine.dataset.balance import Arranged
from spatial_engine.dataset.question_line import question_of
from templates.draft import Draft
from templates.question import Question
from tests.spatial_engine import drafts


def question(draft: Draft) -> Question:
    """Options in the order in which they were drafted."""
    return question_of(Arranged(draft=draft, order=tuple(range(len(draft.phrasing.options)))), drafts.clip())


def questions() -> dict[str, Question]:
    """One of each, by name."""
    made = {
        "choice": drafts.closer(3),
        "drawn": drafts.which_map(3),
        "numeric": drafts.ratio(3),
        "json": drafts.tilt(3),
        "yes_no": drafts.moves(3, True),
        "point": drafts.same_point(3),
        "plan": drafts.walk(3),
        "order": drafts.route(3),
    }
    return {name: question(draft) for name, draft in made.items()}
