"""A path that is off by tenths of a degree, put right by tracks; and ranges that tracks tell."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.comparing.agreement_paths import PathLimits, compare_paths
from experts.signals import CameraPath, PointTracks
from experts.tracking.path_on_tracks import FitSettings, FittedPath, path_by_tracks
from experts.tracking.track_ranges import departures, passing
from tests.templates import worlds

PATH = worlds.signals()["camera_path"]
TRACKS = worlds.signals()["tracks"]
assert isinstance(PATH, CameraPath) and isinstance(TRACKS, PointTracks)
SHAKE = np.radians(0.3)


def shaken(rng: np.random.Generator) -> CameraPath:
    """The made-up path with 0.3 degrees and 2 % of noise per frame, and 3 % of focal length."""
    poses = PATH.world_from_cam.copy()
    n = len(poses)
    poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_rotvec(rng.normal(0, SHAKE, (n, 3))).as_matrix()
    poses[:, :3, 3] += rng.normal(0, 0.02, (n, 3))
    camera = replace(PATH.intrinsics, fx_px=PATH.intrinsics.fx_px * 1.03, fy_px=PATH.intrinsics.fy_px * 1.03)
    return replace(
        PATH,
        world_from_cam=poses,
        intrinsics=camera,
        focal_relative_sigma=0.03,
        rotation_sigma_rad=np.full(n, SHAKE),
        position_sigma=np.full(n, 0.02),
    )


def noisy(rng: np.random.Generator, sigma_px: float = 0.3) -> PointTracks:
    return replace(TRACKS, xy_px=TRACKS.xy_px + rng.normal(0, sigma_px, TRACKS.xy_px.shape))


def fitted(tracks: PointTracks, path: CameraPath, **settings: int) -> FittedPath:
    found = path_by_tracks(tracks, path, FitSettings(**settings))
    assert found is not None
    return found


@pytest.mark.parametrize("frames", [120, 12])
def test_tracks_put_a_shaken_path_right(frames: int) -> None:
    rng = np.random.default_rng(0)
    start = shaken(rng)
    found = fitted(noisy(rng), start, frames=frames)
    before, after = (compare_paths(PATH, path, 4.0, PathLimits()) for path in (start, found.path))
    assert before is not None and after is not None
    assert before.rotation_rad > 0.8 * SHAKE
    assert after.rotation_rad < 0.4 * before.rotation_rad
    assert found.residual_px < 0.5
    assert abs(np.log(found.path.intrinsics.fx_px / 600.0)) < 0.03


def test_a_right_path_stays() -> None:
    found = fitted(TRACKS, PATH)
    error = compare_paths(PATH, found.path, 4.0, PathLimits())
    assert error is not None and error.rotation_rad < 1e-4 and error.position < 1e-3
    assert found.residual_px < 0.02


def test_a_path_that_tracks_contradict_is_none() -> None:
    flip = np.diag([-1.0, 1, 1, 1])
    assert (
        path_by_tracks(TRACKS, replace(PATH, world_from_cam=flip @ PATH.world_from_cam @ flip), FitSettings()) is None
    )


def test_no_tracks_no_path() -> None:
    none = replace(TRACKS, xy_px=np.full_like(TRACKS.xy_px, np.nan))
    assert path_by_tracks(none, PATH, FitSettings()) is None


def ranges_of(frame: int, rows: np.ndarray) -> np.ndarray:
    """True ranges of static points from the camera of a frame."""
    static, _ = worlds.moving_points(np.random.default_rng(0))
    pose = PATH.world_from_cam[np.flatnonzero(PATH.frames == frame)[0]]
    return np.linalg.norm(static - pose[:3, 3], axis=1)[rows - 8]


@pytest.mark.parametrize("factor", [1.0, 1.3, 0.5, 2.5])
def test_tracks_tell_by_how_much_a_range_is_wrong(factor: float) -> None:
    here = TRACKS.xy_px[:, 0]
    rows = np.flatnonzero(np.isfinite(here[:, 0]) & (TRACKS.motion == 0))
    exact = FittedPath(path=PATH, residual_px=0.3)
    departure, sigma = departures(factor * ranges_of(0, rows), TRACKS, rows, exact, 0, here[rows])
    told = (sigma < 0.1) & np.isfinite(departure)
    assert told.mean() > 0.5
    np.testing.assert_allclose(departure[told], -np.log(factor), atol=0.02)
    wrong = np.isinf(departure)
    assert not wrong.any() if factor == 1.0 else wrong.mean() < 0.3, "no range explains them from so wrong a start"


def test_what_moves_has_no_range() -> None:
    here = TRACKS.xy_px[:, 0]
    movers = np.flatnonzero((TRACKS.motion == 1) & np.isfinite(here[:, 0]))
    exact = FittedPath(path=PATH, residual_px=0.1)
    departure, _ = departures(np.full(len(movers), 3.1), TRACKS, movers, exact, 0, here[movers])
    assert np.isinf(departure).all()


def test_tracks_that_pass_a_pixel() -> None:
    here = np.array([[10.0, 10], [20, 20], [np.nan, np.nan]])
    usable = np.array([True, False, True])
    at = np.array([[10.5, 10], [20, 20]])
    assert passing(here, usable, at, 1.0).tolist() == [0, -1]
    assert passing(here, np.zeros(3, dtype=bool), at, 1.0).tolist() == [-1, -1]
