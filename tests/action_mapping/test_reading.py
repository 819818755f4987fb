"""The motion between two poses: its logarithm equals scipy's, and is invariant to the world, time and mirroring."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping import PoseError, read_motion
from action_mapping.primitives import COMPONENTS
from action_mapping.reading import camera_motion, levelled_motion
from tests.action_mapping.paths import DOWN_Y_UP, posed

seeds = st.integers(0, 2**32 - 1)
angles = st.sampled_from([1e-9, 1e-4, 9.9e-4, 1.01e-3, 0.01, 0.3, 3.0])


def random_pose(rng: np.random.Generator, spread: float = 5.0) -> np.ndarray:
    return RigidTransform.from_components(spread * rng.normal(size=3), Rotation.random(rng=rng)).as_matrix()


def step(rng: np.random.Generator, angle: float) -> np.ndarray:
    axis = rng.normal(size=3)
    return RigidTransform.from_exp_coords([*(angle * axis / np.linalg.norm(axis)), *rng.normal(size=3)]).as_matrix()


@given(seeds, angles)
def test_camera_motion_is_scipys_logarithm(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    a, motion = random_pose(rng), step(rng, angle)
    pan, tilt, roll, *way = camera_motion(a[None], (a @ motion)[None])[0]
    expected = RigidTransform.from_matrix(motion).as_exp_coords()
    np.testing.assert_allclose([tilt, pan, roll, *way], expected, atol=1e-12)


@given(seeds, angles)
def test_no_choice_of_world_changes_a_reading(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    a, motion, other_from_world = random_pose(rng), step(rng, angle), random_pose(rng, 100.0)
    up = rng.normal(size=3)
    here = read_motion(a, a @ motion, up)
    there = read_motion(other_from_world @ a, other_from_world @ a @ motion, other_from_world[:3, :3] @ up)
    for one, other in ((here.camera_axes, there.camera_axes), (here.levelled, there.levelled)):
        assert (one is None) == (other is None)
        if one is not None and other is not None and here.pitch_rad < math.radians(74.9):
            difference = [getattr(one, name) - getattr(other, name) for name in COMPONENTS]
            np.testing.assert_allclose(difference, 0.0, atol=1e-9)


@given(seeds, angles)
def test_backwards_is_the_opposite(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    a = random_pose(rng)
    b = a @ step(rng, angle)
    np.testing.assert_allclose(camera_motion(b[None], a[None]), -camera_motion(a[None], b[None]), atol=1e-12)
    there, back = (levelled_motion(*pair, DOWN_Y_UP)[0] for pair in ((a[None], b[None]), (b[None], a[None])))
    if not math.isclose(abs(there[0]), math.pi, abs_tol=1e-6):
        np.testing.assert_allclose(back, -there, atol=1e-9, equal_nan=True)


@given(seeds, angles)
def test_a_mirror_flips_truck_pan_and_roll_only(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    mirror = np.diag([-1.0, 1.0, 1.0, 1.0])
    a = random_pose(rng)
    b = a @ step(rng, angle)
    mirrored = camera_motion(*((mirror @ pose @ mirror)[None] for pose in (a, b)))[0]
    signs = [-1 if name in ("truck", "pan_rad", "roll_rad") else 1 for name in COMPONENTS]
    np.testing.assert_allclose(mirrored, signs * camera_motion(a[None], b[None])[0], atol=1e-12)


def test_a_turn_about_the_vertical_looking_down_is_a_pan_when_levelled() -> None:
    reading = read_motion(posed(0, -30), posed(20, -30), DOWN_Y_UP)
    degrees = {name: math.degrees(getattr(reading.camera_axes, name)) for name in ("pan_rad", "tilt_rad", "roll_rad")}
    assert degrees == pytest.approx({"pan_rad": 17.32, "tilt_rad": 0.0, "roll_rad": 10.0}, abs=0.01)
    assert reading.levelled is not None
    assert math.degrees(reading.levelled.pan_rad) == pytest.approx(20.0)
    assert (reading.levelled.tilt_rad, reading.levelled.roll_rad) == pytest.approx((0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("roll_deg", [0.0, 40.0, -90.0])
def test_a_level_walk_looking_down_is_a_dolly_when_levelled(roll_deg: float) -> None:
    reading = read_motion(posed(50, -30, roll_deg), posed(50, -30, roll_deg, (math.sin(math.radians(50)), 0.0,
                          math.cos(math.radians(50)))), DOWN_Y_UP)  # fmt: skip
    assert reading.levelled is not None
    assert reading.levelled.dolly == pytest.approx(1.0)
    assert (reading.levelled.truck, reading.levelled.pedestal) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert reading.camera_axes.dolly == pytest.approx(math.cos(math.radians(30)))


def test_there_is_no_levelled_motion_without_up_or_when_steep() -> None:
    assert read_motion(posed(), posed(10), None).levelled is None
    assert read_motion(posed(0, 76), posed(10, 76), DOWN_Y_UP).levelled is None
    assert read_motion(posed(0, 74), posed(10, 74), DOWN_Y_UP).levelled is not None


def test_rotation_is_read_where_positions_are_not_known() -> None:
    unknown = (math.nan, math.nan, math.nan)
    reading = read_motion(posed(xyz=unknown), posed(10, xyz=unknown), DOWN_Y_UP)
    assert math.degrees(reading.camera_axes.pan_rad) == pytest.approx(10.0)
    assert reading.levelled is not None
    assert math.isnan(reading.camera_axes.truck)
    assert math.isnan(reading.levelled.dolly)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.diag([1.0, 1.0, -1.0, 1.0]), "left-handed"),
        (np.diag([1.1, 1.1, 1.1, 1.0]), "not rigid"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
        (np.full((4, 4), math.nan), "NaN"),
    ],
)
def test_invalid_poses_are_refused(bad: np.ndarray, message: str) -> None:
    with pytest.raises(PoseError, match=message):
        read_motion(np.eye(4), bad)


@pytest.mark.parametrize("up", [np.zeros(3), np.array([0.0, math.nan, 1.0])])
def test_up_without_direction_is_refused(up: np.ndarray) -> None:
    with pytest.raises(PoseError, match="up_world"):
        read_motion(np.eye(4), np.eye(4), up)


def test_six_digits_are_rigid_enough() -> None:
    rounded = np.round(posed(33, 12, 5), 6)
    assert read_motion(rounded, rounded).camera_axes.pan_rad == pytest.approx(0.0, abs=1e-9)
