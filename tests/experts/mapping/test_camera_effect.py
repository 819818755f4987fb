"""How ranges, directions, distances and rotations change with the focal length and the principal point."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.mapping.bundle_adjustment import adjusted, one_group
from experts.mapping.camera_effect import _adjusted_to, _direction_change_rad, _rotation_change, camera_effect
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.reconstruction_checks import ranges
from tests.experts.mapping.test_bundle_adjustment import zoomed_reconstruction


def around_near_points() -> SparseReconstruction:
    """A camera on an arc around near points; every third point is three times as far."""
    near = zoomed_reconstruction(np.zeros(8), noise_px=0.0)
    xyz = near.xyz_world.copy()
    xyz[::3] = [0, 0, 6] + (xyz[::3] - [0, 0, 6]) * 0.5 + [0, 0, 12]
    in_cam = np.einsum("oij,oj->oi", near.cam_from_world[near.place][:, :3, :3], xyz[near.point])
    seen = near.camera.project(in_cam + near.cam_from_world[near.place][:, :3, 3])
    return replace(near, xyz_world=xyz, xy_px=seen)


def test_far_points_come_nearer_with_a_longer_focal_length() -> None:
    effect = camera_effect(around_near_points(), free_lens=False)
    near, far = (effect.ln_range[rows] for rows in (np.arange(200) % 3 != 0, np.arange(200) % 3 == 0))
    assert np.median(far) < -0.5 and np.abs(np.median(near)) < 0.6
    assert 0.05 < effect.direction_rad < 1.5


@pytest.mark.parametrize("free_lens", [False, True])
@pytest.mark.parametrize("ln_error", [-0.04, 0.05])
def test_it_predicts_the_errors_of_a_wrong_focal_length(ln_error: float, free_lens: bool) -> None:
    right = around_near_points()
    longer = right.camera.fx_px * np.exp(ln_error)
    camera = replace(right.camera, fx_px=longer, fy_px=longer)
    moved = replace(right, camera=camera)
    found, _ = adjusted(moved, one_group(right), "SIMPLE_RADIAL", free_focal=False, free_lens=free_lens)
    wrong = replace(
        right,
        xyz_world=np.array([point.xyz for _, point in sorted(found.points3D.items())]),
        cam_from_world=np.array(
            [np.vstack([image.cam_from_world().matrix(), [0, 0, 0, 1]]) for _, image in sorted(found.images.items())]
        ),
    )
    error = np.log(ranges(wrong) / ranges(right))
    error = np.array([error[right.point == point].mean() for point in range(len(right.xyz_world))])
    effect = camera_effect(right, free_lens)
    predicted = ln_error * effect.ln_range
    np.testing.assert_allclose(predicted, error - np.median(error), atol=0.25 * np.abs(error).max())
    turned, was = (each.cam_from_world[0, :3, :3] @ each.cam_from_world[-1, :3, :3].T for each in (wrong, right))
    share = Rotation.from_matrix(was.T @ turned).magnitude() / Rotation.from_matrix(was).magnitude()
    assert share == pytest.approx(abs(ln_error) * effect.rotation, rel=0.4)


def test_a_point_that_no_keyframe_sees_changes_nothing() -> None:
    right = around_near_points()
    seen = right.point != 5
    fewer = replace(right, **{name: getattr(right, name)[seen] for name in ("point", "place", "keypoint", "xy_px")})
    effect = camera_effect(fewer, free_lens=True)
    assert effect.ln_range[5] == 0 and np.isfinite(effect.ln_range).all() and np.isfinite(effect.direction_rad)


def seen_from(world_from_cam: np.ndarray, xyz_world: np.ndarray) -> SparseReconstruction:
    """What cameras see of points, exactly."""
    base, cam_from_world = zoomed_reconstruction(np.zeros(8), noise_px=0.0), np.linalg.inv(world_from_cam)
    place, point = (each.ravel() for each in np.indices((8, len(xyz_world))))
    in_cam = np.einsum("oij,oj->oi", cam_from_world[place][:, :3, :3], xyz_world[point])
    xy_px = base.camera.project(in_cam + cam_from_world[place][:, :3, 3])
    seen = base.camera.contains(xy_px)
    return replace(
        base, xyz_world=xyz_world, cam_from_world=cam_from_world, place=place[seen], point=point[seen],
        keypoint=np.zeros(seen.sum(), dtype=np.int64), xy_px=xy_px[seen],
    )  # fmt: skip


def cameras(azimuth_rad: np.ndarray, xyz_world: np.ndarray) -> np.ndarray:
    """Poses of level cameras."""
    poses = np.tile(np.eye(4), (8, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = Rotation.from_euler("y", azimuth_rad[:, None]).as_matrix(), xyz_world
    return poses


def panning() -> SparseReconstruction:
    """A camera that turns, and goes 30 cm sideways before points 4 to 20 m away."""
    rng = np.random.default_rng(0)
    azimuth, z = rng.uniform(-0.6, 0.6, 200), rng.uniform(4, 20, 200)
    around = np.stack([z * np.tan(azimuth), rng.uniform(-0.25, 0.25, 200) * z, z], axis=1)
    return seen_from(cameras(np.radians(np.linspace(-10, 10, 8)), np.linspace(0, [0.3, 0, 0], 8)), around)


def orbiting() -> SparseReconstruction:
    """A camera that goes round points."""
    azimuth = np.radians(np.linspace(0, 315, 8))
    orbit = cameras(azimuth, -6 * np.stack([np.sin(azimuth), np.zeros(8), np.cos(azimuth)], axis=1))
    return seen_from(orbit, np.random.default_rng(0).uniform(-1.5, 1.5, (200, 3)))


def test_a_turning_camera_does_not_know_how_far_it_went_unless_it_knows_its_focal_length() -> None:
    turned, gone_round = (camera_effect(each, free_lens=False) for each in (panning(), orbiting()))
    assert turned.ln_travel > 2 and gone_round.ln_travel < 0.3
    for of_turned, of_gone_round in ((turned.ln_travel_by_centre, gone_round.ln_travel_by_centre),
                                     (turned.ln_range_by_centre, gone_round.ln_range_by_centre)):  # fmt: skip
        both = (np.median(np.linalg.norm(each, axis=-1)) for each in (of_turned, of_gone_round))
        assert next(both) > 5 * next(both)


@pytest.mark.parametrize("share", [0.013, -0.02])
def test_it_predicts_how_far_a_camera_with_a_displaced_centre_seems_to_go(share: float) -> None:
    right = panning()
    wrong = _adjusted_to(right, replace(right.camera, cx_px=right.camera.cx_px + share * right.camera.fx_px), False)
    went, goes = (np.linalg.norm(each[0, :3, 3] - each[-1, :3, 3]) for each in (
        np.linalg.inv(right.cam_from_world), np.linalg.inv(wrong.cam_from_world)
    ))  # fmt: skip
    change = np.log(goes / went) - np.median(np.log(ranges(wrong) / ranges(right)))
    assert abs(change) == pytest.approx(abs(share) * camera_effect(right, False).ln_travel_by_centre[0], rel=0.5)


def turning_here_and_there() -> SparseReconstruction:
    """A camera that turns by 45° at one place, goes 2 m sideways while it looks ahead, and turns on at the other."""
    rng = np.random.default_rng(0)
    azimuth, z = rng.uniform(-1.3, 1.3, 200), rng.uniform(4, 8, 200)
    around = np.stack([z * np.sin(azimuth), rng.uniform(-0.25, 0.25, 200) * z, z * np.cos(azimuth)], axis=1)
    x = np.array([0, 0, 0, 0.6, 1.4, 2, 2, 2])
    pan = np.radians([-45, -22, 0, 0, 0, 0, 22, 45])
    return seen_from(cameras(pan, np.stack([x, np.zeros(8), np.zeros(8)], axis=1)), around)


@pytest.mark.parametrize("share", [0.04, -0.03])
def test_it_predicts_where_a_camera_that_turns_at_one_place_seems_to_go(share: float) -> None:
    right = turning_here_and_there()
    longer = right.camera.fx_px * np.exp(share)
    wrong = _adjusted_to(right, replace(right.camera, fx_px=longer, fy_px=longer), free_lens=False)
    scale = np.exp(np.median(np.log(ranges(right) / ranges(wrong))))
    gone, true = (np.linalg.norm(np.diff(np.linalg.inv(each.cam_from_world)[:, :3, 3], axis=0), axis=1)
                  for each in (wrong, right))  # fmt: skip
    seeming, turns = np.abs(scale * gone - true), true < 1e-9
    said = np.abs(share) * np.linalg.norm(np.diff(camera_effect(right, False).position[:, 0], axis=0), axis=1)
    np.testing.assert_allclose(said[turns], seeming[turns], rtol=0.2, atol=1e-4)
    assert said[turns].max() > 0.005


def test_no_effect_depends_on_the_unit_of_length() -> None:
    one = panning()
    other = replace(one, xyz_world=7 * one.xyz_world, cam_from_world=one.cam_from_world.copy())
    other.cam_from_world[:, :3, 3] *= 7
    a, b = camera_effect(one, free_lens=False), camera_effect(other, free_lens=False)
    off = np.linalg.norm(a.position[-1] - a.position[0], axis=1)
    np.testing.assert_allclose(np.linalg.norm(b.position[-1] - b.position[0], axis=1), 7 * off, rtol=0.05)
    assert b.ln_travel == pytest.approx(a.ln_travel, rel=0.02)
    assert b.ln_travel_by_centre == pytest.approx(a.ln_travel_by_centre, rel=0.02)


def test_rotations_change_about_as_much_as_the_focal_length_where_the_camera_hardly_moves() -> None:
    rng = np.random.default_rng(0)
    azimuth, z = rng.uniform(-0.6, 0.6, 200), rng.uniform(4, 20, 200)
    around = np.stack([z * np.tan(azimuth), rng.uniform(-0.25, 0.25, 200) * z, z], axis=1)
    pan = cameras(np.radians(np.linspace(-10, 10, 8)), np.linspace(0, [0.02, 0, 0], 8))
    assert 0.7 < camera_effect(seen_from(pan, around), free_lens=False).rotation < 1.1


def test_an_orbit_holds_its_rotations() -> None:
    """Whoever goes round something sees by which angle, whatever the focal length."""
    assert camera_effect(orbiting(), free_lens=True).rotation < 0.1


@pytest.mark.parametrize("share", [0.01, -0.015])
def test_it_predicts_what_a_displaced_centre_does_to_rotations_and_directions(share: float) -> None:
    right = orbiting()
    effect, shift_px = camera_effect(right, free_lens=True), share * right.camera.fx_px
    cameras = (replace(right.camera, cx_px=shift_px + right.camera.cx_px),
               replace(right.camera, cy_px=shift_px + right.camera.cy_px))  # fmt: skip
    wrong = [_adjusted_to(right, camera, free_lens=True) for camera in cameras]
    for change, said in ((_rotation_change, effect.rotation_by_centre),
                         (_direction_change_rad, effect.direction_by_centre_rad)):  # fmt: skip
        np.testing.assert_allclose([change(right, each) for each in wrong], abs(share) * said, rtol=0.3, atol=1e-4)
    assert 0.3 < np.linalg.norm(effect.rotation_by_centre) < 2
    assert 0.1 < np.linalg.norm(effect.direction_by_centre_rad) < 2


def test_the_distortion_makes_up_for_a_wrong_focal_length_only_where_it_is_adjusted() -> None:
    fixed, free = (camera_effect(panning(), free_lens) for free_lens in (False, True))
    assert free.rotation < 0.7 * fixed.rotation and free.direction_rad < 0.5 * fixed.direction_rad
