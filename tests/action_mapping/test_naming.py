"""Names of motion have a margin in σ, and are not given where camera axes and levelled axes disagree."""

import math

import numpy as np
import pytest

from action_mapping import (
    MotionComponents,
    NamedMotion,
    Unnamed,
    agreed_rotation,
    agreed_translation,
    dominant_rotation,
    dominant_translation,
    read_motion,
)
from tests.action_mapping.paths import DOWN_Y_UP, MOVES, posed


def components(**given: float) -> MotionComponents:
    return MotionComponents(**{name: given.get(name, 0.0) for name in MotionComponents.__annotations__})


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_each_primitive_has_its_name(move) -> None:  # type: ignore[no-untyped-def]
    one = components(**{move.component: 0.3 * move.sign})
    if move.unit == "rad":
        named = dominant_rotation(one, sigma_rad=0.01, threshold_rad=0.1)
    else:
        named = dominant_translation(one, direction_sigma_rad=0.05)
    assert isinstance(named, NamedMotion)
    assert (named.primitive, named.purity) == (move, pytest.approx(1.0))


def test_the_margin_of_a_rotation_is_the_smaller_of_border_and_threshold() -> None:
    named = dominant_rotation(components(pan_rad=0.3, roll_rad=-0.2), sigma_rad=0.01, threshold_rad=0.05)
    assert isinstance(named, NamedMotion)
    assert named.margin == pytest.approx(0.1 / (math.sqrt(2) * 0.01))
    named = dominant_rotation(components(pan_rad=0.3), sigma_rad=0.01, threshold_rad=0.29)
    assert isinstance(named, NamedMotion)
    assert named.margin == pytest.approx(1.0)


@pytest.mark.parametrize(("pan", "roll"), [(0.3, 0.2), (0.2, 0.3), (-0.25, 0.15), (0.1, -0.4)])
def test_the_focal_margin_is_where_the_name_changes(pan: float, roll: float) -> None:
    """Pixels determine pan · f: an error of the focal length of `margin` σ makes pan and roll equal."""
    sigma_f = 0.2
    named = dominant_rotation(
        components(pan_rad=pan, roll_rad=roll), sigma_rad=0.0, threshold_rad=0.01, focal_relative_sigma=sigma_f
    )
    assert isinstance(named, NamedMotion)
    longer = 1.0 if abs(pan) > abs(roll) else -1.0
    assert abs(pan) / (1.0 + longer * named.margin * sigma_f) == pytest.approx(abs(roll))


def test_pan_against_tilt_does_not_depend_on_the_focal() -> None:
    named = dominant_rotation(
        components(pan_rad=0.3, tilt_rad=0.2), sigma_rad=0.01, threshold_rad=0.01, focal_relative_sigma=0.2
    )
    assert isinstance(named, NamedMotion)
    assert named.margin == pytest.approx(0.1 / (math.sqrt(2) * 0.01))


def test_the_margin_of_a_translation_is_the_angle_to_the_border() -> None:
    angle = math.radians(20.0)
    one = components(dolly=math.cos(angle), truck=math.sin(angle))
    named = dominant_translation(one, direction_sigma_rad=0.05)
    assert isinstance(named, NamedMotion)
    assert named.primitive.name == "Dolly In"
    assert named.margin == pytest.approx(math.radians(25.0) / 0.05)


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (components(truck=math.nan, pedestal=math.nan, dolly=math.nan), "translation not known"),
        (components(dolly=0.02), "the translation is within its noise"),
        (components(), "the translation is within its noise"),
    ],
)
def test_no_name_where_there_is_no_translation(one: MotionComponents, reason: str) -> None:
    assert dominant_translation(one, direction_sigma_rad=0.05, position_sigma=0.01) == Unnamed(reason=reason)


def test_no_name_below_the_threshold() -> None:
    named = dominant_rotation(components(pan_rad=0.1), sigma_rad=0.01, threshold_rad=0.1)
    assert named == Unnamed(reason="rotation below threshold")


def test_both_readings_must_agree() -> None:
    steep = read_motion(posed(0, -60), posed(20, -60), DOWN_Y_UP)  # mostly roll in camera axes, a pan when levelled
    named = agreed_rotation(steep, sigma_rad=0.001, threshold_rad=0.05)
    assert named == Unnamed(reason="camera axes and levelled axes name it differently")
    gentle = agreed_rotation(read_motion(posed(0, -20), posed(20, -20), DOWN_Y_UP), sigma_rad=0.001, threshold_rad=0.05)
    assert isinstance(gentle, NamedMotion)
    assert (gentle.primitive.name, gentle.basis) == ("Pan Right", "camera axes and levelled")


def test_without_up_the_name_holds_in_camera_axes() -> None:
    named = agreed_translation(read_motion(posed(), posed(xyz=(0.0, 0.0, 1.0))), direction_sigma_rad=0.05)
    assert isinstance(named, NamedMotion)
    assert (named.primitive.name, named.basis) == ("Dolly In", "camera axes")


def test_an_uncertain_up_lowers_the_margin() -> None:
    reading = read_motion(posed(0, -20), posed(20, -20), DOWN_Y_UP)
    sure, doubtful = (
        agreed_rotation(reading, sigma_rad=0.005, threshold_rad=0.05, up_sigma_rad=sigma) for sigma in (0.0, 0.3)
    )
    assert isinstance(sure, NamedMotion)
    assert isinstance(doubtful, NamedMotion)
    assert doubtful.margin < sure.margin


def test_margins_are_calibrated() -> None:
    """A name with a margin of m σ is kept under noise as often as m σ implies."""
    rng = np.random.default_rng(0)
    truth = components(pan_rad=0.12, tilt_rad=0.1)
    named = dominant_rotation(truth, sigma_rad=0.01, threshold_rad=0.02)
    assert isinstance(named, NamedMotion)
    pans, tilts = (value + 0.01 * rng.normal(size=20000) for value in (0.12, 0.1))
    kept = np.mean(np.abs(pans) > np.abs(tilts))
    assert kept == pytest.approx(0.5 * (1.0 + math.erf(named.margin / math.sqrt(2.0))), abs=0.01)
