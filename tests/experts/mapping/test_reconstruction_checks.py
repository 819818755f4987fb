"""Gates and σ of a map."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.focal import FocalSettings
from experts.mapping.motion_kind import MotionSettings, pair_geometries
from experts.mapping.reconstruction_checks import (
    TrustSettings,
    focal_drift,
    outlier_probabilities,
    range_sigmas,
    refusal,
    triangulation_angles,
    without_misplaced,
)
from tests.experts.scenes import CAMERA, cloud, exact_map, matches, moved, seen


def made_map(ln_focal: np.ndarray, noise_px: float = 0.2) -> SparseReconstruction:
    """A camera that walks sideways past points, each picture zoomed by exp(ln_focal); the map says one focal."""
    rng = np.random.default_rng(0)
    camera = Intrinsics.centred(640, 480, 600.0)
    xyz = rng.uniform([-3, -1.5, 3], [3, 1.5, 9], (200, 3))
    poses = np.tile(np.eye(4), (len(ln_focal), 1, 1))
    poses[:, 0, 3] = -np.linspace(-0.5, 0.5, len(ln_focal))
    poses[:, :3, :3] = Rotation.from_rotvec(np.linspace(-0.05, 0.05, len(ln_focal))[:, None] * [0, 1, 0]).as_matrix()
    centre = np.array([camera.cx_px, camera.cy_px])
    pixels = [
        (camera.project(xyz @ p[:3, :3].T + p[:3, 3]) - centre) * np.exp(z) + centre
        for p, z in zip(poses, ln_focal, strict=True)
    ]
    k, n = len(ln_focal), len(xyz)
    return SparseReconstruction(
        camera=camera,
        focal_formal_px=1.0,
        places=np.arange(k),
        cam_from_world=poses,
        xyz_world=xyz,
        error_px=np.full(n, 0.3),
        point=np.tile(np.arange(n), k),
        place=np.repeat(np.arange(k), n),
        keypoint=np.tile(np.arange(n), k),
        xy_px=np.concatenate(pixels) + rng.normal(0, noise_px, (k * n, 2)),
    )


@pytest.mark.parametrize("zoom", [0.0, 0.01, -0.03])
def test_the_slope_is_the_zoom(zoom: float) -> None:
    slope, spread = focal_drift(made_map(np.linspace(0, zoom, 12)))
    assert slope == pytest.approx(zoom, abs=0.002)
    assert spread == pytest.approx(0.8 * abs(zoom), abs=0.004)


def test_a_zoom_in_and_out_has_spread_if_no_slope() -> None:
    there_and_back = 0.03 * (1 - np.abs(np.linspace(-1, 1, 13)))
    slope, spread = focal_drift(made_map(there_and_back))
    assert abs(slope) < 0.004 and spread > 0.015


def test_too_few_keyframes_say_nothing() -> None:
    assert focal_drift(made_map(np.linspace(0, 0.1, 4))) == (0.0, 0.0)


POSES = moved([(0.3 * k, 0.0, 0.0) for k in range(6)], [(0.0, 2.0 * k, 0.0) for k in range(6)])
MAP = exact_map(cloud(np.random.default_rng(0)), POSES)
TRUST, SHARES = TrustSettings(), FocalSettings().plausible_shares
PAIRS = pair_geometries(matches(seen(MAP.xyz_world, POSES)), 640, MotionSettings())


def sparser(sparse: SparseReconstruction, points: int) -> SparseReconstruction:
    """The first points alone, with their observations."""
    seen = sparse.point < points
    return replace(
        sparse,
        xyz_world=sparse.xyz_world[:points],
        error_px=sparse.error_px[:points],
        point=sparse.point[seen],
        place=sparse.place[seen],
        keypoint=sparse.keypoint[seen],
        xy_px=sparse.xy_px[seen],
    )


def test_a_sound_map_passes() -> None:
    assert refusal(MAP, PAIRS, 6, TRUST, SHARES) is None


@pytest.mark.parametrize(
    ("broken", "keyframes", "reason"),
    [
        (None, 6, "no reconstruction"),
        (MAP, 13, "few keyframes registered"),
        (sparser(MAP, 50), 6, "few points"),
        (replace(MAP, camera=replace(CAMERA, k1=-0.4)), 6, "implausible distortion"),
        (replace(MAP, camera=Intrinsics.centred(640, 480, 1300.0)), 6, "implausible focal length"),
        (replace(MAP, camera=Intrinsics.centred(640, 480, 300.0)), 6, "implausible focal length"),
        (replace(MAP, error_px=MAP.error_px + 1), 6, "one rigid camera does not fit"),
    ],
)
def test_each_gate_names_its_reason(broken: SparseReconstruction | None, keyframes: int, reason: str) -> None:
    refused = refusal(broken, PAIRS, keyframes, TRUST, SHARES)
    assert refused is not None and refused.reason == reason


@pytest.mark.parametrize("camera", [replace(CAMERA, k1=-0.4), Intrinsics.centred(640, 480, 300.0)])
def test_a_given_camera_may_be_any_but_must_explain_the_matches(camera: Intrinsics) -> None:
    refused = refusal(replace(MAP, camera=camera), PAIRS, 6, TRUST, None)
    assert refused is not None and refused.reason == "matches contradict the reconstruction"
    assert refusal(MAP, PAIRS, 6, TRUST, None) is None


def test_a_keyframe_that_its_matches_contradict_is_left_out() -> None:
    bent = replace(MAP, cam_from_world=MAP.cam_from_world.copy())
    bent.cam_from_world[2] = moved([(0.6, 0.0, 0.0)], [(12.0, 4.0, 0.0)])[0]
    assert list(without_misplaced(bent, PAIRS, TRUST).places) == [0, 1, 3, 4, 5]
    assert list(without_misplaced(MAP, PAIRS, TRUST).places) == list(range(6))


def test_a_folded_map_is_refused() -> None:
    folded = replace(MAP, cam_from_world=MAP.cam_from_world.copy())
    folded.cam_from_world[3:] = moved(
        [(0.3 * k, 0.0, 0.0) for k in (3, 4, 5)], [(1.5, 2.0 * k, 0.0) for k in (3, 4, 5)]
    )
    refused = refusal(folded, PAIRS, 6, TRUST, SHARES)
    assert refused is not None and refused.reason == "matches contradict the reconstruction"


def test_the_angle_is_the_widest() -> None:
    angle = triangulation_angles(MAP)
    centres = np.linalg.inv(POSES)[:, :3, 3]
    for p in range(0, len(angle), 40):
        ray = MAP.xyz_world[p] - centres[MAP.place[MAP.point == p]]
        ray /= np.linalg.norm(ray, axis=1, keepdims=True)
        assert np.isclose(angle[p], np.arccos(np.clip((ray @ ray.T).min(), -1, 1)), atol=1e-6)


def test_range_sigma_grows_as_the_angle_shrinks() -> None:
    sigma = range_sigmas(MAP, np.array([0.0, 0.01, 0.1, 3.0]), TRUST)
    assert np.isinf(sigma[0]) and np.all(np.diff(sigma) < 0) and 0.03 < sigma[-1] < 0.0301


def test_a_point_is_sure_only_if_the_other_map_has_it() -> None:
    angle = triangulation_angles(MAP)
    doubled = replace(MAP, xyz_world=2 * MAP.xyz_world, cam_from_world=MAP.cam_from_world.copy())
    doubled.cam_from_world[:, :3, 3] *= 2
    assert np.mean(outlier_probabilities(MAP, doubled, angle, TRUST) == 0.003) > 0.9
    nearer = MAP.xyz_world.copy()
    nearer[:20] *= 0.5
    outlier_probability = outlier_probabilities(MAP, replace(MAP, xyz_world=nearer), angle, TRUST)
    assert np.all(outlier_probability[:20] == 0.05) and np.mean(outlier_probability[20:] == 0.003) > 0.9
    strange = replace(MAP, keypoint=MAP.keypoint + 100_000)
    assert np.all(outlier_probabilities(MAP, strange, angle, TRUST) == 0.05)
