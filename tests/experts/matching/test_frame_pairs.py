"""Pairs of frames, and robust two-view geometry."""

import numpy as np
import pytest

from experts.matching.frame_pairs import (
    choose_pairs,
    epipolar_inliers,
    epipolar_residual_px,
    evenly_spaced,
    find_homography,
)

GRID = np.stack(np.meshgrid(np.linspace(0, 600, 8), np.linspace(0, 440, 6)), axis=-1).reshape(-1, 2)


def test_the_homography_of_a_plane_and_its_outliers_are_found() -> None:
    true = np.array([[1.02, 0.01, 5.0], [-0.02, 0.98, 3.0], [1e-5, 0, 1]])
    there = np.concatenate([GRID, np.ones((len(GRID), 1))], axis=1) @ true.T
    there = there[:, :2] / there[:, 2:]
    there[:5] += 40.0
    found = find_homography(GRID, there, 1.0)
    assert found is not None
    homography, inlier = found
    np.testing.assert_allclose(homography / homography[2, 2], true, atol=1e-3)
    assert not inlier[:5].any() and inlier[5:].all()


@pytest.mark.parametrize("same", [np.zeros((30, 2)), np.repeat([[3.0, 4.0]], 12, axis=0)])
def test_degenerate_points_give_no_model(same: np.ndarray) -> None:
    assert find_homography(same, same, 1.0) is None
    inlier = epipolar_inliers(same, same, 1.0)
    assert inlier is None or inlier.dtype == bool
    assert not epipolar_residual_px(same, same) > 0


def two_views(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of random points in two photos."""
    xyz = rng.uniform([-2, -2, 4], [2, 2, 9], (count, 3))
    a = xyz[:, :2] / xyz[:, 2:] * 500 + 320
    return a, (xyz[:, :2] + [0.4, 0.1]) / (xyz[:, 2:] + 0.2) * 500 + 320


def test_epipolar_inliers_of_two_views() -> None:
    rng = np.random.default_rng(0)
    a, b = two_views(rng, 80)
    b[:8] += rng.uniform(30, 60, (8, 2))
    inlier = epipolar_inliers(a, b, 1.0)
    assert inlier is not None and inlier[8:].all() and inlier[:8].sum() <= 2


def test_the_epipolar_residual_grows_with_the_noise() -> None:
    rng = np.random.default_rng(1)
    a, b = two_views(rng, 300)
    assert epipolar_residual_px(a, b) < 1e-4
    small, large = (epipolar_residual_px(a, b + rng.normal(0, noise, b.shape)) for noise in (0.2, 0.8))
    assert 3 < large / small < 5
    assert 0.2 < small * 3.4 < 0.45, "two coordinates of one picture have noise"


def test_pairs_are_spaced_from_small_to_large_displacements() -> None:
    frames = evenly_spaced(np.arange(100, 200), 5)
    assert frames == [100, 125, 150, 174, 199] and evenly_spaced(np.arange(3), 9) == [0, 1, 2]

    def shift(a: int, b: int) -> float | None:
        return None if a == 100 else (b - a) / 100

    assert choose_pairs(frames, shift, 9, (0.3, 0.6)) == [(125, 174), (150, 199)]
    assert choose_pairs(frames, shift, 2, (0.2, 1.0)) == [(125, 199), (150, 174)]
    assert choose_pairs(frames, lambda a, b: None, 2, (0.0, 1.0)) == []
