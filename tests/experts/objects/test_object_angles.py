"""Orient Anything's conventions, tested without the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experts.objects.object_angles import (
    AngleSettings,
    ObjectAngles,
    angles_from_logits,
    angles_of,
    count_fronts,
    look_along,
    rotation_of,
)
from spatial_engine.rendering.orientation_logits import density, ideal_logits

SETTINGS = AngleSettings()
AZIMUTH = st.floats(0, 359.9).map(np.deg2rad)
POLAR = st.floats(-75, 75).map(np.deg2rad)
ROTATION = st.floats(-75, 75).map(np.deg2rad)
HEADS = pytest.mark.parametrize("head", [722, 902, 900])


def close(a: float, b: float, tolerance_deg: float) -> bool:
    """Whether two angles agree on the circle."""
    return abs(np.angle(np.exp(1j * (a - b)))) <= np.deg2rad(tolerance_deg)


# --- rotations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("azimuth_deg", "front"), [(0, (0, 0, -1)), (90, (-1, 0, 0)), (180, (0, 0, 1)), (270, (1, 0, 0))]
)
def test_front_in_camera_axes(azimuth_deg: float, front: tuple[int, int, int]) -> None:
    """0 faces the camera, 90 the picture's left, 180 away, 270 right; the top stays up."""
    rotated = rotation_of(np.deg2rad(azimuth_deg), 0, 0)
    np.testing.assert_allclose(rotated[:, 0], front, atol=1e-12)
    np.testing.assert_allclose(rotated[:, 2], [0, -1, 0], atol=1e-12)


def test_seen_from_above_the_front_dips_and_rotation_is_counter_clockwise() -> None:
    assert rotation_of(0, 0.3, 0)[1, 0] > 0
    top = rotation_of(0, 0, np.deg2rad(30))[:, 2]
    np.testing.assert_allclose(top, [-0.5, -np.cos(np.deg2rad(30)), 0], atol=1e-12)  # leans to the left


@given(AZIMUTH, POLAR, ROTATION)
def test_rotations_are_those_of_the_models_own_arrows(azimuth: float, polar: float, rotation: float) -> None:
    """The arrows that V1's demo draws (picture right, picture up) for front, right and top."""
    phi, theta, gamma = azimuth, polar, -rotation
    front = [-np.sin(phi) * np.cos(gamma) - np.cos(phi) * np.sin(theta) * np.sin(gamma),
             np.sin(phi) * np.sin(gamma) - np.cos(phi) * np.sin(theta) * np.cos(gamma)]  # fmt: skip
    right = [-np.cos(phi) * np.cos(gamma) + np.sin(phi) * np.sin(theta) * np.sin(gamma),
             np.cos(phi) * np.sin(gamma) + np.sin(phi) * np.sin(theta) * np.cos(gamma)]  # fmt: skip
    top = [np.cos(theta) * np.sin(gamma), np.cos(theta) * np.cos(gamma)]
    rotated = rotation_of(azimuth, polar, rotation)
    in_picture = rotated[:2] * [[1], [-1]]
    np.testing.assert_allclose(in_picture, np.stack([front, -np.array(right), top], axis=1), atol=1e-12)
    assert np.linalg.det(rotated) == pytest.approx(1)


@given(AZIMUTH, POLAR, ROTATION)
def test_angles_come_back(azimuth: float, polar: float, rotation: float) -> None:
    back = angles_of(rotation_of(azimuth, polar, rotation))
    assert all(close(a, b, 1e-6) for a, b in zip(back, (azimuth, polar, rotation), strict=True))


@given(AZIMUTH, POLAR, ROTATION)
def test_a_mirrored_picture_shows_the_mirrored_object(azimuth: float, polar: float, rotation: float) -> None:
    mirrored = np.diag([-1, 1, 1]) @ rotation_of(azimuth, polar, rotation) @ np.diag([1, -1, 1])
    np.testing.assert_allclose(rotation_of(-azimuth, polar, -rotation), mirrored, atol=1e-12)


@given(st.floats(-1.2, 1.2), st.floats(-1.0, 1.0))
def test_a_camera_rotated_towards_the_crop_is_not_rolled(x: float, y: float) -> None:
    """Small objects around the ray are stretched in the picture, but not rotated: the Jacobian is symmetric."""
    ray = np.array([x, y, 1.0]) / np.linalg.norm([x, y, 1.0])
    rotated = look_along(ray)
    np.testing.assert_allclose(rotated[:, 2], ray, atol=1e-12)
    assert np.linalg.det(rotated) == pytest.approx(1)
    step = 1e-6
    ends = [ray + step * rotated[:, k] for k in (0, 1)]
    jacobian = np.stack([end[:2] / end[2] - ray[:2] / ray[2] for end in ends], axis=1) / step
    assert jacobian[0, 1] == pytest.approx(jacobian[1, 0], abs=1e-4)


