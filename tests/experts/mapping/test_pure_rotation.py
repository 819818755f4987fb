"""Pure rotation is distinguished from translation along a wall and from zooming, and its rotations are correct."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.motion_kind import MotionSettings, pair_geometries
from experts.mapping.pure_rotation import (
    PureRotationSettings,
    RotationEstimate,
    average_rotations,
    held_against_rotations,
    pure_rotation,
)
from experts.signals import NoEstimate
from tests.experts.scenes import CAMERA, cloud, matches, projected, rotating, translating

SETTINGS = PureRotationSettings()
RNG = np.random.default_rng(0)


def estimate(xy: np.ndarray, camera: Intrinsics = CAMERA, known: bool = True) -> RotationEstimate | NoEstimate:
    xy = xy + np.random.default_rng(1).normal(scale=0.3, size=xy.shape)
    keyframes = np.arange(0, xy.shape[1], 2)
    pairs = pair_geometries(matches(xy[:, keyframes]), 640, MotionSettings())
    return pure_rotation(pairs, keyframes, xy.astype(np.float32), camera, known, SETTINGS)


def errors_deg(found: RotationEstimate, cam_from_world: np.ndarray) -> np.ndarray:
    true = Rotation.from_matrix(cam_from_world[:, :3, :3]).inv()
    return np.degrees(((true[0].inv() * true).inv() * Rotation.from_matrix(found.world_from_cam)).magnitude())


def test_the_rotation_of_every_frame_of_a_pan_is_estimated() -> None:
    poses = rotating([(0.5 * k, 3.0 * k, 1.0 * k) for k in range(9)])
    found = estimate(projected(cloud(RNG, 1500), poses))
    assert isinstance(found, RotationEstimate) and found.rotation_only
    assert errors_deg(found, poses).max() < 0.2


def test_a_wrong_focal_length_only_scales_the_rotation() -> None:
    poses = rotating([(0.0, 3.0 * k, 0.0) for k in range(9)])
    found = estimate(projected(cloud(RNG, 1500), poses), Intrinsics.centred(640, 480, 600.0), known=False)
    assert isinstance(found, RotationEstimate)
    assert errors_deg(found, poses)[-1] < 24 * 0.2


@pytest.mark.parametrize(("factor", "outcome"), [(1.0, True), (0.85, "contradicted"), (1.15, "contradicted")])
def test_a_pan_confirms_or_contradicts_the_users_focal_length(factor: float, outcome: bool | str) -> None:
    poses = rotating([(0.0, 4.0 * k, 0.0) for k in range(9)])
    assert held(projected(cloud(RNG, 1500), poses), factor) == outcome


@pytest.mark.parametrize("factor", [0.85, 1.0, 1.15])
def test_a_roll_tells_nothing_of_the_users_focal_length(factor: float) -> None:
    poses = rotating([(0.0, 0.0, 5.0 * k) for k in range(9)])
    assert held(projected(cloud(RNG, 1500), poses), factor) is False


def held(xy: np.ndarray, factor: float) -> bool | str:
    xy = xy + np.random.default_rng(1).normal(scale=0.3, size=xy.shape)
    stated = replace(CAMERA, fx_px=factor * CAMERA.fx_px, fy_px=factor * CAMERA.fy_px)
    found = held_against_rotations(pair_geometries(matches(xy), 640, MotionSettings()), stated, SETTINGS)
    return "contradicted" if isinstance(found, NoEstimate) else found


def test_a_roll_needs_no_focal_length() -> None:
    poses = rotating([(0.0, 0.0, 5.0 * k) for k in range(9)])
    found = estimate(projected(cloud(RNG, 1500), poses), Intrinsics.centred(640, 480, 700.0), known=False)
    assert isinstance(found, RotationEstimate)
    assert errors_deg(found, poses).max() < 0.3


@pytest.mark.parametrize("step", [(0.25, 0.0, 0.0), (0.2, 0.0, 0.2), (0.0, 0.0, 0.3)])
@pytest.mark.parametrize("known", [True, False])
def test_translation_along_a_wall_is_not_rotation(step: tuple[float, float, float], known: bool) -> None:
    centres = [tuple(k * s for s in step) for k in range(9)]
    found = estimate(
        projected(cloud(RNG, 1500, near=4, far=4), translating(centres, [(0.0, 0.0, 0.0)] * 9)), known=known
    )
    assert isinstance(found, NoEstimate)


def test_a_zoom_is_not_translation() -> None:
    xyz, still = cloud(RNG, 1500), rotating([(0.0, 0.0, 0.0)])
    cameras = [Intrinsics.centred(640, 480, 520.0 * 1.05**k) for k in range(9)]
    found = estimate(np.concatenate([projected(xyz, still, camera) for camera in cameras], axis=1), known=False)
    assert isinstance(found, NoEstimate) and found.reason.startswith("zoom")


def test_a_short_translation_is_within_sigma() -> None:
    poses = translating([(0.008 * k, 0.0, 0.0) for k in range(9)], [(0.0, 0.0, 0.0)] * 9)
    found = estimate(projected(cloud(RNG, 1500, near=4, far=4), poses))
    if isinstance(found, RotationEstimate):
        assert not found.rotation_only
        assert np.all(errors_deg(found, poses) <= 2.5 * np.degrees(found.sigma_rad))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_rotation_averaging_tolerates_one_wrong_edge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = Rotation.from_rotvec(rng.normal(scale=0.4, size=(8, 3)))
    edges = {(i, j): true[j].inv() * true[i] for i in range(8) for j in range(i + 1, min(8, i + 4))}
    edges[2, 4] = Rotation.from_rotvec([0.5, 0, 0]) * edges[2, 4]
    found, _ = average_rotations(edges, 8, 40)
    errors = [(true[0].inv() * true[k]).inv() * found[k] for k in range(8)]
    assert max(error.magnitude() for error in errors) < np.deg2rad(0.5)


def test_unconnected_keyframes_have_no_rotation() -> None:
    found, _ = average_rotations({(0, 1): Rotation.identity(), (2, 3): Rotation.identity()}, 4, 5)
    assert sorted(found) == [0, 1]


def test_without_pairs_there_is_no_estimate() -> None:
    found = pure_rotation([], np.array([0, 1]), np.zeros((5, 2, 2), np.float32), CAMERA, True, SETTINGS)
    assert isinstance(found, NoEstimate)
