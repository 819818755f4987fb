"""Checks of a reconstruction, and σ of its points."""

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
    outlier_probabilities,
    range_sigmas,
    refusal,
    translates,
    triangulation_angles,
    without_misplaced,
)
from tests.experts.scenes import CAMERA, cloud, exact_reconstruction, matches, projected, translating

POSES = translating([(0.3 * k, 0.0, 0.0) for k in range(6)], [(0.0, 2.0 * k, 0.0) for k in range(6)])
EXACT = exact_reconstruction(cloud(np.random.default_rng(0)), POSES)
TRUST, SHARES = TrustSettings(), FocalSettings().plausible_shares
PAIRS = pair_geometries(matches(projected(EXACT.xyz_world, POSES)), 640, MotionSettings())


def sparser(sparse: SparseReconstruction, points: int) -> SparseReconstruction:
    """The first points with their observations."""
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


def test_an_exact_reconstruction_passes() -> None:
    assert refusal(EXACT, PAIRS, 6, TRUST, SHARES) is None


@pytest.mark.parametrize(
    ("broken", "keyframes", "reason"),
    [
        (None, 6, "no reconstruction"),
        (EXACT, 13, "few keyframes registered"),
        (sparser(EXACT, 50), 6, "few points"),
        (replace(EXACT, camera=replace(CAMERA, k1=-0.4)), 6, "implausible distortion"),
        (replace(EXACT, camera=Intrinsics.centred(640, 480, 2200.0)), 6, "implausible focal length"),
        (replace(EXACT, camera=Intrinsics.centred(640, 480, 300.0)), 6, "implausible focal length"),
        (replace(EXACT, error_px=EXACT.error_px + 1), 6, "one rigid camera does not fit"),
    ],
)
def test_each_check_has_its_reason(broken: SparseReconstruction | None, keyframes: int, reason: str) -> None:
    refused = refusal(broken, PAIRS, keyframes, TRUST, SHARES)
    assert refused is not None and refused.reason == reason


@pytest.mark.parametrize("camera", [replace(CAMERA, k1=-0.4), Intrinsics.centred(640, 480, 300.0)])
def test_a_fixed_camera_need_not_be_plausible_but_must_explain_the_matches(camera: Intrinsics) -> None:
    refused = refusal(replace(EXACT, camera=camera), PAIRS, 6, TRUST, None)
    assert refused is not None and refused.reason == "matches contradict the reconstruction"
    assert refusal(EXACT, PAIRS, 6, TRUST, None) is None


@pytest.mark.parametrize(
    ("focal_px", "k1", "formal_px", "reason"),
    [
        (1500.0, 0.0, 10.0, None),
        (1500.0, 0.3, 10.0, None),
        (1500.0, 0.8, 10.0, "implausible distortion"),
        (1500.0, 0.0, 300.0, "implausible focal length"),
    ],
)
def test_a_long_lens_is_plausible_where_the_footage_determines_it(
    focal_px: float, k1: float, formal_px: float, reason: str | None
) -> None:
    camera = replace(Intrinsics.centred(640, 480, focal_px), k1=k1)
    xyz = cloud(np.random.default_rng(0), count=2000)
    poses = translating([(0.2 * k, 0.0, 0.0) for k in range(6)], [(0.0, 2.0 * k, 0.0) for k in range(6)])
    pairs = pair_geometries(matches(projected(xyz, poses, camera)), 640, MotionSettings())
    sparse = replace(exact_reconstruction(xyz, poses, camera), focal_formal_px=formal_px)
    refused = refusal(sparse, pairs, 6, TRUST, SHARES)
    assert (refused and refused.reason) == reason


def test_a_keyframe_that_its_matches_contradict_is_removed() -> None:
    bent = replace(EXACT, cam_from_world=EXACT.cam_from_world.copy())
    bent.cam_from_world[2] = translating([(0.6, 0.0, 0.0)], [(12.0, 4.0, 0.0)])[0]
    assert list(without_misplaced(bent, PAIRS, TRUST).places) == [0, 1, 3, 4, 5]
    assert list(without_misplaced(EXACT, PAIRS, TRUST).places) == list(range(6))


