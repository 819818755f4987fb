"""The focal length of every frame of a camera that zooms while it stands or turns, and what is no zoom."""

import numpy as np
import pytest

from experts.intrinsics import Intrinsics
from experts.mapping.motion_kind import MotionSettings, pair_geometries
from experts.mapping.zoom import Zoom, ZoomSettings, zoom_of
from tests.experts.scenes import CAMERA, cloud, matches, projected, rotating, translating

FRAMES = 9
STANDING = rotating([(0.0, 0.0, 0.0)] * FRAMES)
TURNING = rotating([(0.5 * k, 2.5 * k, 0.5 * k) for k in range(FRAMES)])
STEADY = np.ones(FRAMES)


def zoomed(xyz: np.ndarray, poses: np.ndarray, magnification: np.ndarray) -> np.ndarray:
    """Pixels with noise."""
    cameras = [Intrinsics.centred(640, 480, CAMERA.fx_px * m) for m in magnification]
    xy = np.concatenate([projected(xyz, poses[[k]], camera) for k, camera in enumerate(cameras)], axis=1)
    return xy + np.random.default_rng(1).normal(scale=0.3, size=xy.shape)


def found_in(xy: np.ndarray) -> Zoom | None:
    keyframes = np.arange(0, FRAMES, 2)
    pairs = pair_geometries(matches(xy[:, keyframes]), 640, MotionSettings())
    return zoom_of(pairs, keyframes, xy.astype(np.float32), (640, 480), ZoomSettings())


@pytest.mark.parametrize("poses", [STANDING, TURNING], ids=["standing", "turning"])
@pytest.mark.parametrize("last", [1.06, 1.4, 0.7])
def test_the_focal_length_of_every_frame_is_within_sigma(poses: np.ndarray, last: float) -> None:
    magnification = last ** np.linspace(0, 1, FRAMES)
    zoom = found_in(zoomed(cloud(np.random.default_rng(0), 1500), poses, magnification))
    assert zoom is not None
    error = np.log(zoom.magnification / magnification)
    assert np.all(np.abs(error) < 2 * zoom.ln_sigma) and zoom.ln_sigma.max() < 0.01


def test_in_and_out_again_is_no_zoom_at_the_end() -> None:
    magnification = np.exp(0.3 * np.sin(np.linspace(0, np.pi, FRAMES)))
    zoom = found_in(zoomed(cloud(np.random.default_rng(0), 1500), STANDING, magnification))
    assert zoom is not None and np.allclose(zoom.magnification, magnification, rtol=0.01)


@pytest.mark.parametrize("poses", [STANDING, TURNING], ids=["standing", "turning"])
def test_without_a_zoom_there_is_none(poses: np.ndarray) -> None:
    assert found_in(zoomed(cloud(np.random.default_rng(0), 1500), poses, STEADY)) is None


@pytest.mark.parametrize("slant_deg", [6.0, 25.0])
def test_an_approach_to_a_slanted_wall_is_no_zoom(slant_deg: float) -> None:
    wall = cloud(np.random.default_rng(0), 1500, near=4, far=4)
    poses = translating([(0.0, 0.0, 0.15 * k) for k in range(FRAMES)], [(0.0, 0.0, 0.0)] * FRAMES)
    turned = rotating([(0.0, slant_deg, 0.0)])[0, :3, :3]
    assert found_in(zoomed((wall - [0, 0, 4]) @ turned.T + [0, 0, 4], poses, STEADY)) is None


def test_a_walk_among_things_is_no_zoom() -> None:
    poses = translating([(0.0, 0.0, 0.2 * k) for k in range(FRAMES)], [(0.0, 0.0, 0.0)] * FRAMES)
    assert found_in(zoomed(cloud(np.random.default_rng(0), 1500), poses, STEADY)) is None


def test_what_comes_nearer_in_the_middle_is_no_zoom() -> None:
    """A flat front fills the middle of the picture and grows; the edges stand still."""
    rng = np.random.default_rng(0)
    front, edges = rng.uniform([90, 70], [550, 410], (900, 2)), rng.uniform([0, 0], [640, 480], (900, 2))
    edges = edges[(np.abs(edges - [320, 240]) > [235, 175]).any(axis=1)][:300]
    growth = 1.3 ** (np.linspace(0, 1, FRAMES))
    grown = (front[:, None] - [319.5, 239.5]) / 1.3 * growth[:, None] + [319.5, 239.5]
    xy = np.concatenate([grown, np.repeat(edges[:, None], FRAMES, axis=1)])
    assert found_in(xy + rng.normal(scale=0.3, size=xy.shape)) is None
