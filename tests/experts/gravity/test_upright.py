"""What confirms a claim of which axis is up: made-up camera paths before made-up points."""

import numpy as np
import pytest
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.gravity.upright import UprightSettings, contradiction
from tests.experts.drawn_lines import walk

X, Y, Z = np.eye(3)
UPRIGHT, ON_ITS_SIDE, FROM_ABOVE = np.stack([Z, X, Y]), np.stack([X, Z, Y]), np.stack([Y, X, Z])
"""Claimed up, then the other axes; z is up."""
NO_POINTS = np.zeros((0, 3))
Poses = Float64[np.ndarray, "n 4 4"]
Points = Float64[np.ndarray, "p 3"]


def held(axes: Float64[np.ndarray, "3 3"], path: Poses, xyz: Points = NO_POINTS) -> str | None:
    return contradiction(axes, path, xyz, UprightSettings())


def straight(roll_deg: float = 0.0) -> Poses:
    """Travels without a turn."""
    path = walk(roll_deg, 0.0)
    path[:, :3, :3] = path[0, :3, :3]
    return path


def room(floor: int = 150) -> Points:
    """A floor 1.4 below the camera that runs towards it, and things around that stand on it."""
    rng = np.random.default_rng(0)
    ground = np.c_[rng.uniform(-3, 3, floor), rng.uniform(1, 8, floor), np.full(floor, -1.4)]
    things = np.c_[rng.uniform(-4, 4, 400), rng.uniform(4, 9, 400), rng.uniform(-1.3, 1.2, 400)]
    return np.concatenate([ground, things])


def test_turns_about_the_vertical_confirm() -> None:
    assert held(UPRIGHT, walk(0.0, 0.0)) is None
    unplaced = walk(0.0, -10.0)
    unplaced[:, :3, 3] = np.nan
    assert held(UPRIGHT, unplaced, room()) is None


def test_a_floor_confirms() -> None:
    assert held(UPRIGHT, straight(), room()) is None
    assert held(UPRIGHT, straight(roll_deg=25.0), room()) is None


def wall_below() -> Points:
    """A level plane as far away as everything else: a wall, in a picture on its side."""
    rng = np.random.default_rng(0)
    wall = np.c_[rng.uniform(-3, 3, 150), rng.uniform(4, 9, 150), np.full(150, -1.4)]
    return np.concatenate([room(floor=0), wall])


@pytest.mark.parametrize("xyz", [NO_POINTS, room(floor=0), wall_below()])
def test_without_a_floor_and_a_turn_nothing_confirms(xyz: Points) -> None:
    assert "turns by 0° about the vertical" in str(held(UPRIGHT, straight(), xyz))


@pytest.mark.parametrize("axes", [ON_ITS_SIDE, FROM_ABOVE])
def test_turns_about_another_axis_contradict(axes: Float64[np.ndarray, "3 3"]) -> None:
    assert "about a level axis" in str(held(axes, walk(0.0, 0.0), room()))


def test_upside_down_what_lies_lower_is_farther_away() -> None:
    assert "times as far away" in str(held(UPRIGHT * [[-1], [1], [1]], walk(180.0, 0.0), room()))


def test_turns_do_not_confirm_what_leans() -> None:
    leaning = UPRIGHT @ Rotation.from_euler("y", 11, degrees=True).as_matrix()
    assert "rolls by" in str(held(leaning, walk(0.0, 0.0)))
    assert "rolls by" in str(held(leaning, walk(0.0, 0.0), room()))
