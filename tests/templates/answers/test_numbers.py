"""Numbers with units and periods of their own, object angles among them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.leaks.baselines import majority
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.scoring import own
from templates.answers import RIGHT, UNDECIDED, WRONG, Numbers
from templates.answers.answer import stacked
from templates.answers.registry import format_of, recorded_answer
from tests.templates.answers.by_hand import asked

ANGLES = ("azimuth", "polar", "rotation")


def angles(*value: float, fronts: int = 1, sigma: float = 4.0) -> Numbers:
    """Orientation of an object that looks the same from `fronts` sides; the polar angle does not repeat."""
    return Numbers(
        names=ANGLES,
        value=np.array(value),
        sigma=np.full(3, sigma),
        tolerance=np.array([20.0, 15.0, 15.0]),
        unit="deg",
        period=(360 / fronts, np.nan, 360.0),
    )


def mixed() -> Numbers:
    """A direction and a distance."""
    return Numbers(
        names=("azimuth", "distance"),
        value=np.array([170.0, 2.5]),
        sigma=np.array([3.0, 0.1]),
        tolerance=np.array([15.0, 0.4]),
        unit=("deg", "m"),
        period=(360.0, np.nan),
    )


def reply(azimuth: float, polar: float, rotation: float) -> str:
    return f'<answer>{{"azimuth": {azimuth}, "polar": {polar}, "rotation": {rotation}}}</answer>'


@pytest.mark.parametrize("answer", [angles(100.0, 60.0, 5.0, fronts=2), mixed()], ids=["angles", "mixed"])
def test_a_line_keeps_units_and_periods_of_each_number(answer: Numbers) -> None:
    read = recorded_answer(asked(answer, "json"))
    assert isinstance(read, Numbers) and read.to_json().scorer_params == answer.to_json().scorer_params
    assert read.units == answer.units
    np.testing.assert_array_equal(read.periods, answer.periods)


def test_one_unit_and_one_period_are_written_once() -> None:
    answer = Numbers(
        names=("a", "b"), value=np.ones(2), sigma=np.ones(2), tolerance=np.ones(2), unit="deg", period=(360.0, 360.0)
    )
    recorded = answer.to_json()
    assert recorded.unit == "deg" and recorded.scorer_params == {"period": 360.0}


def test_angles_wrap_by_their_own_period() -> None:
    question = asked(angles(175.0, 60.0, 5.0, fronts=2), "json")
    assert own.score(question, reply(-5.0, 60.0, 365.0)).value == 1.0  # half a turn of azimuth looks the same
    assert own.score(question, reply(175.0, 60.0, 185.0)).value == 0.0
    assert own.score(question, reply(175.0, 420.0, 5.0)).value == 0.0


def test_object_angles_have_the_mean_of_three_gaussian_kernels() -> None:
    question = asked(angles(175.0, 60.0, 5.0, fronts=4), "json")
    score = own.score(question, reply(89.0, 56.0, 1.0))  # 175 - 90 = 85
    assert score.detail["gaussian"] == pytest.approx(math.exp(-0.5))
    assert score.detail["error"] == pytest.approx({"azimuth": 4.0, "polar": -4.0, "rotation": -4.0})


def test_differences_wrap_only_what_repeats() -> None:
    truth = replace(mixed(), value=np.array([-178.0, 2.25]))
    assert mixed().difference(truth)[0] == pytest.approx({"azimuth": -12.0, "distance": 0.25})
    assert mixed().right(truth) == UNDECIDED and mixed().right(mixed()) == RIGHT
    assert mixed().right(replace(truth, value=np.array([170.0, 362.5]))) == WRONG


def test_the_form_and_the_tolerance_name_each_unit() -> None:
    question = asked(mixed(), "json")
    assert format_of("json").form(question).endswith('each of "azimuth" (in degrees), "distance" (in metres)')
    assert recorded_answer(question).tolerance_in_words() == "azimuth ±15°, distance ±0.4 m"
    assert own.score(question, '<answer>{"azimuth": -178, "distance": 2.6}</answer>').value == 1.0


def test_a_guess_keeps_to_the_range_of_its_number() -> None:
    question = asked(mixed(), "json")
    rng = np.random.default_rng(0)
    drawn = [format_of("json").guess(question, rng) for _ in range(50)]
    assert max(abs(one["azimuth"]) for one in drawn) > 90 and min(one["distance"] for one in drawn) >= 0.3
    missed = list(format_of("json").near_misses(question))
    assert len(missed) == 3 and all(own.score_read(question, value).value == 0 for value in missed)


def test_a_stack_wraps_each_row_by_its_own_period() -> None:
    some = [angles(10.0, 60.0, 0.0, fronts=fronts) for fronts in (1, 2, 4)]
    others = [angles(10.0 + 360 / fronts, 60.0, 0.0, fronts=fronts) for fronts in (1, 1, 4)]
    assert stacked(some).periods[:, 0].tolist() == [360.0, 180.0, 90.0]
    assert stacked(some).repeats(stacked(others)).tolist() == [True, True, True]
    assert stacked(some).repeats(angles(190.0, 60.0, 0.0)).tolist() == [False, True, True]
    for k, one in enumerate(some):
        assert stacked(some).row(k).to_json() == one.to_json()


def test_the_leak_audit_guesses_numbers_with_periods_of_their_own() -> None:
    questions = [asked(angles(10.0, 60.0, 0.0, fronts=1 + n % 2), "json", number=n) for n in range(8)]
    guesses = majority(QuestionTable.of(questions), np.arange(8) // 4)
    assert guesses.hits.tolist() == [1.0] * 8
