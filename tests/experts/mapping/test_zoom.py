"""A focal length that changes shows in what each keyframe asks for."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.colmap_mapping import SparseMap
from experts.mapping.zoom import focal_drift


def made_map(ln_focal: np.ndarray, noise_px: float = 0.2) -> SparseMap:
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
    return SparseMap(
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
