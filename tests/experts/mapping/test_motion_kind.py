"""Static cameras and parallax, on exact geometry."""

import numpy as np

from experts.mapping.motion_kind import MotionSettings, is_static, pair_geometries, shows_parallax
from tests.experts.scenes import cloud, matches, projected, rotating, translating

SETTINGS = MotionSettings()
RNG = np.random.default_rng(0)


def static_tracks(count: int = 300, frames: int = 20) -> np.ndarray:
    at = RNG.uniform([0, 0], [640, 480], size=(count, 1, 2))
    return (at + RNG.normal(scale=0.1, size=(count, frames, 2))).astype(np.float32)


def test_a_tripod_is_static_even_if_objects_move_in_front() -> None:
    xy = static_tracks()
    crossing = xy[:, 0, 0] < 250
    xy[crossing] += np.linspace(0, 90, 20, dtype=np.float32)[:, None]
    assert is_static(static_tracks(), 640, 480, SETTINGS)
    assert is_static(xy, 640, 480, SETTINGS)


def test_half_a_picture_is_static_around_a_person_but_not_on_what_the_camera_carries() -> None:
    moving = np.linspace(0, 90, 20, dtype=np.float32)[:, None] * np.float32([1, 0])
    for inside, static in ((lambda x, y: (abs(x - 320) < 230) & (y > 80), True), (lambda x, y: y < 270, False)):
        xy = static_tracks(600)
        xy[inside(*xy[:, 0].T)] += moving
        assert is_static(xy, 640, 480, SETTINGS) is static


def test_slow_drift_is_not_static() -> None:
    xy = static_tracks() + np.linspace(0, 4, 20, dtype=np.float32)[:, None]
    assert not is_static(xy, 640, 480, SETTINGS)


def test_short_tracks_of_a_moving_camera_are_not_static() -> None:
    xy = static_tracks()
    for k in range(20):
        xy[k::20, :k] = np.nan
        xy[k::20, k + 2 :] = np.nan
    assert not is_static(xy, 640, 480, SETTINGS)


def test_parallax_needs_depth_and_translation() -> None:
    steps = [(0.3 * k, 0.0, 0.1 * k) for k in range(4)]
    rotations = [(0.0, 2.0 * k, 0.0) for k in range(4)]
    noise = RNG.normal(scale=0.3, size=(400, 4, 2))
    translation = projected(cloud(RNG), translating(steps, rotations)) + noise
    wall = projected(cloud(RNG, near=4, far=4), translating(steps, rotations)) + noise
    rotation = projected(cloud(RNG), rotating([(0.0, 6.0 * k, 0.0) for k in range(4)])) + noise
    assert shows_parallax(pair_geometries(matches(translation), 640, SETTINGS), SETTINGS)
    assert not shows_parallax(pair_geometries(matches(wall), 640, SETTINGS), SETTINGS)
    assert not shows_parallax(pair_geometries(matches(rotation), 640, SETTINGS), SETTINGS)
    assert not shows_parallax([], SETTINGS)
