"""Floors of synthetic point clouds."""

from dataclasses import replace

import numpy as np
import pytest
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.gravity.floor import FloorSettings, floor_plane

UP = np.array([0.0, 0, 1])
SETTINGS = FloorSettings()


def cloud(floor: int, above: int, below: int = 0, lean_deg: float = 0.0) -> Float64[np.ndarray, "p 3"]:
    """Points of a leaning floor at height 0, above it and below it."""
    rng = np.random.default_rng(0)
    counts, heights = (floor, above, below), ((0.0, 0.0), (0.3, 2.5), (-2.0, -1.0))
    parts = [
        np.c_[rng.uniform(-3, 3, (n, 2)), rng.uniform(*height, n)] for n, height in zip(counts, heights, strict=True)
    ]
    return Rotation.from_euler("x", lean_deg, degrees=True).apply(np.concatenate(parts))


def lean_deg(xyz: Float64[np.ndarray, "p 3"], settings: FloorSettings = SETTINGS) -> float | None:
    floor = floor_plane(xyz, np.full(len(xyz), 0.05), UP, settings)
    return None if floor is None else float(np.rad2deg(np.arccos(min(1.0, floor.normal @ UP))))


@pytest.mark.parametrize("lean", [0.0, 11.0])
def test_the_normal_of_a_leaning_floor_is_found(lean: float) -> None:
    assert lean_deg(cloud(200, 600, lean_deg=lean)) == pytest.approx(lean, abs=0.5)


def test_a_plane_that_leans_too_much_is_no_floor() -> None:
    assert lean_deg(cloud(200, 600, lean_deg=11.0), replace(SETTINGS, cone_rad=np.deg2rad(5.0))) is None


def test_a_plane_with_points_below_is_no_floor() -> None:
    assert lean_deg(cloud(200, 600, below=100)) is None


def test_a_small_level_plane_is_no_floor() -> None:
    assert lean_deg(cloud(30, 600)) is None


def test_two_points_have_no_floor() -> None:
    assert lean_deg(cloud(2, 0)) is None