# --- logits ---------------------------------------------------------------------------------------------------------


@HEADS
@given(AZIMUTH, POLAR, ROTATION)
def test_peaked_logits_give_their_angles(head: int, azimuth: float, polar: float, rotation: float) -> None:
    """Whatever the size of the head, fractions of a bin included."""
    own = angles_from_logits(ideal_logits(head, azimuth, polar, rotation), SETTINGS)
    assert own.fronts == 1
    assert close(own.azimuth_rad, azimuth, 0.05) and 0 <= own.azimuth_rad < 2 * np.pi
    assert close(own.polar_rad, polar, 0.3) and close(own.rotation_rad, rotation, 0.3)
    assert np.isfinite(own.sigma_rad).all() and (own.sigma_rad >= SETTINGS.floor_rad).all()
    np.testing.assert_allclose(own.rotation, rotation_of(azimuth, polar, rotation), atol=0.02)


@HEADS
def test_one_hot_logits_are_upstreams_argmax(head: int) -> None:
    """Bin 37 of the azimuths, polar -20, rotation +15, as upstream's decoders name them."""
    logits = np.full(head, -40.0, dtype=np.float32)
    zero = {722: 90, 902: 180, 900: 180}[head]
    logits[[37, 360 + 90 - 20, 540 + zero + 15]] = 40.0
    if head != 900:
        logits[-2] = 40.0
        own = angles_from_logits(logits, SETTINGS)
        np.testing.assert_allclose(own.azimuth_rad, np.deg2rad(37))
    else:  # a single bin is no von Mises: no number of fronts fits, and the azimuth is nobody's
        own = angles_from_logits(logits, SETTINGS)
    np.testing.assert_allclose([own.polar_rad, own.rotation_rad], np.deg2rad([-20, 15]), atol=1e-9)


def test_sigma_is_the_width_of_the_distribution() -> None:
    x = np.deg2rad(np.arange(360))
    logits = np.zeros(902, dtype=np.float32)
    logits[:360] = -((np.angle(np.exp(1j * (x - 2.0)))) ** 2) / (2 * np.deg2rad(12) ** 2)
    logits[-2] = 9
    own = angles_from_logits(logits, SETTINGS)
    assert np.rad2deg(own.sigma_rad[0]) == pytest.approx(np.hypot(12, 1), rel=0.01)
    assert min(own.sigma_rad[1:]) > 0.9  # nothing said


@pytest.mark.parametrize(("p", "fronts"), [(0.9, 1), (0.55, 1), (0.3, -1), (0.05, 0)])
def test_the_first_of_v1s_last_two_says_whether_there_is_a_front(p: float, fronts: int) -> None:
    logits = ideal_logits(902, 1.0, 0.2, 0.0)
    logits[-2:] = np.log([p, 1 - p])
    own = angles_from_logits(logits, SETTINGS)
    assert own.fronts == fronts
    if fronts != 1:
        assert np.isnan(own.azimuth_rad) and np.isinf(own.sigma_rad[0]) and np.isnan(own.rotation).all()
    assert np.isfinite(own.polar_rad) == (fronts != -1)


@pytest.mark.parametrize("fronts", [1, 2, 4])
@pytest.mark.parametrize("kappa", [0.8, 2.0, 6.0])
@given(AZIMUTH)
def test_v2_counts_fronts(fronts: int, kappa: float, azimuth: float) -> None:
    logits = ideal_logits(900, azimuth, 0.1, 0.0, fronts=fronts, kappa=kappa)
    own = angles_from_logits(logits, SETTINGS)
    assert own.fronts == fronts
    assert close(fronts * own.azimuth_rad, fronts * azimuth, 0.2 * fronts)  # any of them is right
    assert own.sigma_rad[0] == pytest.approx(own.sigma_rad[0] * fronts / fronts)


def test_v2_finds_no_front_in_a_flat_distribution() -> None:
    assert count_fronts(np.full(360, 1 / 360), SETTINGS) == 0
    assert count_fronts(density(360, 1.0, 1, 0.1), SETTINGS) == 0
    logits = ideal_logits(900, 1.0, 0.3, 0.1)
    logits[:360] = -5.0
    own = angles_from_logits(logits, SETTINGS)
    assert own.fronts == 0 and np.isnan(own.azimuth_rad) and close(own.polar_rad, 0.3, 0.3)


@HEADS
def test_logits_that_are_not_finite_say_nothing(head: int) -> None:
    logits = ideal_logits(head, 1.0, 0.0, 0.0)
    logits[5] = np.nan
    own: ObjectAngles = angles_from_logits(logits, SETTINGS)
    assert own.fronts == -1 and np.isinf(own.sigma_rad).all()


def test_an_unknown_head_is_an_error() -> None:
    with pytest.raises(ValueError, match="777"):
        angles_from_logits(np.zeros(777, dtype=np.float32), SETTINGS)
