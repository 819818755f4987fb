"""Paths do what their names say, in camera axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.camera_paths import DEMO_MOVES, PRIMITIVES, Stance

COMPONENT = {"truck": 0, "pedestal": 1, "dolly": 2, "tilt": 3, "pan": 4, "roll": 5}
"""Row of (right, down, in; about right, about down, about forward)."""


def motion(world_from_cam: np.ndarray, a: int, b: int) -> np.ndarray:
    """Translation and rotation vector from frame a to frame b, in a's camera axes."""
    relative = np.linalg.inv(world_from_cam[a]) @ world_from_cam[b]
    turn = camera_paths.Rotation.from_matrix(relative[:3, :3]).as_rotvec()
    return np.concatenate([relative[:3, 3], turn])


@pytest.mark.parametrize("name", PRIMITIVES)
@given(yaw=st.floats(-3.1, 3.1), amount=st.floats(-0.8, 0.8))
def test_a_primitive_is_one_component(name: str, yaw: float, amount: float) -> None:
    path = camera_paths.primitive(name, amount, 9, Stance(at_m=(1.0, 2.0, 1.5), yaw_rad=yaw))
    expected = np.zeros(6)
    expected[COMPONENT[name]] = amount
    assert np.allclose(motion(path, 0, 8), expected, atol=1e-9)


def test_names_have_their_published_signs() -> None:
    start = Stance(at_m=(0.0, 0.0, 1.5))
    assert camera_paths.primitive("truck", 1.0, 5, start)[-1][:3, 3] == pytest.approx([1, 0, 1.5])
    assert camera_paths.primitive("pedestal", 1.0, 5, start)[-1][:3, 3] == pytest.approx([0, 0, 0.5])
    assert camera_paths.primitive("dolly", 1.0, 5, start)[-1][:3, 3] == pytest.approx([0, 1, 1.5])
    assert camera_paths.primitive("tilt", 0.3, 5, start)[-1][2, 2] > 0  # looks up
    assert camera_paths.primitive("pan", 0.3, 5, start)[-1][0, 2] > 0  # looks to the right
    up_cam = camera_paths.primitive("roll", 0.3, 5, start)[-1][2, :3]
    assert np.arctan2(-up_cam[0], -up_cam[1]) == pytest.approx(0.3)


def test_the_demo_performs_six_primitives_one_after_another() -> None:
    path = camera_paths.demo(Stance(pitch_rad=np.deg2rad(-19)))
    ends = np.cumsum([frames for frames, _ in DEMO_MOVES]) - 1
    begins = [0, *ends[:-1]]
    for begin, end, (_, amounts) in zip(begins, ends, DEMO_MOVES, strict=True):
        (name,) = amounts
        moved = motion(path, int(begin), int(end))
        assert moved[COMPONENT[name]] == pytest.approx(amounts[name])
        assert np.abs(np.delete(moved, COMPONENT[name])).max() < 1e-9
    assert [next(iter(amounts)) for _, amounts in DEMO_MOVES] != list(PRIMITIVES)
    assert {next(iter(amounts)) for _, amounts in DEMO_MOVES} == set(PRIMITIVES)


def test_speed_changes_smoothly() -> None:
    path = camera_paths.demo(Stance())
    speed = np.diff(path[:, :3, 3], axis=0) * 20  # metres a second
    assert np.linalg.norm(np.diff(speed, axis=0), axis=1).max() < 0.25
    assert np.linalg.norm(speed, axis=1).max() < 1.0


def test_the_demo_seen_from_above_is_a_hook() -> None:
    at = camera_paths.demo(Stance())[:, :2, 3]
    spread = np.linalg.svd(at - at.mean(axis=0), compute_uv=False)
    assert spread[1] > 0.25 * spread[0]
    assert np.linalg.norm(at[-1] - at[0]) > 0.6


def test_an_orbit_keeps_its_centre_ahead() -> None:
    path = camera_paths.orbit(7, (1.0, 2.0, 1.2), 1.5, -2.0, -1.0)
    ahead = path[:, :3, 3] + 1.5 * path[:, :3, 2]
    assert np.allclose(ahead, [1.0, 2.0, 1.2])


@pytest.mark.parametrize("path", [camera_paths.walk, camera_paths.forward_drive])
def test_walks_and_drives_go_forward(path: object) -> None:
    moved = motion(path(20, Stance()), 0, 19)  # type: ignore[operator]
    assert moved[2] > 0.5


def test_turning_stays_in_place() -> None:
    path = camera_paths.pure_rotation(10, Stance())
    assert np.ptp(path[:, :3, 3], axis=0).max() == 0
    assert np.linalg.norm(motion(path, 0, 9)[3:]) > 0.3
