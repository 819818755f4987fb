"""Tracks correct a path with errors of tenths of a degree, and determine ranges."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.comparing.agreement_paths import PathLimits, compare_paths
from experts.signals import CameraPath, PointTracks
from experts.tracking.path_on_tracks import FitSettings, FittedPath, path_by_tracks
from experts.tracking.track_ranges import nearest_tracks, range_log_errors
from tests.templates import worlds

PATH = worlds.signals()["camera_path"]
TRACKS = worlds.signals()["tracks"]
assert isinstance(PATH, CameraPath) and isinstance(TRACKS, PointTracks)
NOISE_RAD = np.radians(0.3)


def noisy_path(rng: np.random.Generator) -> CameraPath:
    """The synthetic path with noise of 0.3 degrees and 2 % per frame, and a focal length that is 3 % too long."""
    poses = PATH.world_from_cam.copy()
    n = len(poses)
    poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_rotvec(rng.normal(0, NOISE_RAD, (n, 3))).as_matrix()
    poses[:, :3, 3] += rng.normal(0, 0.02, (n, 3))
    camera = replace(PATH.intrinsics, fx_px=PATH.intrinsics.fx_px * 1.03, fy_px=PATH.intrinsics.fy_px * 1.03)
    return replace(
        PATH,
        world_from_cam=poses,
        intrinsics=camera,
        focal_relative_sigma=0.03,
        rotation_sigma_rad=np.full(n, NOISE_RAD),
        position_sigma=np.full(n, 0.02),
    )


def noisy_tracks(rng: np.random.Generator, sigma_px: float = 0.3) -> PointTracks:
    return replace(TRACKS, xy_px=TRACKS.xy_px + rng.normal(0, sigma_px, TRACKS.xy_px.shape))


def fitted(tracks: PointTracks, path: CameraPath, **settings: int) -> FittedPath:
    found = path_by_tracks(tracks, path, FitSettings(**settings))
    assert found is not None
    return found


@pytest.mark.parametrize("frames", [120, 12])
def test_tracks_correct_a_noisy_path(frames: int) -> None:
    rng = np.random.default_rng(0)
    start = noisy_path(rng)
    found = fitted(noisy_tracks(rng), start, frames=frames)
    before, after = (compare_paths(PATH, path, 4.0, PathLimits()) for path in (start, found.path))
    assert before is not None and after is not None
    assert before.rotation_rad > 0.8 * NOISE_RAD
    assert after.rotation_rad < 0.4 * before.rotation_rad
    assert found.residual_px < 0.5
    assert abs(np.log(found.path.intrinsics.fx_px / 600.0)) < 0.03


def test_an_exact_path_does_not_change() -> None:
    found = fitted(TRACKS, PATH)
    error = compare_paths(PATH, found.path, 4.0, PathLimits())
    assert error is not None and error.rotation_rad < 1e-4 and error.position < 1e-3
    assert found.residual_px < 0.02


def test_a_path_that_tracks_contradict_cannot_be_fitted() -> None:
    flip = np.diag([-1.0, 1, 1, 1])
    assert (
        path_by_tracks(TRACKS, replace(PATH, world_from_cam=flip @ PATH.world_from_cam @ flip), FitSettings()) is None
    )


def test_without_tracks_no_path_is_fitted() -> None:
    none = replace(TRACKS, xy_px=np.full_like(TRACKS.xy_px, np.nan))
    assert path_by_tracks(none, PATH, FitSettings()) is None


def ranges_of(frame: int, rows: np.ndarray) -> np.ndarray:
    """True ranges of static points from the camera of a frame."""
    static, _ = worlds.moving_points(np.random.default_rng(0))
    pose = PATH.world_from_cam[np.flatnonzero(PATH.frames == frame)[0]]
    return np.linalg.norm(static - pose[:3, 3], axis=1)[rows - 8]


@pytest.mark.parametrize("factor", [1.0, 1.3, 0.5, 2.5])
def test_tracks_measure_the_error_of_a_range(factor: float) -> None:
    here = TRACKS.xy_px[:, 0]
    rows = np.flatnonzero(np.isfinite(here[:, 0]) & (TRACKS.motion == 0))
    exact = FittedPath(path=PATH, residual_px=0.3)
    log_error, sigma = range_log_errors(
        factor * ranges_of(0, rows), TRACKS, rows, exact, np.zeros_like(rows), here[rows]
    )
    known = (sigma < 0.1) & np.isfinite(log_error)
    assert known.mean() > 0.5
    np.testing.assert_allclose(log_error[known], -np.log(factor), atol=0.02)
    failed = np.isinf(log_error)
    assert not failed.any() if factor == 1.0 else failed.mean() < 0.3, "some fits fail from such a wrong start"


def test_moving_tracks_have_no_range() -> None:
    here = TRACKS.xy_px[:, 0]
    moving = np.flatnonzero((TRACKS.motion == 1) & np.isfinite(here[:, 0]))
    exact = FittedPath(path=PATH, residual_px=0.1)
    log_error, _ = range_log_errors(
        np.full(len(moving), 3.1), TRACKS, moving, exact, np.zeros_like(moving), here[moving]
    )
    assert np.isinf(log_error).all()


def test_the_nearest_usable_track_of_a_pixel() -> None:
    here = np.array([[10.0, 10], [20, 20], [np.nan, np.nan]])
    usable = np.array([True, False, True])
    at = np.array([[10.5, 10], [20, 20]])
    assert nearest_tracks(here, usable, at, 1.0).tolist() == [0, -1]
    assert nearest_tracks(here, np.zeros(3, dtype=bool), at, 1.0).tolist() == [-1, -1]
