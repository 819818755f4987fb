"""Which synthetic camera paths and points confirm `--upright`."""

import numpy as np
import pytest
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.gravity.upright import UprightSettings, unconfirmed_by_geometry
from tests.experts.drawn_lines import walk

X, Y, Z = np.eye(3)
UPRIGHT, ON_ITS_SIDE, FROM_ABOVE = np.stack([Z, X, Y]), np.stack([X, Z, Y]), np.stack([Y, X, Z])
"""The axis that is assumed to be up, then the others. The true up is z."""
NO_POINTS = np.zeros((0, 3))
Poses = Float64[np.ndarray, "n 4 4"]
Points = Float64[np.ndarray, "p 3"]


def unconfirmed(axes: Float64[np.ndarray, "3 3"], path: Poses, xyz: Points = NO_POINTS) -> str | None:
    return unconfirmed_by_geometry(axes, path, xyz, UprightSettings())


def straight(roll_deg: float = 0.0) -> Poses:
    """Translates without rotation."""
    path = walk(roll_deg, 0.0)
    path[:, :3, :3] = path[0, :3, :3]
    return path


def room(floor: int = 150) -> Points:
    """A floor 1.4 below the camera that extends towards it, and objects on it."""
    rng = np.random.default_rng(0)
    ground = np.c_[rng.uniform(-3, 3, floor), rng.uniform(1, 8, floor), np.full(floor, -1.4)]
    objects = np.c_[rng.uniform(-4, 4, 400), rng.uniform(4, 9, 400), rng.uniform(-1.3, 1.2, 400)]
    return np.concatenate([ground, objects])


def test_rotation_about_the_vertical_confirms() -> None:
    assert unconfirmed(UPRIGHT, walk(0.0, 0.0)) is None
    without_positions = walk(0.0, -10.0)
    without_positions[:, :3, 3] = np.nan
    assert unconfirmed(UPRIGHT, without_positions, room()) is None


def test_a_floor_confirms() -> None:
    assert unconfirmed(UPRIGHT, straight(), room()) is None
    assert unconfirmed(UPRIGHT, straight(roll_deg=25.0), room()) is None


def wall_below() -> Points:
    """A level plane as far away as all other points, like a wall in a picture on its side."""
    rng = np.random.default_rng(0)
    wall = np.c_[rng.uniform(-3, 3, 150), rng.uniform(4, 9, 150), np.full(150, -1.4)]
    return np.concatenate([room(floor=0), wall])


@pytest.mark.parametrize("xyz", [NO_POINTS, room(floor=0), wall_below()])
def test_without_floor_and_rotation_nothing_confirms(xyz: Points) -> None:
    assert "rotates by 0° about the vertical" in str(unconfirmed(UPRIGHT, straight(), xyz))


@pytest.mark.parametrize("axes", [ON_ITS_SIDE, FROM_ABOVE])
def test_rotation_about_another_axis_contradicts(axes: Float64[np.ndarray, "3 3"]) -> None:
    assert "about a level axis" in str(unconfirmed(axes, walk(0.0, 0.0), room()))


def test_in_a_picture_upside_down_lower_points_are_farther_away() -> None:
    assert "times as far away" in str(unconfirmed(UPRIGHT * [[-1], [1], [1]], walk(180.0, 0.0), room()))


def test_rotation_does_not_confirm_a_leaning_axis() -> None:
    leaning = UPRIGHT @ Rotation.from_euler("y", 11, degrees=True).as_matrix()
    assert "rolls by" in str(unconfirmed(leaning, walk(0.0, 0.0)))
    assert "rolls by" in str(unconfirmed(leaning, walk(0.0, 0.0), room()))