def test_a_folded_reconstruction_is_refused() -> None:
    folded = replace(EXACT, cam_from_world=EXACT.cam_from_world.copy())
    folded.cam_from_world[3:] = translating(
        [(0.3 * k, 0.0, 0.0) for k in (3, 4, 5)], [(1.5, 2.0 * k, 0.0) for k in (3, 4, 5)]
    )
    refused = refusal(folded, PAIRS, 6, TRUST, SHARES)
    assert refused is not None and refused.reason == "matches contradict the reconstruction"


def test_the_triangulation_angle_is_the_largest_between_two_rays() -> None:
    angle = triangulation_angles(EXACT)
    centres = np.linalg.inv(POSES)[:, :3, 3]
    for p in range(0, len(angle), 40):
        ray = EXACT.xyz_world[p] - centres[EXACT.place[EXACT.point == p]]
        ray /= np.linalg.norm(ray, axis=1, keepdims=True)
        assert np.isclose(angle[p], np.arccos(np.clip((ray @ ray.T).min(), -1, 1)), atol=1e-6)


def test_parallax_that_a_rolling_shutter_shows_is_no_translation() -> None:
    turn = np.tile(np.eye(4), (6, 1, 1))
    turn[:, :3, :3] = Rotation.from_rotvec(np.arange(6)[:, None] * [0.0, 0.1, 0.0]).as_matrix()
    turning = replace(EXACT, cam_from_world=turn @ EXACT.cam_from_world)
    steps = Rotation.from_matrix(turning.cam_from_world[1:, :3, :3] @ turning.cam_from_world[:-1, :3, :3].mT)
    angle = np.median(triangulation_angles(turning))
    limit_s = TRUST.readout_s * np.median(steps.magnitude()) / angle  # it turns by the angle in a readout
    assert translates(turning, None, TRUST)
    assert translates(turning, 1.3 * limit_s * np.arange(6), TRUST)
    assert not translates(turning, 0.8 * limit_s * np.arange(6), TRUST)


def test_range_sigma_falls_with_the_triangulation_angle() -> None:
    sigma = range_sigmas(EXACT, np.array([0.0, 0.01, 0.1, 3.0]), TRUST)
    assert np.isinf(sigma[0]) and np.all(np.diff(sigma) < 0) and 0.03 < sigma[-1] < 0.0301


def test_range_sigma_grows_with_the_residuals() -> None:
    angle = np.array([0.02])
    sharp, blurred = (range_sigmas(replace(EXACT, error_px=EXACT.error_px * factor), angle, TRUST) for factor in (1, 3))
    floor = TRUST.range_relative_floor
    assert np.sqrt(blurred**2 - floor**2) == pytest.approx(3 * np.sqrt(sharp**2 - floor**2))


def test_a_point_is_reliable_only_if_the_other_reconstruction_confirms_it() -> None:
    angle = triangulation_angles(EXACT)
    doubled = replace(EXACT, xyz_world=2 * EXACT.xyz_world, cam_from_world=EXACT.cam_from_world.copy())
    doubled.cam_from_world[:, :3, 3] *= 2
    assert np.mean(outlier_probabilities(EXACT, doubled, angle, TRUST) == 0.003) > 0.9
    nearer = EXACT.xyz_world.copy()
    nearer[:20] *= 0.5
    outlier_probability = outlier_probabilities(EXACT, replace(EXACT, xyz_world=nearer), angle, TRUST)
    assert np.all(outlier_probability[:20] == 0.05) and np.mean(outlier_probability[20:] == 0.003) > 0.9
    unmatched = replace(EXACT, keypoint=EXACT.keypoint + 100_000)
    assert np.all(outlier_probabilities(EXACT, unmatched, angle, TRUST) == 0.05)
