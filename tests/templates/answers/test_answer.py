"""P(right) and verdicts of single answers and of stacks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from action_mapping.pair_plan import in_whole_steps
from action_mapping.primitives import COMPONENTS
from action_mapping.replay import moved_by, residuals
from action_mapping.replay import replay as followed
from templates.answers import RIGHT, UNDECIDED, WRONG, Answer, Label, Numbers, Plan, Point, Shape
from templates.answers.answer import stacked
from templates.answers.plan import p_within
from templates.unanswerable import UNDETERMINED


def p_right(answer: Answer) -> float:
    return float(answer.p_right())


def right(answer: Answer, truth: Answer) -> bool | None:
    return {RIGHT: True, UNDECIDED: None, WRONG: False}[int(answer.right(truth))]


def numbers(value: list[float], sigma: float, tolerance: float, period: float | None = None) -> Numbers:
    n = len(value)
    return Numbers(
        names=tuple("abc"[:n]),
        value=np.array(value),
        sigma=np.full(n, float(sigma)),
        tolerance=np.full(n, float(tolerance)),
        unit="",
        period=period,
    )


@pytest.mark.parametrize(("count", "k"), [(1, 2.58), (2, 2.81), (3, 2.94)])
def test_numbers_are_decided_at_the_stated_multiple_of_sigma(count: int, k: float) -> None:
    assert p_right(numbers([0.0] * count, 1.0, k)) == pytest.approx(0.99, abs=3e-4)


def test_points_and_labels_likewise() -> None:
    point = Point(xy_px=np.zeros(2), sigma_px=1.0, tolerance_px=3.04)
    assert p_right(point) == pytest.approx(0.99, abs=3e-4)
    assert p_right(Label(text="A", margin=2.33)) == pytest.approx(0.99, abs=3e-4)


def test_outlier_probability_counts() -> None:
    assert p_right(Label(text="A", margin=9.0, outlier_probability=0.05)) == pytest.approx(0.95)


def test_an_unknown_sigma_gives_p_right_0() -> None:
    assert p_right(numbers([1.0], np.inf, 5.0)) == 0
    assert p_right(numbers([np.nan], np.nan, 5.0)) == 0


def test_labels_are_right_if_they_are_the_true_one_and_the_truth_is_clear() -> None:
    assert right(Label(text="A", margin=3), Label(text="A", margin=10)) is True
    assert right(Label(text="A", margin=3), Label(text="B", margin=10)) is False
    assert right(Label(text="A", margin=3), Label(text="B", margin=2.9)) is None


@given(st.floats(-180, 180), st.floats(-4.9, 4.9))
def test_angles_differ_by_half_a_period_at_most(angle: float, error: float) -> None:
    wrapped = (angle + error + 180) % 360 - 180
    assert right(numbers([angle], 1, 5, 360), numbers([wrapped], 1e-6, 5, 360)) is True


def test_numbers_near_the_tolerance_are_undecidable_with_an_uncertain_truth() -> None:
    assert right(numbers([0.0], 1, 5), numbers([4.0], 0.5, 5)) is None
    assert right(numbers([0.0], 1, 5), numbers([4.0], 0.1, 5)) is True
    assert right(numbers([0.0, 0.0], 1, 5), numbers([4.9, 9.0], 1.0, 5)) is False


def test_a_truth_that_lacks_a_number_does_not_decide_and_one_with_more_does() -> None:
    assert right(numbers([0.0, 0.0], 1, 5), numbers([0.0], 0.1, 5)) is None
    assert right(numbers([0.0], 1, 5), numbers([0.0, 99.0], 0.1, 5)) is True


def test_shapes_and_points() -> None:
    square = Shape(points=np.array([[0.0, 0], [1, 0], [1, 1]]), sigma=0.01, tolerance=0.15)
    moved = Shape(points=square.points + 0.3, sigma=0.001, tolerance=0.15)
    assert right(square, moved) is False
    assert right(square, square) is True
    here, there = (Point(xy_px=np.array([x, 0.0]), sigma_px=0.1, tolerance_px=16) for x in (0.0, 17.0))
    assert right(here, there) is False


def test_different_types_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="cannot compare Numbers with Shape"):
        right(numbers([1.0], 1, 5), Shape(points=np.zeros((3, 2)), sigma=0.01, tolerance=0.15))


def test_a_point_and_the_label_cannot_be_determined_exclude_each_other() -> None:
    point = Point(xy_px=np.zeros(2), sigma_px=1.0, tolerance_px=3.0)
    said, doubted = (Label(text=UNDETERMINED, margin=margin) for margin in (3.1, 2.9))
    assert right(said, point) is False and right(point, said) is False
    assert right(point, doubted) is None


def plan(amounts: dict[str, float], sigma: float = 0.01, outlier_probability: float = 0.0) -> Plan:
    """The nearest whole steps of 0.5 and 10°; σ in path units, a tenth of it in rad."""
    target, step = np.array([amounts.get(name, 0.0) for name in COMPONENTS]), float(np.radians(10.0))
    return Plan(
        counts=np.rint(target / np.repeat([step, 0.5], 3)),
        translation_step=0.5,
        rotation_step_rad=step,
        amounts=target,
        sigma=np.array([sigma / 10 if name.endswith("_rad") else sigma for name in COMPONENTS]),
        outlier_probability=outlier_probability,
    )


@pytest.mark.parametrize(("off", "sigma"), [(0.0, 0.3), (0.4, 0.25), (0.9, 0.2), (1.5, 0.4), (0.5, 3.0)])
def test_the_probability_of_a_point_in_a_ball_equals_that_of_sampling(off: float, sigma: float) -> None:
    points = np.random.default_rng(0).normal(size=(400_000, 3)) * sigma + [off, 0, 0]
    assert p_within(off, sigma, 1.0) == pytest.approx(np.mean(np.linalg.norm(points, axis=1) <= 1), abs=3e-3)


def test_a_ball_without_sigma_and_with_an_unknown_one() -> None:
    assert p_within(0.5, np.float64(0.0), 1.0) == 1 and p_within(1.5, np.float64(0.0), 1.0) == 0
    assert p_within(0.5, np.inf, 1.0) == pytest.approx(0) and not p_within(0.5, np.nan, 1.0) > 0


def test_plans_are_certain_where_rounding_and_sigma_stay_within_a_step() -> None:
    assert p_right(plan({"dolly": 2.0, "pan_rad": 0.35})) > 0.999
    assert p_right(plan({"dolly": 2.0, "pan_rad": 0.35}, outlier_probability=0.05)) == pytest.approx(0.95, abs=1e-3)
    assert p_right(plan({"dolly": 2.2}, sigma=0.2)) < 0.9
    assert p_right(plan({"dolly": 2.0}, sigma=np.inf)) == 0


def test_plans_are_right_if_they_end_within_a_step_and_the_truth_is_clear() -> None:
    answer = plan({"dolly": 2.0, "truck": -1.0, "pan_rad": 0.35})
    near = {"dolly": 2.2, "truck": -1.2, "pan_rad": 0.45}
    assert right(answer, plan(near)) is True
    assert right(answer, plan({**near, "truck": 1.0})) is False
    assert right(answer, plan({**near, "tilt_rad": 0.3})) is False
    assert right(answer, plan({**near, "dolly": 2.45})) is None
    assert right(answer, plan(near, sigma=0.2)) is None


def test_a_plan_ends_where_its_replay_does() -> None:
    amounts = {"dolly": 2.1, "truck": -1.2, "pan_rad": 0.5, "tilt_rad": -0.3, "roll_rad": 0.2}
    steps = in_whole_steps(amounts, 0.5, float(np.radians(10.0)))  # type: ignore[arg-type]
    there, end = moved_by({**dict.fromkeys(COMPONENTS, 0.0), **amounts}), followed(np.eye(4), steps)  # type: ignore
    (left,) = residuals(there[None], end[None])
    answer = plan(amounts)
    expected = [left.translation / 0.5, left.rotation_rad / np.radians(10.0)]
    np.testing.assert_allclose(answer.residual(answer.amounts), expected, atol=1e-12)


def label(text: str, margin: float = 9.0) -> Label:
    return Label(text=text, margin=margin)


def point(x: float) -> Point:
    return Point(xy_px=np.array([x, 1.0]), sigma_px=2.0, tolerance_px=9.0)


def shape(x: float) -> Shape:
    return Shape(points=np.full((4, 2), x), sigma=0.02, tolerance=0.1)


PAIRS: dict[str, list[tuple[Answer, Answer]]] = {
    "label": [(label("up", m), label(b, m)) for b, m in (("up", 9.0), ("down", 8.0), ("down", 1.0))],
    "numbers": [(numbers([180.0 - a], 1, 5, 360), numbers([a - 180.0], 0.1, 5, 360)) for a in (1.0, 9.0, 2.4)],
    "point": [(point(0.0), point(x)) for x in (1.0, 8.9, 30.0)],
    "shape": [(shape(0.0), shape(x)) for x in (0.0, 0.07, 0.5)],
    "plan": [(plan({"dolly": 2.2, "pan_rad": 0.3}), plan({"dolly": z, "pan_rad": 0.3})) for z in (2.2, 2.48, 4.0)],
}


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
def test_a_stack_gives_the_results_of_each_of_its_answers(pairs: list[tuple[Answer, Answer]]) -> None:
    answers, truths = (stacked(list(column)) for column in zip(*pairs, strict=True))
    np.testing.assert_array_equal(answers.p_right(), [p_right(answer) for answer, _ in pairs])
    verdicts = answers.right(truths)
    assert verdicts.shape == (3,) and verdicts.tolist() == [int(answer.right(truth)) for answer, truth in pairs]
    assert len(set(verdicts.tolist())) == 3


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
def test_an_empty_stack_gives_empty_results(pairs: list[tuple[Answer, Answer]]) -> None:
    none = stacked([answer for answer, _ in pairs]).take([])
    assert none.p_right().shape == none.right(none).shape == none.repeats(none).shape == (0,)


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
def test_rows_of_a_stack_are_the_answers_that_were_stacked(pairs: list[tuple[Answer, Answer]]) -> None:
    truths = [replace(truth, outlier_probability=k / 8) for k, (_, truth) in enumerate(pairs)]
    whole = stacked(truths)
    for some in (whole.take([2, 0]), whole.take(np.array([2, 0])), stacked([truths[2], truths[0]])):
        for k, truth in enumerate((truths[2], truths[0])):
            assert some.row(k).to_json() == truth.to_json()
            assert type(some.row(k).outlier_probability) is float
            assert float(some.row(k).p_right()) == p_right(truth)
    assert whole.take(np.array([False, True, False])).row(0).to_json() == truths[1].to_json()


def test_what_all_rows_share_stays() -> None:
    ones = np.ones((2, 2))
    whole = Numbers(names=("a", "b"), value=np.eye(2), sigma=ones, tolerance=ones, unit="m")
    assert whole.take([1]).names == ("a", "b") and whole.take([1]).outlier_probability == 0.0
    assert whole.take([1]).value.tolist() == [[0.0, 1.0]] and whole.row(1).value.tolist() == [0.0, 1.0]
    labels = Label(text=np.array(["up", "down"]), margin=9.0)
    assert labels.row(1) == Label(text="down", margin=9.0) and type(labels.row(1).text) is str


def test_a_row_of_shapes_of_unequal_lengths_ends_where_its_shape_does() -> None:
    points = np.full((2, 4, 2), np.nan)
    points[0], points[1, :2] = 1.0, [[0.0, 1.0], [2.0, 3.0]]
    shapes = Shape(points=points, sigma=0.02, tolerance=0.1)
    assert shapes.row(1).to_json().value == [[0.0, 1.0], [2.0, 3.0]] and len(shapes.row(0).points) == 4


def test_a_stack_holds_plans_of_different_fractions() -> None:
    eighth, metres = replace(plan({"dolly": 2.0}), step_fraction=8), plan({"dolly": 2.0})
    whole = stacked([eighth, replace(metres, step_fraction=np.nan)])
    for k, single in enumerate((eighth, metres)):
        assert whole.row(k).to_json() == single.to_json()
        assert type(whole.row(k).step_fraction) is type(single.step_fraction)


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
def test_a_stack_repeats_one_answer_row_by_row(pairs: list[tuple[Answer, Answer]]) -> None:
    truths = [truth for _, truth in pairs]
    for one in truths:
        found = stacked(truths).repeats(one)
        assert found.shape == (3,) and found.tolist() == [bool(truth.repeats(one)) for truth in truths]


def test_numbers_and_points_repeat_within_their_tolerance() -> None:
    truths = stacked([point(x) for x in (1.0, 8.9, 30.0)])
    assert truths.repeats(point(0.0)).tolist() == [True, True, False]
    other = replace(numbers([1.0], 1, 5), names=("b",))
    assert stacked([numbers([1.0], 1, 5), numbers([9.0], 1, 5)]).repeats(other).tolist() == [False, False]
