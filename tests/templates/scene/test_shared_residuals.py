"""A wall of points; those of a patch in the middle err together, as on an object that moves."""

import numpy as np
import pytest

from experts.provenance import Provenance
from experts.signals import SparsePoints
from templates.scene.shared_residuals import shared_residuals

FRAMES = 30
XY = np.stack(np.meshgrid(np.linspace(20, 620, 25), np.linspace(20, 460, 16)), axis=-1).reshape(-1, 2)
MOVES = (np.abs(XY - [320, 240]) < [80, 60]).all(axis=1)
RANGES = np.full(len(XY), 4.0)


def points(frames: int = FRAMES) -> SparsePoints:
    """Each is seen at the same pixel in all frames."""
    count = len(XY)
    return SparsePoints(
        xyz_world=np.ones((count, 3)),
        range_relative_sigma=np.full(count, 0.03),
        triangulation_angle_rad=np.full(count, 0.1),
        outlier_probability=np.full(count, 0.003),
        observation_point=np.tile(np.arange(count), frames),
        observation_frame=np.repeat(np.arange(frames), count),
        observation_xy_px=np.tile(XY, (frames, 1)),
        provenance=Provenance(expert="fake", version="1"),
    )


def noise_px() -> np.ndarray:
    """(frames, points, 2), independent."""
    return np.random.default_rng(0).normal(0, 0.4, (FRAMES, len(XY), 2))


def motion_px(most: float) -> np.ndarray:
    """What is left of an even motion: it is fastest in the middle of the clip."""
    along = most * np.sin(np.linspace(0, 2 * np.pi, FRAMES))[:, None, None]
    return along * np.where(MOVES, 1.0, 0.0)[None, :, None] * [1.0, 0.2]


def field_px() -> np.ndarray:
    """Errors of the pose, the lens and the shutter of each frame."""
    rng, (x, y) = np.random.default_rng(1), ((XY - [320, 240]) / 320).T
    terms = np.stack([np.ones(len(XY)), x, y, x * x, x * y, y * y])
    return np.einsum("fcd,cp->fpd", rng.normal(0, 1.0, (FRAMES, 6, 2)), terms)


def shared(residual_px: np.ndarray, ranges: np.ndarray = RANGES) -> np.ndarray:
    found = points()
    predicted_px = found.observation_xy_px - residual_px.reshape(-1, 2)
    counted = np.ones(len(predicted_px), dtype=bool)
    return shared_residuals(found, counted, predicted_px, np.tile(ranges, FRAMES), 8, 48.0, 0.12)


def test_points_that_move_together_stand_out_although_each_errs_no_more_than_others() -> None:
    still, moving = shared(noise_px()), shared(noise_px() + motion_px(0.6))
    assert (still < 1.5).mean() > 0.99
    inner = (np.abs(XY - [320, 240]) < [60, 40]).all(axis=1)
    assert (moving[inner] > 1.5).all() and (moving[~MOVES] < 1.5).mean() > 0.95
    own = np.linalg.norm(noise_px() + motion_px(0.6), axis=2).mean(axis=0)
    assert own[MOVES].mean() < 1.5 * own[~MOVES].mean()


def test_errors_that_vary_smoothly_over_the_picture_change_little() -> None:
    without, with_field = shared(noise_px() + motion_px(0.6)), shared(noise_px() + motion_px(0.6) + field_px())
    assert np.abs(np.log(with_field / without)).max() < 0.25


@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_only_the_ratio_of_residuals_counts(factor: float) -> None:
    residual_px = noise_px() + motion_px(0.6)
    np.testing.assert_allclose(shared(factor * residual_px), shared(residual_px), rtol=1e-6)


def test_neighbours_at_another_range_do_not_count() -> None:
    """A point of its own in front of what moves has nothing to share."""
    middle = int(np.argmin(np.linalg.norm(XY - [320, 240], axis=1)))
    ranges = RANGES.copy()
    ranges[middle] = 2.0
    residual_px = noise_px() + motion_px(0.6)
    residual_px[:, middle] = 0.0
    assert shared(residual_px, ranges)[middle] < 1.0 < 1.5 < shared(residual_px)[middle]


def test_the_order_of_observations_does_not_matter() -> None:
    found, residual_px = points(), (noise_px() + motion_px(0.6)).reshape(-1, 2)
    order = np.random.default_rng(2).permutation(len(residual_px))
    shuffled = SparsePoints(
        **{
            **vars(found),
            **{name: getattr(found, name)[order] for name in vars(found) if name.startswith("observation_")},
        }
    )
    counted = np.ones(len(order), dtype=bool)
    seen = shared_residuals(
        shuffled,
        counted,
        shuffled.observation_xy_px - residual_px[order],
        np.tile(RANGES, FRAMES)[order],
        8,
        48.0,
        0.12,
    )
    np.testing.assert_allclose(seen, shared(residual_px.reshape(FRAMES, -1, 2)), rtol=1e-6)


def test_points_that_do_not_count_or_that_no_camera_sees_have_none() -> None:
    found, counted = points(), np.tile(~MOVES, FRAMES)
    predicted_px = found.observation_xy_px - noise_px().reshape(-1, 2)
    predicted_px[np.tile(np.arange(len(XY)) == 0, FRAMES)] = np.nan
    seen = shared_residuals(found, counted, predicted_px, np.tile(RANGES, FRAMES), 8, 48.0, 0.12)
    assert np.isnan(seen[MOVES]).all() and np.isnan(seen[0]) and np.isfinite(seen[~MOVES][1:]).all()
    none = shared_residuals(found, np.zeros(len(counted), bool), predicted_px, np.tile(RANGES, FRAMES), 8, 48.0, 0.12)
    assert np.isnan(none).all()


def test_exact_points_share_nothing() -> None:
    assert (shared(np.zeros((FRAMES, len(XY), 2))) == 0).all()
    assert (shared(np.random.default_rng(3).normal(0, 1e-13, (FRAMES, len(XY), 2))) < 1.5).all()
