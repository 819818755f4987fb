"""Poses fitted again without what moves."""

import numpy as np
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.pose_refits import refit_shifts

CAMERA = Intrinsics.centred(640, 480, 500.0)
COUNT = 300


def seen(pulled_by: float, noise_px: float = 0.0) -> tuple[np.ndarray, ...]:
    """What three cameras see of points; the poses are wrong by so much, as if a fifth of the points had moved."""
    rng = np.random.default_rng(0)
    xyz = np.concatenate([rng.uniform([-2, -1.5, 4], [2, 1.5, 8], (COUNT, 3))] * 3)
    frame = np.repeat(np.arange(3), COUNT)
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("y", [[0.0], [0.1], [0.2]]).as_matrix()
    poses[:, :3, 3] = [[0, 0, 0], [0.3, 0, 0], [0.6, 0.1, 0]]
    xyz_cam = np.einsum("oij,oj->oi", poses[frame, :3, :3], xyz) + poses[frame, :3, 3]
    xy_px = CAMERA.project(xyz_cam) + rng.normal(0, noise_px, (3 * COUNT, 2))
    moving = np.arange(3 * COUNT) % 5 == 0
    xy_px[moving & (frame == 1)] += [15.0, 0]
    wrong = poses.copy()
    wrong[1, :3, 3] += [pulled_by, 0, 0]
    return wrong, xyz, frame, xy_px


def test_a_position_that_was_pulled_goes_back_by_as_much() -> None:
    shifts = refit_shifts(CAMERA, *seen(pulled_by=0.02))
    np.testing.assert_allclose(shifts, [0, 0.02, 0], atol=2e-3)


def test_right_positions_stay_within_noise() -> None:
    assert refit_shifts(CAMERA, *seen(pulled_by=0.0, noise_px=0.5)).max() < 0.01


def test_it_does_not_depend_on_the_world() -> None:
    poses, xyz, frame, xy_px = seen(pulled_by=0.02, noise_px=0.3)
    world = np.eye(4)
    world[:3, :3], world[:3, 3] = Rotation.from_rotvec([0.3, -1.1, 0.4]).as_matrix(), [3, 1, -2]
    elsewhere = xyz @ world[:3, :3].T + world[:3, 3]
    moved = refit_shifts(CAMERA, poses @ np.linalg.inv(world), elsewhere, frame, xy_px)
    np.testing.assert_allclose(moved, refit_shifts(CAMERA, poses, xyz, frame, xy_px), atol=1e-6)


def test_frames_without_a_pose_or_with_few_points_are_left_alone() -> None:
    poses, xyz, frame, xy_px = seen(pulled_by=0.02)
    poses[2] = np.nan
    few = (frame != 1) | (np.arange(len(frame)) % 30 == 0)
    assert not refit_shifts(CAMERA, poses, xyz[few], frame[few], xy_px[few]).any()
    none = np.zeros(0, dtype=np.int64)
    assert not refit_shifts(CAMERA, poses, xyz[none], frame[none], xy_px[none]).any()
