"""Questions of every format."""

from dataclasses import replace

from spatial_engine.dataset.question_line import question_of
from templates.question import Question
from tests.spatial_engine.drafts import clip, closer, moves, ratio, route, same_point, tilt, walk, which_map

_OTHERS = (ratio(3), tilt(2), moves(2, True), same_point(4), route(5), walk(6), walk(6, step_fraction=None))
CHOICE, DRAWN, NUMERIC, JSON, YES_NO, POINT, ORDER, RELATIVE_PLAN, PLAN = QUESTIONS = tuple(
    question_of(asked.draft(0), order, clip())
    for asked, order in (
        (closer(3, right=1), (1, 0)),
        (which_map(2), (3, 1, 0, 2)),
        *((asked, ()) for asked in _OTHERS),
    )
)


def direction(value: float = 175.0) -> Question:
    """In which direction (degrees) something lies."""
    params = {"period": 360.0}
    return replace(
        NUMERIC, answer=round(value), value=value, sigma=4.0, tolerance=15.0, unit="deg", scorer_params=params
    )


def ids(question: Question) -> str:
    """Name of a question in a test's own name."""
    return f"{question.template}-{question.format}"
