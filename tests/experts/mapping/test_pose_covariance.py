"""σ of keyframes from the covariance of the bundle adjustment."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.mapping.pose_covariance import keyframe_sigmas
from tests.experts.scenes import cloud, exact_reconstruction, translating

NOISE_PX = 0.5


@pytest.fixture(scope="module")
def noisy():
    """Four keyframes of 60 points, seen with normal errors."""
    poses = translating(
        [(0, 0, 0), (0.3, 0, 0), (0.6, 0.1, 0), (0.9, 0, 0.4)], [(0, 0, 0), (1, 4, 0), (0, 8, 1), (2, 9, 0)]
    )
    exact = exact_reconstruction(cloud(np.random.default_rng(1), 60), poses)
    return replace(exact, xy_px=exact.xy_px + np.random.default_rng(0).normal(0, NOISE_PX, exact.xy_px.shape))


def test_sigmas_are_those_of_a_dense_least_squares_problem(noisy):
    poses, count = noisy.cam_from_world, len(noisy.places)

    def moved(change):
        by_pose, by_point = change[: 6 * count].reshape(count, 6), change[6 * count :].reshape(-1, 3)
        new = np.tile(np.eye(4), (count, 1, 1))
        new[:, :3, :3] = Rotation.from_rotvec(by_pose[:, :3]).as_matrix()
        new[:, :3, 3] = by_pose[:, 3:]
        return new @ poses, noisy.xyz_world + by_point

    def pixels(change):
        new, xyz = moved(change)
        in_cam = np.einsum("oij,oj->oi", new[noisy.place, :3, :3], xyz[noisy.point]) + new[noisy.place, :3, 3]
        return noisy.camera.project(in_cam).ravel()

    def relative(change):
        """Rotation vector and direction of keyframe 0 in the axes of each other keyframe."""
        new, _ = moved(change)
        here, before = new[1:] @ np.linalg.inv(new[0]), poses[1:] @ np.linalg.inv(poses[0])
        turn = Rotation.from_matrix(here[:, :3, :3] @ before[:, :3, :3].swapaxes(1, 2)).as_rotvec()
        length = np.linalg.norm(here[:, :3, 3], axis=1, keepdims=True)
        return np.concatenate([turn, here[:, :3, 3] / length], axis=1).ravel()

    none = np.zeros(6 * count + 3 * len(noisy.xyz_world))
    steps = 1e-5 * np.eye(len(none))
    jacobian, wanted = (
        np.stack([(of(step) - of(-step)) / 2e-5 for step in steps], axis=1) for of in (pixels, relative)
    )
    residual = np.linalg.norm((pixels(none) - noisy.xy_px.ravel()).reshape(-1, 2), axis=1)
    noise_px = np.median(residual) / 1.1774
    variance = noise_px**2 * np.diag(wanted @ np.linalg.pinv(jacobian.T @ jacobian) @ wanted.T).reshape(-1, 6)
    rotation, position = keyframe_sigmas(noisy)
    baseline = np.linalg.norm((poses[1:] @ np.linalg.inv(poses[0]))[:, :3, 3], axis=1)
    turned = variance[:, :3].sum(axis=1) / 3
    shifted = np.maximum(0, variance[:, 3:].sum(axis=1) / 2 - turned) * baseline**2 / 2
    assert rotation[0] == pytest.approx(np.sqrt(np.median(turned)), rel=1e-3)
    assert position[0] == pytest.approx(np.sqrt(np.median(shifted)), rel=1e-3)
    assert noise_px == pytest.approx(NOISE_PX, rel=0.15)


def test_the_world_and_its_unit_do_not_matter(noisy):
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.from_rotvec([0.4, -1.0, 0.2]).as_matrix(), (5.0, -3.0, 2.0)
    poses = noisy.cam_from_world @ np.linalg.inv(turned)
    poses[:, :3, 3] *= 7
    xyz = 7 * (noisy.xyz_world @ turned[:3, :3].T + turned[:3, 3])
    here, there = (keyframe_sigmas(each) for each in (noisy, replace(noisy, cam_from_world=poses, xyz_world=xyz)))
    np.testing.assert_allclose(there[0], here[0], rtol=1e-4)
    np.testing.assert_allclose(there[1], 7 * here[1], rtol=1e-4)


def test_fewer_points_are_less_certain(noisy):
    few = noisy.point % 4 == 0
    kept = {name: getattr(noisy, name)[few] for name in ("point", "place", "keypoint", "xy_px")}
    thinned = replace(noisy, **kept)
    assert np.all(keyframe_sigmas(thinned)[0] > 1.5 * keyframe_sigmas(noisy)[0])
    assert np.isfinite(keyframe_sigmas(thinned)).all(), "points that no keyframe sees do not count"
