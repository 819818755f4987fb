"""Forward-backward reprojection of exact depths: visible, occluded and contradicted points."""

import numpy as np
import pytest

from experts.depth.depth_reprojection import pixel_grid, reprojected, sampled
from experts.intrinsics import Intrinsics
from spatial_engine.rendering import RenderedScene, camera_paths
from spatial_engine.rendering.rooms import random_room

CAMERA = Intrinsics.centred(160, 120, 130.0)


def plane(z_at_centre: float, slope: float = 0.0, size: tuple[int, int] = (120, 160)) -> np.ndarray:
    """Depth of the plane z = z0 + slope · x, at the centres of the pixels of a map."""
    camera = CAMERA.scaled(size[1], size[0])
    u = (np.arange(size[1]) - camera.cx_px) / camera.fx_px
    return np.tile(z_at_centre / (1 - slope * u), (size[0], 1))


def moved(x: float = 0.0, z: float = 0.0) -> np.ndarray:
    """b_from_a of a camera b at (x, 0, z) of a."""
    out = np.eye(4)
    out[:3, 3] = [-x, 0, -z]
    return out


def pixels(count: int = 50) -> np.ndarray:
    return np.random.default_rng(0).uniform([30, 20], [130, 100], (count, 2))


@pytest.fixture(scope="module")
def room() -> RenderedScene:
    return random_room(np.random.default_rng(3), frames=12, width_px=160, height_px=120)


def test_a_plane_is_sampled_exactly_at_any_size_of_the_map() -> None:
    xy = pixels()
    truth = 2.0 / (1 - 0.4 * (xy[:, 0] - CAMERA.cx_px) / CAMERA.fx_px)
    for size in ((120, 160), (60, 80), (42, 56)):
        np.testing.assert_allclose(sampled(plane(2.0, 0.4, size), CAMERA, xy), truth, rtol=1e-9)


def test_depth_is_unknown_across_a_border_next_to_unknown_depth_and_outside() -> None:
    z = plane(2.0)
    z[:, 80:] = 4.0
    z[50, 40] = np.nan
    tested = np.array([[79.5, 60], [79.0, 60], [40.4, 50.3], [39, 50], [-1, 5], [159.4, 119.4], [np.nan, 3]])
    np.testing.assert_array_equal(
        np.isfinite(sampled(z, CAMERA, tested)), [False, False, False, False, False, True, False]
    )


def test_a_sideways_step_moves_pixels_by_focal_times_baseline_over_depth() -> None:
    xy = pixels()
    seen = reprojected(xy, plane(2.0), plane(2.0), moved(x=0.1), CAMERA, CAMERA)
    np.testing.assert_allclose(seen.xy_b_px, xy - [130.0 * 0.1 / 2.0, 0], atol=1e-9)
    np.testing.assert_allclose(seen.back_px, 0, atol=1e-9)
    assert seen.agrees(0.01, 0.1).all() and not seen.contradicted(0.01).any() and not seen.hidden(0.01).any()


def test_a_nearer_surface_occludes_and_a_farther_one_contradicts() -> None:
    xy = pixels()
    nearer = reprojected(xy, plane(2.0), plane(1.5), moved(x=0.1), CAMERA, CAMERA)
    assert nearer.hidden(0.03).all() and not nearer.agrees(0.03, 1.0).any() and not nearer.contradicted(0.03).any()
    farther = reprojected(xy, plane(2.0), plane(2.5), moved(x=0.1), CAMERA, CAMERA)
    assert farther.contradicted(0.03).all() and not farther.agrees(0.03, 1.0).any() and not farther.hidden(0.03).any()


def test_points_behind_the_camera_and_outside_the_picture_are_undefined() -> None:
    for step in (moved(z=3.0), moved(x=50.0)):
        seen = reprojected(pixels(), plane(2.0), plane(2.0), step, CAMERA, CAMERA)
        assert np.isnan(seen.xy_b_px).all() and np.isnan(seen.z_expected).all() and np.isnan(seen.z_seen).all()
        assert not seen.agrees(1.0, 1e9).any() and not seen.contradicted(0.0).any() and not seen.hidden(0.0).any()


def test_cameras_may_differ_in_size_and_focal_length() -> None:
    other = Intrinsics.centred(320, 200, 300.0)
    seen = reprojected(np.array([[79.5, 59.5]]), plane(2.0), np.full((50, 80), 2.0), moved(), CAMERA, other)
    np.testing.assert_allclose(seen.xy_b_px, [[159.5, 99.5]])
    np.testing.assert_allclose(seen.back_px, 0, atol=1e-9)


def test_frames_of_a_room_agree_where_both_see(room: RenderedScene) -> None:
    a, b = room.world_from_cam[[0, 6]]
    z_a, z_b = room.depth(0), room.depth(6)
    grid = pixel_grid(*z_a.shape, room.intrinsics)
    np.testing.assert_array_equal(grid[:2], [[0, 0], [1, 0]])
    seen = reprojected(grid, z_a, z_b, np.linalg.inv(b) @ a, room.intrinsics, room.intrinsics)
    known = np.isfinite(seen.z_seen)
    assert known.mean() > 0.5
    assert seen.agrees(0.02, 1.0)[known].mean() > 0.9
    assert seen.contradicted(0.02)[known].mean() < 0.005  # pixels across the edge of an object
    assert seen.hidden(0.02).any()


def test_an_object_that_left_is_contradicted() -> None:
    rng = np.random.default_rng(5)
    room = random_room(rng, frames=10, width_px=160, height_px=120, moving_object=True, path=camera_paths.static)
    z_a = room.depth(0)
    grid = pixel_grid(*z_a.shape, room.intrinsics)
    seen = reprojected(grid, z_a, room.depth(9), np.eye(4), room.intrinsics, room.intrinsics)
    moving = (room.ids(0) == len(room.labels) - 1).ravel()
    contradicted = seen.contradicted(0.05)
    assert contradicted[moving].mean() > 0.5
    assert not contradicted[~moving].any()
