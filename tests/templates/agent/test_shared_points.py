"""Points to mark, for many pairs of photos at once."""

import numpy as np

from templates.agent.legs import point_in, shared_points, some_pixels
from tests.templates import worlds

SCENE = worlds.scene(worlds.signals())
PAIRS = np.array([[0, 10], [10, 46], [46, 0], [0, 47], [20, 20]])  # the pose of 47 is not known


def test_points_of_many_pairs_are_those_of_each_pair() -> None:
    rng = np.random.default_rng(0)
    pixels = [some_pixels(SCENE, frame, rng) for frame in PAIRS[:, 0].tolist()]
    pixels[2] = np.empty((0, 2))
    found = shared_points(SCENE, PAIRS, pixels)
    assert np.isnan(found).all(axis=1).tolist() == [False, False, True, True, False]
    for k in range(len(PAIRS)):
        np.testing.assert_array_equal(shared_points(SCENE, PAIRS[k : k + 1], pixels[k : k + 1]), found[k : k + 1])
        assert np.isnan(found[k]).all() or (np.round(pixels[k], 1) == found[k]).all(axis=1).any()
    assert shared_points(SCENE, PAIRS[:0], []).shape == (0, 2)


def test_a_point_of_one_photo_needs_its_pose() -> None:
    assert point_in(SCENE, 47, np.random.default_rng(0)) is None
    found = point_in(SCENE, 0, np.random.default_rng(0))
    assert found in np.round(some_pixels(SCENE, 0, np.random.default_rng(0)), 1).tolist()
