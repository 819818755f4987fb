"""Velocities of paths, and paths that are refused."""

import math

import numpy as np
import pytest

from action_mapping.camera_rates import PathWarning, camera_rates, gaps
from action_mapping.primitives import COMPONENTS
from action_mapping.rigid import PoseError
from action_mapping.segments import motion_segments
from tests.action_mapping.paths import MOVES, posed, twist, walk


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_a_primitive_per_second_is_its_rate(move) -> None:  # type: ignore[no-untyped-def]
    poses, times_s = walk([twist(move, 0.4)] * 10, start=posed(70, -20, 10, (5, 6, 7)))
    expected = [0.4 * move.sign if name == move.component else 0.0 for name in COMPONENTS]
    np.testing.assert_allclose(camera_rates(poses, times_s), np.tile(expected, (10, 1)), atol=1e-9)


def test_time_reversal_negates() -> None:
    rng = np.random.default_rng(0)
    poses, times_s = walk(rng.normal(size=(50, 6)))
    forth, back = camera_rates(poses, times_s), camera_rates(poses[::-1].copy(), times_s)
    np.testing.assert_allclose(back[::-1], -forth, atol=1e-11)


@pytest.mark.parametrize(
    ("times_s", "message"),
    [
        ([0.0, 1.0, 1.0], "pose 2 has the same time as pose 1"),
        ([0.0, 2.0, 1.0], "pose 2 has an earlier time than pose 1"),
        ([0.0, math.nan, 1.0], "time of pose 1 is not a finite number"),
    ],
)
def test_times_must_increase(times_s: list[float], message: str) -> None:
    with pytest.raises(PoseError, match=message):
        camera_rates(np.tile(np.eye(4), (3, 1, 1)), np.array(times_s))


def test_one_pose_does_not_move() -> None:
    with pytest.raises(PoseError, match="at least two poses"):
        camera_rates(np.eye(4)[None], np.zeros(1))


def test_the_first_bad_pose_is_named() -> None:
    poses = np.tile(np.eye(4), (5, 1, 1))
    poses[3, 0, 0] = 1.1
    with pytest.raises(PoseError, match=r"pose 3 is not rigid.*\(1 of 5 poses\)"):
        camera_rates(poses, np.arange(5.0))


def test_an_impossible_speed_on_a_metric_path_gives_a_warning() -> None:
    poses, times_s = walk([[0, 0, 0, 0, 0, 5000.0]] * 30)
    with pytest.warns(PathWarning, match="5000 m/s"):
        motion_segments(poses, times_s, scale="metric")
    assert motion_segments(poses, times_s, scale="relative")


def test_gaps_are_found_and_warned_of() -> None:
    with pytest.warns(PathWarning, match="after pose 2, lasts 3 s"):
        assert gaps(np.array([0.1, 0.1, 3.0, 0.1])) == [2]
    assert gaps(np.array([1.0, 1.1, 0.9, 5.0])) == []
