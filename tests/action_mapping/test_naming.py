"""Names of motion have a margin in σ, and are not given where camera axes and levelled axes disagree."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from action_mapping import (
    NamedMotion,
    agreed_rotation,
    agreed_translation,
    dominant_rotation,
    dominant_translation,
    read_motion,
)
from action_mapping.primitives import COMPONENTS
from tests.action_mapping.paths import DOWN_Y_UP, MOVES, posed, random_walks

DISAGREE = "camera axes and levelled axes name it differently"


def components(**given: float) -> np.ndarray:
    return np.array([[given.get(name, 0.0) for name in COMPONENTS]])


def read(a: np.ndarray, b: np.ndarray, up_world: np.ndarray | None = DOWN_Y_UP):  # type: ignore[no-untyped-def]
    return read_motion(a[None], b[None], up_world)


def assert_equal(one: NamedMotion, other: NamedMotion) -> None:
    for (name, mine), theirs in zip(asdict(one).items(), asdict(other).values(), strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg=name)


def taken(named: NamedMotion, rows: np.ndarray) -> NamedMotion:
    return NamedMotion(**{name: column[rows] for name, column in asdict(named).items()})


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_each_primitive_has_its_name(move) -> None:  # type: ignore[no-untyped-def]
    one = components(**{move.component: 0.3 * move.sign})
    if move.unit == "rad":
        named = dominant_rotation(one, sigma_rad=0.01, threshold_rad=0.1)
    else:
        named = dominant_translation(one, direction_sigma_rad=0.05)
    assert (named.name[0], named.reason[0], named.basis[0]) == (move.name, "", "camera axes")
    assert (named.amount[0], named.purity[0]) == pytest.approx((0.3 * move.sign, 1.0))


def test_the_margin_of_a_rotation_is_the_smaller_of_border_and_threshold() -> None:
    named = dominant_rotation(components(pan_rad=0.3, roll_rad=-0.2), sigma_rad=0.01, threshold_rad=0.05)
    assert named.margin == pytest.approx([0.1 / (math.sqrt(2) * 0.01)])
    named = dominant_rotation(components(pan_rad=0.3), sigma_rad=0.01, threshold_rad=0.29)
    assert named.margin == pytest.approx([1.0])


@pytest.mark.parametrize(("pan", "roll"), [(0.3, 0.2), (0.2, 0.3), (-0.25, 0.15), (0.1, -0.4)])
def test_the_focal_margin_is_where_the_name_changes(pan: float, roll: float) -> None:
    """Pixels determine pan · f: an error of the focal length of `margin` σ makes pan and roll equal."""
    sigma_f = 0.2
    named = dominant_rotation(
        components(pan_rad=pan, roll_rad=roll), sigma_rad=0.0, threshold_rad=0.01, turn_relative_sigma=sigma_f
    )
    longer = 1.0 if abs(pan) > abs(roll) else -1.0
    assert abs(pan) / (1.0 + longer * named.margin[0] * sigma_f) == pytest.approx(abs(roll))


def test_pan_against_tilt_does_not_depend_on_the_focal() -> None:
    named = dominant_rotation(
        components(pan_rad=0.3, tilt_rad=0.2), sigma_rad=0.01, threshold_rad=0.01, turn_relative_sigma=0.2
    )
    assert named.margin == pytest.approx([0.1 / (math.sqrt(2) * 0.01)])


def test_a_rotation_that_is_exact_has_an_infinite_margin() -> None:
    named = dominant_rotation(components(pan_rad=0.3), sigma_rad=0.0, threshold_rad=0.1)
    assert named.margin.tolist() == [math.inf]


def test_the_margin_of_a_translation_is_the_angle_to_the_border() -> None:
    angle = math.radians(20.0)
    one = components(dolly=math.cos(angle), truck=math.sin(angle))
    named = dominant_translation(one, direction_sigma_rad=0.05)
    assert named.name.tolist() == ["Dolly In"]
    assert named.margin == pytest.approx([math.radians(25.0) / 0.05])


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (components(truck=math.nan, pedestal=math.nan, dolly=math.nan), "translation not known"),
        (components(dolly=0.02), "the translation is within its noise"),
        (components(), "the translation is within its noise"),
    ],
)
def test_no_name_where_there_is_no_translation(one: np.ndarray, reason: str) -> None:
    named = dominant_translation(one, direction_sigma_rad=0.05, position_sigma=0.01)
    assert (named.name[0], named.basis[0], named.reason[0]) == ("", "", reason)
    assert np.isnan([named.amount, named.purity, named.margin]).all()


@pytest.mark.parametrize(
    ("pan", "reason"), [(0.1, "rotation below threshold"), (math.nan, "rotation not known"), (0.11, "")]
)
def test_no_name_below_the_threshold(pan: float, reason: str) -> None:
    named = dominant_rotation(components(pan_rad=pan), sigma_rad=0.01, threshold_rad=0.1)
    assert (named.name[0], named.reason[0]) == ("" if reason else "Pan Right", reason)


def test_both_readings_must_agree() -> None:
    steep = read(posed(0, -60), posed(20, -60))  # mostly roll in camera axes, a pan when levelled
    named = agreed_rotation(steep, sigma_rad=0.001, threshold_rad=0.05)
    assert (named.name[0], named.reason[0]) == ("", DISAGREE)
    gentle = agreed_rotation(read(posed(0, -20), posed(20, -20)), sigma_rad=0.001, threshold_rad=0.05)
    assert (gentle.name[0], gentle.basis[0]) == ("Pan Right", "camera axes and levelled")


@pytest.mark.parametrize(("pitch", "up"), [(0.0, None), (80.0, DOWN_Y_UP)])
def test_without_levelled_axes_the_name_holds_in_camera_axes(pitch: float, up: np.ndarray | None) -> None:
    ahead = posed(0, pitch)
    ahead[:3, 3] = ahead[:3, 2]
    named = agreed_translation(read(posed(0, pitch), ahead, up), direction_sigma_rad=0.05)
    assert (named.name[0], named.basis[0]) == ("Dolly In", "camera axes")


def test_an_uncertain_up_lowers_the_margin() -> None:
    reading = read(posed(0, -20), posed(20, -20))
    sure, doubtful = (
        agreed_rotation(reading, sigma_rad=0.005, threshold_rad=0.05, up_sigma_rad=sigma) for sigma in (0.0, 0.3)
    )
    assert doubtful.margin[0] < sure.margin[0]


def test_margins_are_calibrated() -> None:
    """A name with a margin of m σ is kept under noise as often as m σ implies."""
    rng = np.random.default_rng(0)
    truth = components(pan_rad=0.12, tilt_rad=0.1)
    named = dominant_rotation(truth, sigma_rad=0.01, threshold_rad=0.02)
    noisy = np.repeat(truth, 20000, axis=0)
    noisy[:, :2] += 0.01 * rng.normal(size=(20000, 2))
    kept = np.mean(dominant_rotation(noisy, sigma_rad=0.01, threshold_rad=0.02).name == named.name)
    assert kept == pytest.approx(0.5 * (1.0 + math.erf(named.margin[0] / math.sqrt(2.0))), abs=0.01)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_rows_do_not_influence_each_other(seed: int, up_known: bool) -> None:
    """Names of some rows are those rows of the names of all; single rows and no rows included."""
    rng = np.random.default_rng(seed)
    a, b = random_walks(rng, 30)
    b[rng.random(30) < 0.2, :3, 3] = np.nan
    a[rng.random(30) < 0.2] = np.nan
    sigma, up_sigma = rng.uniform(0.001, 0.1, size=(2, 30))

    def names(rows: np.ndarray) -> list[NamedMotion]:
        reading = read_motion(a[rows], b[rows], DOWN_Y_UP if up_known else None)
        up = {"up_sigma_rad": up_sigma[rows]}
        return [
            agreed_rotation(reading, sigma_rad=sigma[rows], threshold_rad=0.05, turn_relative_sigma=0.1, **up),
            agreed_translation(reading, direction_sigma_rad=sigma[rows], position_sigma=sigma[rows], **up),
        ]

    together = names(np.arange(30))
    for rows in (rng.permutation(30)[:9], np.arange(0), rng.integers(30, size=1)):
        for whole, part in zip(together, names(rows), strict=True):
            assert_equal(part, taken(whole, rows))


def test_a_sigma_may_be_one_number_for_all_rows() -> None:
    reading = read_motion(*random_walks(np.random.default_rng(0), 20), DOWN_Y_UP)
    rotations, translations = zip(
        *(
            (
                agreed_rotation(reading, sigma_rad=sigma, threshold_rad=0.05, up_sigma_rad=sigma),
                agreed_translation(reading, direction_sigma_rad=sigma, position_sigma=sigma, up_sigma_rad=sigma),
            )
            for sigma in (0.01, np.full(20, 0.01))
        ),
        strict=True,
    )
    assert_equal(*rotations)
    assert_equal(*translations)
