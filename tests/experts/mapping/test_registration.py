"""Triangulation of tracks, and registration of frames to points."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.mapping.registration import RegistrationSettings, pose_sigmas, register_frames, triangulate_tracks
from tests.experts.scenes import CAMERA, cloud, exact_reconstruction, projected, translating

SETTINGS = RegistrationSettings()
POSES = translating([(0.2 * k, 0.02 * k, 0.05 * k) for k in range(9)], [(0.0, 1.5 * k, 0.3 * k) for k in range(9)])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_frames_between_keyframes_are_registered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keyframes = np.arange(0, 9, 2)
    xy = (projected(cloud(rng, 200), POSES) + rng.normal(scale=0.2, size=(200, 9, 2))).astype(np.float32)
    registered = register_frames(exact_reconstruction(cloud(rng), POSES[keyframes]), keyframes, xy, SETTINGS)
    assert np.isfinite(registered.position_sigma).all()
    assert np.abs(registered.cam_from_world - POSES).max() < 0.03
    assert registered.position_sigma.max() < 0.02


def test_tracks_are_triangulated_or_refused() -> None:
    xyz = cloud(np.random.default_rng(0))
    sparse, xy = exact_reconstruction(xyz, POSES), projected(xyz, POSES)
    found = triangulate_tracks(sparse, xy, SETTINGS)
    known = np.isfinite(found[:, 0])
    assert known.mean() > 0.8 and np.allclose(found[known], xyz[known], atol=1e-5)
    xy[:, 4] += [0, 30]  # a large error in one keyframe
    assert np.isnan(triangulate_tracks(sparse, xy, SETTINGS)[np.isfinite(xy[:, 4, 0])]).all()
    xy[:, 1:] = np.nan
    assert np.isnan(triangulate_tracks(sparse, xy, SETTINGS)).all()


def test_frames_with_too_few_tracks_are_not_registered() -> None:
    keyframes, rng = np.arange(0, 9, 2), np.random.default_rng(0)
    xy = projected(cloud(rng, 12), POSES).astype(np.float32)
    registered = register_frames(exact_reconstruction(cloud(rng), POSES[keyframes]), keyframes, xy, SETTINGS)
    assert np.isnan(registered.position_sigma[1::2]).all() and np.isnan(registered.cam_from_world[1::2]).all()


def test_formal_sigma_is_the_standard_deviation_of_repeated_fits() -> None:
    rng = np.random.default_rng(0)
    sparse = exact_reconstruction(cloud(rng, 200), POSES)
    keyframes, noise = np.array([0, 4, 8]), 0.5
    known = exact_reconstruction(cloud(rng, 200), POSES[keyframes])
    errors, sigma = [], 0.0
    for _ in range(20):
        tracks = projected(sparse.xyz_world, POSES) + rng.normal(scale=noise, size=(len(sparse.xyz_world), 9, 2))
        tracks[:, keyframes] = projected(sparse.xyz_world, POSES[keyframes])
        registered = register_frames(known, keyframes, tracks.astype(np.float32), SETTINGS)
        sigma = registered.position_sigma[2]
        errors.append(np.linalg.inv(registered.cam_from_world[2])[:3, 3] - np.linalg.inv(POSES[2])[:3, 3])
    assert 0.4 * sigma < np.std(errors, axis=0).max() < 2 * sigma


def test_sigma_falls_with_the_number_of_points() -> None:
    xyz = cloud(np.random.default_rng(0), 2000)
    xyz = xyz[np.isfinite(projected(xyz, POSES[:1])[:, 0, 0])]
    few, many = (
        pose_sigmas(CAMERA, POSES[0], xyz[:n], projected(xyz[:n], POSES[:1])[:, 0], SETTINGS) for n in (50, 800)
    )
    assert np.all(np.array(few) > 2 * np.array(many))
