"""Wrong answers are told apart by the typical mistake behind them."""

from dataclasses import replace

import pytest

from spatial_engine.evaluation.mistakes import counted_mistakes, mistakes_made
from spatial_engine.evaluation.protocol import Presentation, rotated
from spatial_engine.evaluation.responses import Response
from spatial_engine.evaluation.score_responses import score_item
from spatial_engine.evaluation.scored import ScoredItem
from templates.columns import Json
from templates.question import Question
from tests.spatial_engine.evaluation import drafted

QUESTIONS = drafted.questions()


def trapped(name: str, traps: dict[str, Json]) -> Question:
    question = QUESTIONS[name]
    return replace(question, evidence={**question.evidence, "traps": traps})


def test_a_number_within_the_tolerance_of_a_mistake_is_that_mistake() -> None:
    question = trapped("numeric", {"ten times": 10 * QUESTIONS["numeric"].answer})
    assert mistakes_made(question, 10 * question.answer) == {"ten times": True}
    assert mistakes_made(question, question.answer) == mistakes_made(question, None) == {"ten times": False}


def test_an_answer_that_is_right_by_its_tolerance_is_no_mistake() -> None:
    question = trapped("numeric", {"nearly": QUESTIONS["numeric"].answer * 1.01})
    assert mistakes_made(question, question.answer * 1.01) == {"nearly": False}


def test_mistakes_turn_with_the_options() -> None:
    question = QUESTIONS["choice"]
    wrong = next(letter for letter in "AB" if letter != question.answer)
    for rotation in range(len(question.options)):
        turned = rotated(trapped("choice", {"mirrored": wrong}), rotation)
        letter = turned.evidence["traps"]["mirrored"]
        assert letter != turned.answer and turned.options["AB".index(letter)] == question.options["AB".index(wrong)]
        assert mistakes_made(turned, letter) == {"mirrored": True}


@pytest.mark.parametrize("traps", [None, [], "x", {}])
def test_questions_without_traps_have_no_mistakes(traps: Json) -> None:
    assert mistakes_made(trapped("choice", traps), "A") == {}


def test_a_run_counts_them() -> None:
    question = QUESTIONS["choice"]
    wrong = next(letter for letter in "AB" if letter != question.answer)
    shown = Presentation(question=trapped("choice", {"mirrored": wrong}))
    items = [score_item(shown, Response(id=question.id, rotation=0, text=text)) for text in (wrong, question.answer)]
    assert all(isinstance(item, ScoredItem) for item in items)
    assert counted_mistakes(items) == {"mirrored": {"questions": 2, "made": 1, "by_chance": 1.0}}  # type: ignore[arg-type]
