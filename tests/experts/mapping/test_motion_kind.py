"""Stillness and parallax, by algebra."""

import numpy as np

from experts.mapping.motion_kind import MotionSettings, is_static, pair_geometries, shows_parallax
from tests.experts.scenes import cloud, matches, moved, seen, turned

SETTINGS = MotionSettings()
RNG = np.random.default_rng(0)


def still_tracks(count: int = 300, frames: int = 20) -> np.ndarray:
    at = RNG.uniform([0, 0], [640, 480], size=(count, 1, 2))
    return (at + RNG.normal(scale=0.1, size=(count, frames, 2))).astype(np.float32)


def test_a_tripod_is_static_even_if_things_move_in_front() -> None:
    xy = still_tracks()
    crossing = xy[:, 0, 0] < 250
    xy[crossing] += np.linspace(0, 90, 20, dtype=np.float32)[:, None]
    assert is_static(still_tracks(), 640, 480, SETTINGS)
    assert is_static(xy, 640, 480, SETTINGS)


def test_slow_drift_is_not_static() -> None:
    xy = still_tracks() + np.linspace(0, 4, 20, dtype=np.float32)[:, None]
    assert not is_static(xy, 640, 480, SETTINGS)


def test_short_tracks_of_a_moving_camera_are_not_static() -> None:
    xy = still_tracks()
    for k in range(20):
        xy[k::20, :k] = np.nan
        xy[k::20, k + 2 :] = np.nan
    assert not is_static(xy, 640, 480, SETTINGS)


def test_parallax_needs_depth_and_travel() -> None:
    steps = [(0.3 * k, 0.0, 0.1 * k) for k in range(4)]
    turns = [(0.0, 2.0 * k, 0.0) for k in range(4)]
    noise = RNG.normal(scale=0.3, size=(400, 4, 2))
    travelling = seen(cloud(RNG), moved(steps, turns)) + noise
    wall = seen(cloud(RNG, near=4, far=4), moved(steps, turns)) + noise
    turning = seen(cloud(RNG), turned([(0.0, 6.0 * k, 0.0) for k in range(4)])) + noise
    assert shows_parallax(pair_geometries(matches(travelling), 640, SETTINGS), SETTINGS)
    assert not shows_parallax(pair_geometries(matches(wall), 640, SETTINGS), SETTINGS)
    assert not shows_parallax(pair_geometries(matches(turning), 640, SETTINGS), SETTINGS)
    assert not shows_parallax([], SETTINGS)
