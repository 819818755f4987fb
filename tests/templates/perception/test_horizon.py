"""Horizon and up, drawn into photos of cameras that are held in known ways."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Calibration, Gravity, Signal
from templates.perception.horizon import HorizonLine, UpArrow
from templates.scene.attitude import elevation_rad, sigma_rad, up_in_photo_rad, up_of
from tests.templates import worlds

LINE, ARROW = HorizonLine(), UpArrow()
CAMERA = Calibration(intrinsics=worlds.CAMERA, focal_relative_sigma=0.01, provenance=worlds.SOURCE)


def held(roll_deg: float, pitch_deg: float, sigma_deg: float = 0.5) -> dict[str, Signal]:
    """Ten frames with the same roll and pitch."""
    gravity = worlds.signals()["gravity"]
    assert isinstance(gravity, Gravity)
    up = np.tile(up_of(np.array(float(roll_deg)), np.array(float(pitch_deg))), (10, 1))
    sigma = np.full(10, np.radians(sigma_deg))
    return {"gravity": replace(gravity, frames=np.arange(10), up_cam=up, sigma_rad=sigma), "calibration": CAMERA}


def test_the_horizon_of_a_level_camera_is_the_row_of_its_principal_point() -> None:
    up = up_of(np.zeros(1), np.zeros(1))
    xy = np.array([[[0.0, 239.5], [639.0, 239.5], [319.5, 0.0]]])
    np.testing.assert_allclose(elevation_rad(worlds.CAMERA, up, xy)[0, :2], 0, atol=1e-12)
    assert elevation_rad(worlds.CAMERA, up, xy)[0, 2] == pytest.approx(np.arctan(239.5 / 600))


def test_up_in_the_middle_of_the_photo_leans_against_the_roll() -> None:
    middle = np.array([[319.5, 239.5]] * 2)
    lean = up_in_photo_rad(worlds.CAMERA, up_of(np.array([20.0, -35.0]), np.array([0.0, 30.0])), middle)
    np.testing.assert_allclose(np.degrees(lean), [-20, 35], atol=0.01)


def test_sigma_of_an_angle_is_that_of_gravity_and_grows_with_that_of_the_focal_length() -> None:
    up, xy = up_of(np.zeros(1), np.array([-10.0])), np.array([[[319.5, 100.0]]])

    def sigma(focal: float) -> float:
        found = sigma_rad(lambda c, u: elevation_rad(c, u, xy), worlds.CAMERA, focal, up, np.array([0.01]))
        return float(found[0, 0])

    assert sigma(0.0) == pytest.approx(0.01, rel=0.05)
    angle = np.arctan(139.5 / 600)
    assert sigma(0.05) == pytest.approx(np.hypot(0.01, 0.05 * np.sin(2 * angle) / 2), rel=0.1)


@pytest.mark.parametrize(("roll", "pitch"), [(0, -8), (8, 0), (-10, 6), (0, 0)])
def test_the_right_line_is_as_high_as_the_camera_and_the_wrong_ones_are_not(roll: float, pitch: float) -> None:
    drafts = worlds.drafts(worlds.ask(LINE, held(roll, pitch)))
    assert drafts
    up = up_of(np.array(float(roll)), np.array(float(pitch)))
    for draft in drafts:
        rise = np.degrees(np.arcsin(worlds.CAMERA.rays(np.array(draft.fact["lines_px"])) @ up))
        error, right = np.abs(rise).max(axis=1), int(draft.answer.to_json().value) - 1
        assert error[right] < 0.1 and np.delete(error, right).min() > 3
        assert all(option.mistake for k, option in enumerate(draft.options) if k != worlds.written(draft))


def test_each_place_of_the_right_option_and_each_mistake_occurs() -> None:
    drafts = worlds.drafts(worlds.ask(LINE, held(8, -6), facts=60))
    assert {draft.answer.to_json().value for draft in drafts} == {"1", "2", "3", "4"}
    mistakes = {option.mistake for draft in drafts for option in draft.options}
    assert {"looking up and down confused", "rolled to the other side", "too high", "leaning to the left"} <= mistakes


@pytest.mark.parametrize(("roll", "pitch"), [(25, 0), (-20, -30), (0, -40)])
def test_the_right_arrow_is_parallel_to_gravity(roll: float, pitch: float) -> None:
    drafts = worlds.drafts(worlds.ask(ARROW, held(roll, pitch)))
    up = up_of(np.array(float(roll)), np.array(float(pitch)))
    assert drafts or roll == 0
    for draft in drafts:
        start, tips = np.array(draft.fact["from_px"]), np.array(draft.fact["tips_px"])
        arrow = tips[int(draft.answer.to_json().value) - 1]
        normal = np.cross(*worlds.CAMERA.rays(np.array([start, arrow])))  # up lies in the plane of the arrow
        assert abs(normal @ up) / np.linalg.norm(normal) < 0.01
        mirrored = start + (arrow - start) * [-1, 1]
        assert np.linalg.norm(tips - mirrored, axis=1).min() < 1
        assert all(option.mistake for k, option in enumerate(draft.options) if k != worlds.written(draft))


def test_where_up_is_upwards_in_the_photo_no_arrow_is_asked() -> None:
    assert not worlds.ask(ARROW, held(2, 0)).asked


@pytest.mark.parametrize("template", [LINE, ARROW])
def test_nothing_is_asked_with_ten_times_the_sigma_or_without_a_field_of_view(template: HorizonLine | UpArrow) -> None:
    signals = held(15, -5)
    assert worlds.ask(template, signals).asked
    assert not worlds.ask(template, held(15, -5, 8.0)).asked
    assert not worlds.ask(template, {"gravity": signals["gravity"]}).asked


def test_mirrored_footage_exchanges_the_sides_alone() -> None:
    """A mistaken line that leans to the right leans to the left in a mirror, and the right one stays right."""
    signals, other = (worlds.scene(held(roll, -6)) for roll in (9, -9))
    facts = LINE.propose(signals, np.random.default_rng(0), 40).rounded()
    flipped = replace(facts, lines_px=facts.lines_px[:, :, ::-1] * [-1, 1] + [639, 0])
    first, second = LINE.measure(facts, signals), LINE.measure(flipped, other)
    assert first.label is not None and second.label is not None and first.label.tolist() == second.label.tolist()
    left, right = "leaning to the left", "leaning to the right"
    for name, mirrored in {left: right, right: left, "too high": "too high"}.items():
        assert first.traps[name].tolist() == second.traps[mirrored].tolist()
    assert (first.traps[left] != "").any()
