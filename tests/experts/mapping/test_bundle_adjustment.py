"""Bundle adjustments with other cameras tell a zoom, a wrong focal length, and one that is not determined."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.bundle_adjustment import focal_change, focal_spread, refitted_focal
from experts.mapping.colmap_mapping import SparseReconstruction


def zoomed_reconstruction(ln_focal: np.ndarray, noise_px: float = 0.2) -> SparseReconstruction:
    """A camera on an arc, with pictures zoomed by exp(ln_focal); the reconstruction has one focal length."""
    rng = np.random.default_rng(0)
    camera = Intrinsics.centred(640, 480, 600.0)
    xyz = rng.uniform([-3, -1.5, 3], [3, 1.5, 9], (200, 3))
    poses = np.tile(np.eye(4), (len(ln_focal), 1, 1))
    turn = np.linspace(-0.4, 0.4, len(ln_focal))
    poses[:, :3, :3] = Rotation.from_rotvec(turn[:, None] * [0.3, 1, 0.2]).as_matrix()
    poses[:, :3, 3] = [0, 0, 6] - poses[:, :3, :3] @ [0, 0, 6]  # it looks at the middle of the points
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


@pytest.mark.parametrize("zoom", [0.0, 0.05, -0.2])
def test_the_focal_lengths_of_the_groups_differ_by_the_zoom(zoom: float) -> None:
    change = focal_change(zoomed_reconstruction(np.linspace(0, zoom, 12)), groups=5)
    assert change.range == pytest.approx(0.8 * abs(zoom), abs=0.012 + 4 * change.sigma)
    assert change.sigma < 0.02


def test_a_zoom_in_and_out_shows() -> None:
    there_and_back = 0.2 * (1 - np.abs(np.linspace(-1, 1, 13)))
    assert focal_change(zoomed_reconstruction(there_and_back), groups=5).range > 0.08


@pytest.mark.parametrize("keyframes", [3, 4])
def test_wide_photos_show_a_zoom(keyframes: int) -> None:
    assert focal_change(zoomed_reconstruction(np.linspace(0, 0.3, keyframes)), groups=5).range > 0.1
    assert focal_change(zoomed_reconstruction(np.zeros(keyframes)), groups=5).range < 0.02


@pytest.mark.parametrize("factor", [0.85, 1.0, 1.15])
def test_the_focal_length_that_fits_best_is_found_from_a_wrong_one(factor: float) -> None:
    right = zoomed_reconstruction(np.zeros(12))
    camera = replace(right.camera, fx_px=right.camera.fx_px * factor, fy_px=right.camera.fy_px * factor)
    ln_factor, sigma = refitted_focal(replace(right, camera=camera))
    assert ln_factor == pytest.approx(-np.log(factor), abs=0.01 + 4 * sigma) and sigma < 0.02


def test_pixels_need_not_be_square() -> None:
    right = zoomed_reconstruction(np.zeros(12))
    camera = replace(right.camera, fy_px=0.9 * right.camera.fy_px)
    flat = right.xy_px * [1, 0.9] + [0, right.camera.cy_px * 0.1]
    ln_factor, _ = refitted_focal(replace(right, camera=camera, xy_px=flat))
    assert abs(ln_factor) < 0.01


def test_a_drive_straight_ahead_determines_less_than_a_turning_camera() -> None:
    turning = zoomed_reconstruction(np.zeros(12))
    poses = np.tile(np.eye(4), (12, 1, 1))
    poses[:, 2, 3] = -np.linspace(0, 1, 12)
    pixels = [turning.camera.project(turning.xyz_world @ p[:3, :3].T + p[:3, 3]) for p in poses]
    noise = np.random.default_rng(1).normal(0, 0.2, (12 * len(turning.xyz_world), 2))
    ahead = replace(turning, cam_from_world=poses, xy_px=np.concatenate(pixels) + noise)
    assert refitted_focal(ahead)[1] > 3 * refitted_focal(turning)[1]


def test_the_spread_over_camera_models_is_small_where_one_fits() -> None:
    assert focal_spread(zoomed_reconstruction(np.zeros(12))) < 0.02
