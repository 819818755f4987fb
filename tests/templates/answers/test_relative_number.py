"""Numbers of other people's benchmarks, and replies that only their own scorers read."""

import numpy as np
import pytest

from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import UnscorableError
from templates.question import Question


def question(format: str, answer: object, scorer: str, **params: object) -> Question:
    """As a benchmark's row becomes one."""
    tolerance = 0.05 * answer if isinstance(answer, float) else None
    return Question(
        id="q", ability="MM/Bench/size", template="bench", format=format, instructions="", prompt="How?", options=(),
        answer=answer, value=answer, unit="", sigma=None, tolerance=tolerance, margin=None, scorer=scorer,
        scorer_params=params, media=(), fact={}, fact_id="q", evidence={}, clip="c", seed=0, provenance=(), licence={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "score"), [(2.0, 1.0), (2.1, 1.0), (2.2, 0.9), (1.0, 0.1), (0.9, 0.0), (400, 0.0), (None, 0.0), ("2", 0.0)]
)
def test_a_number_scores_its_mean_relative_accuracy(said: object, score: float) -> None:
    answer = recorded_answer(question("numeric", 2.0, "relative_number", name="value"))
    assert answer.score(said).value == pytest.approx(score)


def test_a_target_of_zero_can_be_met() -> None:
    answer = recorded_answer(question("numeric", 0.0, "relative_number", name="value"))
    assert answer.score(0).value == 1 and answer.score(2).value == 0


def test_a_reply_is_left_to_its_own_scorer() -> None:
    asked = question("reply", "True", "escherverse", form="True or False", chance=0.5, guesses=["True", "False"])
    form = format_of("reply")
    assert form.form(asked) == "True or False" and form.chance(asked) == 0.5
    assert {form.guess(asked, np.random.default_rng(seed)) for seed in range(20)} == {"True", "False"}
    with pytest.raises(UnscorableError, match="own scorer"):
        form.score(asked, "True")


def test_a_reply_of_which_nothing_is_known_has_no_guess() -> None:
    asked = question("reply", "x", "escherverse")
    assert format_of("reply").guess(asked, np.random.default_rng(0)) is None
    assert format_of("reply").form(asked) == "as the question states it"
