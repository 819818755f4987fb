"""Counts: whole numbers that are right only if they are equal."""

from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.scoring import own
from spatial_engine.scoring.official.row import row
from templates.answers import RIGHT, UNDECIDED, WRONG, Count
from templates.answers.answer import stacked
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from tests.templates.answers.by_hand import asked


@pytest.mark.parametrize("sigma", [0.0, 0.1, 0.3, 1.0])
def test_p_right_is_that_of_sampling(sigma: float) -> None:
    rng = np.random.default_rng(0)
    true = np.round(4 + sigma * rng.normal(size=200_000))
    complete = rng.random(200_000) < 0.9
    found = Count(value=4.0, sigma=sigma, p_complete=0.9).p_right()
    assert found == pytest.approx(np.mean((true == 4) & complete), abs=4e-3)


def test_outliers_and_an_unknown_sigma_count() -> None:
    assert Count(value=4.0, outlier_probability=0.05).p_right() == pytest.approx(0.95)
    assert Count(value=4.0, sigma=np.nan).p_right() == 0


def test_equal_counts_are_right_if_the_truth_is_clear() -> None:
    four = Count(value=4.0)
    assert four.right(Count(value=4.0)) == RIGHT and four.right(Count(value=5.0)) == WRONG
    assert four.right(Count(value=4.0, sigma=0.2)) == UNDECIDED
    assert four.right(Count(value=5.0, p_complete=0.9)) == UNDECIDED


def test_its_line_is_read_back() -> None:
    answer = Count(value=4.0, sigma=0.1, p_complete=0.97)
    question = asked(answer, "numeric", prompt="How many chairs are there?")
    assert recorded_answer(question) == answer and question.answer == 4 and type(question.answer) is int


@pytest.mark.parametrize(("reply", "score"), [("4", 1.0), ("four", 1.0), ("5", 0.0), ("4.2", 0.0), ("-4", 0.0)])
def test_only_the_same_whole_number_is_right(reply: str, score: float) -> None:
    question = asked(Count(value=4.0), "numeric")
    assert own.score(question, f"<answer>{reply}</answer>").value == score


def test_the_format_asks_for_a_whole_number_and_guesses_one() -> None:
    question = asked(Count(value=4.0), "numeric")
    form = format_of("numeric")
    assert form.form(question) == "one whole number"
    assert [own.score_read(question, value).value for value in form.near_misses(question)] == [0.0, 0.0]
    assert all(type(form.guess(question, np.random.default_rng(seed))) is int for seed in range(20))


def test_the_benchmark_scores_it_as_a_number() -> None:
    found = row(asked(Count(value=4.0), "numeric"))
    assert not isinstance(found, Unscored) and found["answer"] == "4" and "meanrelativeacc" in found["extra_info"]
    assert isinstance(row(asked(Count(value=0.0), "numeric")), Unscored)


def test_a_question_without_a_whole_number_is_not_scored() -> None:
    assert own.score(replace(asked(Count(value=4.0), "numeric"), value=4.5), "4") == Unscored(
        reason="no whole number of counted objects"
    )


def test_a_stack_gives_the_results_of_each() -> None:
    some = [Count(value=float(n), sigma=n / 20, p_complete=1 - n / 10) for n in range(4)]
    whole = stacked(some)
    np.testing.assert_array_equal(whole.p_right(), [one.p_right() for one in some])
    assert whole.repeats(some[2]).tolist() == [False, False, True, False]
    assert [whole.row(k) for k in range(4)] == some
    assert whole.take([3, 1]).right(Count(value=3.0)).tolist() == [RIGHT, WRONG]
