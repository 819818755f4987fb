"""The motion between two poses: its logarithm equals scipy's, and is invariant to the world, time and mirroring."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping import MotionReading, PoseError, read_motion
from action_mapping.primitives import COMPONENTS
from action_mapping.reading import camera_motion, levelled_motion
from tests.action_mapping.paths import DOWN_Y_UP, posed, random_walks

seeds = st.integers(0, 2**32 - 1)
angles = st.sampled_from([1e-9, 1e-4, 9.9e-4, 1.01e-3, 0.01, 0.3, 3.0])


def read(a: np.ndarray, b: np.ndarray, up_world: np.ndarray | None = DOWN_Y_UP) -> MotionReading:
    return read_motion(a[None], b[None], up_world)


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
    here = read(a, a @ motion, up)
    there = read(other_from_world @ a, other_from_world @ a @ motion, other_from_world[:3, :3] @ up)
    np.testing.assert_allclose(there.camera_axes, here.camera_axes, atol=1e-9)
    if abs(here.pitch_rad[0] - math.radians(75.0)) > 1e-3:
        np.testing.assert_allclose(there.levelled, here.levelled, atol=1e-9)


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
    reading = read(posed(0, -30), posed(20, -30))
    assert np.degrees(reading.camera_axes[0, :3]) == pytest.approx([17.32, 0.0, 10.0], abs=0.01)  # pan, tilt, roll
    assert np.degrees(reading.levelled[0, :3]) == pytest.approx([20.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("roll_deg", [0.0, 40.0, -90.0])
def test_a_level_walk_looking_down_is_a_dolly_when_levelled(roll_deg: float) -> None:
    heading = math.radians(50)
    ahead = posed(50, -30, roll_deg, (math.sin(heading), 0.0, math.cos(heading)))
    reading = read(posed(50, -30, roll_deg), ahead)
    assert reading.levelled[0, 3:] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)  # truck, pedestal, dolly
    assert reading.camera_axes[0, 5] == pytest.approx(math.cos(math.radians(30)))


def test_there_is_no_levelled_motion_without_up_or_when_steep() -> None:
    without = read(posed(), posed(10), None)
    assert np.isnan(without.levelled).all()
    assert np.isnan(without.pitch_rad).all()
    pitched = [0, 76, 74]
    a, b = (np.stack([posed(heading, pitch) for pitch in pitched]) for heading in (0, 10))
    reading = read_motion(a, b, DOWN_Y_UP)
    assert np.isnan(reading.levelled).all(axis=1).tolist() == [False, True, False]
    assert np.degrees(reading.pitch_rad) == pytest.approx(pitched)
    assert np.isfinite(reading.camera_axes).all()


def test_rotation_is_read_where_positions_are_not_known() -> None:
    unknown = (math.nan, math.nan, math.nan)
    reading = read(posed(xyz=unknown), posed(10, xyz=unknown))
    for components in (reading.camera_axes[0], reading.levelled[0]):
        assert np.degrees(components[:3]) == pytest.approx([10.0, 0.0, 0.0])
        assert np.isnan(components[3:]).all()


def test_nothing_is_read_where_a_rotation_is_not_known() -> None:
    a, b = (np.stack([posed()] * 3) for _ in "ab")
    a[0], b[1] = np.nan, np.nan
    reading = read_motion(a, b, DOWN_Y_UP)
    for column in (reading.camera_axes, reading.levelled, reading.pitch_rad[:, None]):
        assert np.isnan(column).all(axis=1).tolist() == [True, True, False]


@given(seeds, st.booleans())
def test_rows_do_not_influence_each_other(seed: int, up_known: bool) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_walks(rng, 20)
    a[rng.random(20) < 0.2] = np.nan
    up = DOWN_Y_UP if up_known else None
    together = asdict(read_motion(a, b, up))
    for rows in (rng.permutation(20)[:7], np.arange(0), rng.integers(20, size=1)):
        for name, column in asdict(read_motion(a[rows], b[rows], up)).items():
            np.testing.assert_array_equal(column, together[name][rows], err_msg=name)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.diag([1.0, 1.0, -1.0, 1.0]), "left-handed"),
        (np.diag([1.1, 1.1, 1.1, 1.0]), "not rigid"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
        (np.full((4, 4), math.inf), "infinity"),
    ],
)
def test_invalid_poses_are_refused(bad: np.ndarray, message: str) -> None:
    poses = np.stack([np.full((4, 4), math.nan), np.eye(4), bad])
    for pair in ((np.tile(np.eye(4), (3, 1, 1)), poses), (poses, np.tile(np.eye(4), (3, 1, 1)))):
        with pytest.raises(PoseError, match=f"pose 2 .*{message}"):
            read_motion(*pair)


@pytest.mark.parametrize("up", [np.zeros(3), np.array([0.0, math.nan, 1.0])])
def test_up_without_direction_is_refused(up: np.ndarray) -> None:
    with pytest.raises(PoseError, match="up_world"):
        read(np.eye(4), np.eye(4), up)


def test_six_digits_are_rigid_enough() -> None:
    rounded = np.round(posed(33, 12, 5), 6)
    assert read(rounded, rounded).camera_axes == pytest.approx(0.0, abs=1e-9)
