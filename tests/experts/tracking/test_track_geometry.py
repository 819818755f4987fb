"""Visibility and motion of exact synthetic tracks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, MotionKind, NoEstimate, PointTracks, Scale
from experts.tracking.static_fit import _blocks, fit_consensus, fit_whole, observations, parallax_rad, shown_px
from experts.tracking.track_geometry import TrackGeometryExpert

SOURCE = Provenance(expert="test", version="0")
CAMERA = Intrinsics.centred(640, 480, 560.0)
FRAMES = 60


class NoFrames:
    """A reader that must not be used."""

    def read(self, frames):
        raise AssertionError("the expert reads a frame although it needs none")


def curved_path() -> Float64[np.ndarray, "n 4 4"]:
    """A hand-held walk without a constant direction."""
    t = np.linspace(0, 1, FRAMES)
    pose = np.tile(np.eye(4), (FRAMES, 1, 1))
    pose[:, :3, 3] = np.stack([0.5 * np.sin(4 * t), 0.3 * np.sin(5 * t + 1), 0.4 * t], axis=1)
    angles = np.stack([0.1 * np.sin(3 * t), 0.05 * np.cos(4 * t)], axis=1)
    pose[:, :3, :3] = Rotation.from_euler("yx", angles).as_matrix()
    return pose


def camera_path(pose: Float64[np.ndarray, "n 4 4"], motion: MotionKind = "general") -> CameraPath:
    n = len(pose)
    return CameraPath(
        frames=np.arange(n),
        world_from_cam=pose,
        registered=np.isfinite(pose[:, 0, 0]),
        keyframe=np.ones(n, dtype=bool),
        intrinsics=CAMERA,
        focal_relative_sigma=0.05,
        motion=motion,
        rotation_sigma_rad=np.full(n, 0.01),
        position_sigma=np.full(n, 0.01),
        direction_sigma_rad=0.05,
        scale=Scale(kind="relative"),
        provenance=SOURCE,
    )


def projected(pose: Float64[np.ndarray, "n 4 4"], xyz: Float64[np.ndarray, "t n 3"]) -> Float64[np.ndarray, "t n 2"]:
    """Pixels of points that may move."""
    return CAMERA.project(np.einsum("nji,tnj->tni", pose[:, :3, :3], xyz - pose[:, :3, 3]))


def static(xyz: Float64[np.ndarray, "t 3"], frames: int = FRAMES) -> Float64[np.ndarray, "t n 3"]:
    return np.repeat(xyz[:, None], frames, axis=1)


def wall(rng: np.random.Generator, count: int, z: float = 4.0) -> Float64[np.ndarray, "t 3"]:
    return np.stack([rng.uniform(-1.2, 1.2, count), rng.uniform(-0.9, 0.9, count), np.full(count, z)], axis=1)


def decided(tracks: ImageTracks, path: CameraPath | NoEstimate) -> PointTracks | NoEstimate:
    clip = Clip(
        id="0" * 16,
        name="synthetic",
        frames=tracks.frames,
        times_s=None,
        width_px=640,
        height_px=480,
        reader=NoFrames(),
    )
    signals = {"image_tracks": tracks, "camera_path": path, "sparse_points": NoEstimate(reason="none")}
    out = TrackGeometryExpert()(clip, signals)["tracks"]
    assert isinstance(out, PointTracks | NoEstimate)
    return out


def estimated(xy: Float64[np.ndarray, "t n 2"], path: CameraPath | NoEstimate) -> PointTracks:
    out = decided(ImageTracks(frames=np.arange(xy.shape[1]), xy_px=xy.astype(np.float32), provenance=SOURCE), path)
    assert isinstance(out, PointTracks)
    return out


def moving_object(rng: np.random.Generator, step: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "t n 3"]:
    """Twenty points of a small object in front of the wall that moves by `step` over the clip."""
    t = np.linspace(-0.5, 0.5, FRAMES)[:, None]
    return np.array([0.2, 0.1, 2.5]) + rng.uniform(-0.1, 0.1, (20, 1, 3)) + t * step


def test_moving_and_static_points_are_distinguished() -> None:
    rng = np.random.default_rng(0)
    pose = curved_path()
    xyz = np.concatenate([moving_object(rng, np.array([0.5, 0.3, 0.1])), static(wall(rng, 200))])
    out = estimated(projected(pose, xyz) + rng.normal(0, 0.2, (220, FRAMES, 2)), camera_path(pose))
    assert (out.motion[:20] != 0).all() and (out.motion[:20] == 1).sum() >= 6
    assert (out.moving_pairs[:20] >= 3).all() and (out.residual_px[:20] >= 6).all()
    assert (out.motion[20:] != 1).all() and (out.motion[20:] == 0).mean() > 0.95
    assert out.visible[20:].mean() > 0.95 and out.visible[:20][out.motion[:20] == 1].mean() > 0.8
    assert (out.outlier_probability[20:][out.motion[20:] == 0] < 0.005).all()


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000), noise=st.floats(0.0, 0.3))
def test_a_static_scene_has_no_moving_tracks(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    pose = curved_path()
    xyz = np.concatenate([wall(rng, 60), wall(rng, 60, 2.5)])
    out = estimated(projected(pose, static(xyz)) + rng.normal(0, noise, (120, FRAMES, 2)), camera_path(pose))
    assert (out.motion != 1).all() and (out.motion == 0).mean() > 0.8


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_static_points_are_found_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose, xyz = curved_path(), wall(rng, 10, float(rng.uniform(1.5, 8)))
    tracks = ImageTracks(
        frames=np.arange(FRAMES), xy_px=projected(pose, static(xyz)).astype(np.float32), provenance=SOURCE
    )
    s = observations(tracks, camera_path(pose))
    for fit in (fit_whole(s), fit_consensus(s, 1.5)):
        np.testing.assert_allclose(fit.xyz_world, xyz, rtol=1e-3, atol=1e-3)
        assert np.nanmax(fit.residual_px) < 1e-2
    ray = xyz[:, None] - pose[None, :, :3, 3]
    ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
    largest = np.arccos(np.clip(np.einsum("tni,tmi->tnm", ray, ray), -1, 1)).max(axis=(1, 2))
    angle = parallax_rad(s, fit, s.seen)
    assert (angle <= largest + 1e-6).all() and (angle >= largest / 2).all()


def test_points_whose_motion_would_be_invisible_are_not_called_static() -> None:
    """To a camera with constant velocity, a car with constant velocity looks like a static point elsewhere."""
    rng = np.random.default_rng(0)
    pose = np.tile(np.eye(4), (FRAMES, 1, 1))
    pose[:, 2, 3] = np.linspace(0, 2, FRAMES)
    xyz = static(wall(rng, 80, 6.0))
    xyz[:20] += np.linspace(0, 1, FRAMES)[:, None] * np.array([0, 0, -1.5])
    out = estimated(projected(pose, xyz) + rng.normal(0, 0.1, (80, FRAMES, 2)), camera_path(pose))
    assert (out.motion[:20] == -1).all() and (out.motion[20:] == -1).all()
    assert out.visible.mean() > 0.9


def test_shown_px_is_a_lower_bound_of_the_residual_of_a_motion() -> None:
    rng = np.random.default_rng(1)
    pose, xyz = curved_path(), wall(rng, 5)
    reference = observations(
        ImageTracks(frames=np.arange(FRAMES), xy_px=projected(pose, static(xyz)).astype(np.float32), provenance=SOURCE),
        camera_path(pose),
    )
    fit = fit_whole(reference)
    least = shown_px(reference, fit, reference.seen, 0.05)
    for _ in range(20):
        step = rng.normal(size=3)
        step *= 0.05 * 4.0 / np.linalg.norm(step)
        moved = static(xyz) + np.linspace(-0.5, 0.5, FRAMES)[:, None] * step
        tracks = ImageTracks(
            frames=np.arange(FRAMES), xy_px=projected(pose, moved).astype(np.float32), provenance=SOURCE
        )
        residual = fit_whole(observations(tracks, camera_path(pose))).residual_px
        assert (np.sqrt((residual**2).mean(axis=1)) > 0.8 * least).all()


def test_a_track_that_drifts_onto_an_occluder_is_hidden_and_not_moving() -> None:
    rng = np.random.default_rng(2)
    pose = curved_path()
    far, near = wall(rng, 200), np.array([0.0, 0.0, 2.0]) + rng.uniform(-0.15, 0.15, (40, 3)) * [1, 1, 0]
    occluded = np.array([0.0, 0.0, 4.0]) + rng.uniform(-0.05, 0.05, (10, 3)) * [1, 1, 0]
    xy = projected(pose, static(np.concatenate([far, near, occluded])))
    on_border = projected(pose, static(np.array([[0.0, 0.0, 2.0]])))[0]
    jump = 30
    xy[-10:, jump:] = xy[-10:, jump - 1 : jump] + (on_border[jump:] - on_border[jump - 1])
    out = estimated(xy + rng.normal(0, 0.15, xy.shape), camera_path(pose))
    assert (out.motion != 1).all()
    true = projected(pose, static(occluded))
    wrong = np.linalg.norm(true - xy[-10:], axis=-1) > 3
    assert wrong.any() and not out.visible[-10:][wrong].any()


def test_a_point_behind_a_nearer_one_is_hidden() -> None:
    pose = curved_path()
    rng = np.random.default_rng(3)
    near = np.array([0.0, 0.0, 2.0]) + rng.uniform(-0.2, 0.2, (60, 3)) * [1, 1, 0]
    behind = np.array([[0.0, 0.0, 3.5]])
    out = estimated(projected(pose, static(np.concatenate([near, behind]))), camera_path(pose))
    assert out.visible[:60].mean() > 0.95
    assert out.visible[60].mean() < 0.5


@pytest.mark.parametrize("motion", ["static", "rotation_only"])
def test_moving_tracks_are_found_with_a_camera_that_does_not_translate(motion: MotionKind) -> None:
    rng = np.random.default_rng(4)
    pose = curved_path()
    pose[:, :3, 3] = 0
    if motion == "static":
        pose[:] = np.eye(4)
    xyz = np.concatenate([moving_object(rng, np.array([0.5, 0.3, 0.0])), static(wall(rng, 100))])
    out = estimated(projected(pose, xyz) + rng.normal(0, 0.15, (120, FRAMES, 2)), camera_path(pose, motion))
    assert (out.motion[:20] != 0).all() and (out.motion[:20] == 1).sum() >= 6
    assert (out.motion[20:] == 0).all()


def test_a_single_moving_track_without_neighbours_is_not_called_moving() -> None:
    rng = np.random.default_rng(5)
    xyz = np.concatenate([moving_object(rng, np.array([0.5, 0.3, 0.0]))[:1], static(wall(rng, 100))])
    pose = np.tile(np.eye(4), (FRAMES, 1, 1))
    out = estimated(projected(pose, xyz), camera_path(pose, "static"))
    assert out.motion[0] == -1


def test_a_background_point_dragged_along_by_a_passing_edge_is_not_moving() -> None:
    rng = np.random.default_rng(6)
    xyz = np.concatenate([static(wall(rng, 100)), static(np.array([0.0, 0.0, 4.0]) + rng.uniform(-0.1, 0.1, (6, 3)))])
    pose = np.tile(np.eye(4), (FRAMES, 1, 1))
    xy = projected(pose, xyz)
    xy[-6:, 30:] += np.linspace(0, 60, 30)[:, None] * np.array([1.0, 0.0])
    out = estimated(xy, camera_path(pose, "static"))
    assert (out.motion[-6:] == -1).all() and not out.visible[-6:, 32:].any()


@pytest.mark.long(sample=True)
def test_a_wrong_camera_path_gives_no_moving_tracks() -> None:
    rng = np.random.default_rng(10)
    pose = curved_path()
    wrong = pose.copy()
    pan = np.outer(0.08 * np.sin(np.linspace(0, 9, FRAMES)), [0, 1, 0])
    wrong[:, :3, :3] = Rotation.from_rotvec(pan).as_matrix() @ pose[:, :3, :3]
    xyz = np.concatenate([wall(rng, 100), wall(rng, 100, 2.5)])
    out = estimated(projected(pose, static(xyz)), camera_path(wrong))
    assert (out.motion != 1).all(), "tracks correct the path, or no track is decided"


@pytest.mark.long(sample=True)
def test_under_a_contradicted_path_no_track_is_decided() -> None:
    rng = np.random.default_rng(10)
    pose = curved_path()
    flip = np.diag([-1.0, 1, 1, 1])
    xyz = np.concatenate([wall(rng, 100), wall(rng, 100, 2.5)])
    out = estimated(projected(pose, static(xyz)), camera_path(flip @ pose @ flip))
    assert (out.motion == -1).all() and (out.outlier_probability >= 0.005).all()


def test_a_path_with_errors_of_tenths_of_a_degree_is_corrected() -> None:
    """Learned paths have such errors: at 640 px width 0.5 degrees are 5 px."""
    rng = np.random.default_rng(3)
    pose = curved_path()
    noisy = pose.copy()
    noisy[:, :3, :3] = (
        pose[:, :3, :3] @ Rotation.from_rotvec(np.radians(0.5) * rng.normal(size=(FRAMES, 3))).as_matrix()
    )
    xyz = np.concatenate([wall(rng, 100), wall(rng, 100, 2.5)])
    exact, fitted = (estimated(projected(pose, static(xyz)), camera_path(each)) for each in (pose, noisy))
    assert (fitted.motion == 0).sum() > 0.8 * (exact.motion == 0).sum() > 0
    assert not (fitted.motion == 1).any()


def test_under_an_unresolved_path_tracks_with_parallax_are_not_decided() -> None:
    rng = np.random.default_rng(7)
    pose = curved_path()
    xyz = np.concatenate([wall(rng, 60, z) for z in (1.5, 2.5, 4.0)])
    pose[:, :3, 3] = np.nan
    tracks = ImageTracks(
        frames=np.arange(FRAMES), xy_px=projected(curved_path(), static(xyz)).astype(np.float32), provenance=SOURCE
    )
    out = decided(tracks, camera_path(pose, "unresolved"))
    assert isinstance(out, NoEstimate) and out.reason == "no camera path and no background"


def test_frames_without_a_camera_are_not_visible() -> None:
    rng = np.random.default_rng(8)
    pose = curved_path()
    xy = projected(pose, static(wall(rng, 50)))
    pose[20:30] = np.nan
    out = estimated(xy, camera_path(pose))
    assert not out.visible[:, 20:30].any() and out.visible[:, 30:].mean() > 0.9


def test_sigma_grows_with_age() -> None:
    rng = np.random.default_rng(9)
    pose = curved_path()
    xy = projected(pose, static(wall(rng, 20)))
    xy[:, :10] = np.nan
    out = estimated(xy, camera_path(pose))
    assert np.isnan(out.sigma_px[:, :10]).all()
    assert (out.sigma_px[:, 40] > 0.4).all() and (out.sigma_px[:, 40] < 0.7).all()
    assert (np.diff(out.sigma_px[:, 10:], axis=1) > 0).all()


def test_without_camera_path_there_is_no_estimate() -> None:
    clip = Clip(id="0", name="x", frames=np.arange(3), times_s=None, width_px=64, height_px=48, reader=NoFrames())
    tracks = ImageTracks(frames=clip.frames, xy_px=np.zeros((1, 3, 2), np.float32), provenance=SOURCE)
    none = NoEstimate(reason="too little parallax")
    out = TrackGeometryExpert()(clip, {"image_tracks": tracks, "camera_path": none, "sparse_points": none})["tracks"]
    assert isinstance(out, NoEstimate) and out.detail.startswith("too little parallax; ")


def staggered(frames: int) -> Bool[np.ndarray, "t n"]:
    """Frames in which each of three tracks for every two frames is seen; one is not seen at all."""
    seen = np.zeros((3 * frames // 2, frames), dtype=bool)
    for row, start in enumerate(np.linspace(0, frames - 60, len(seen)).astype(int)):
        seen[row, start : start + 60 // (1 + row % 5)] = row != 7
    return seen


def test_the_work_grows_with_the_length_of_a_clip_and_not_with_its_square() -> None:
    work = []
    for frames in (1000, 2000, 4000):
        seen = staggered(frames)
        blocks = list(_blocks(seen))
        assert (
            sorted(np.concatenate([rows for rows, _ in blocks]).tolist()) == np.flatnonzero(seen.any(axis=1)).tolist()
        )
        assert all(seen[rows].sum() == seen[rows, columns].sum() for rows, columns in blocks)
        work.append(sum(len(rows) * (columns.stop - columns.start) for rows, columns in blocks))
    assert work[1] < 2.2 * work[0] and work[2] < 2.2 * work[1]


def test_a_fit_does_not_depend_on_the_other_tracks() -> None:
    pose, rng = curved_path(), np.random.default_rng(5)
    xy_px = projected(pose, static(wall(rng, 150))).astype(np.float32)
    for row in range(len(xy_px)):
        xy_px[row, : row % 50] = np.nan
        xy_px[row, row % 50 + 9 :] = np.nan
    images = ImageTracks(frames=np.arange(FRAMES), xy_px=xy_px, provenance=SOURCE)
    s = observations(images, camera_path(pose))
    whole = fit_consensus(s, 1.5)
    for row in range(0, 150, 29):
        alone = fit_consensus(s.of(np.array([row])), 1.5)
        np.testing.assert_allclose(alone.xyz_world[0], whole.xyz_world[row], rtol=1e-6)
        np.testing.assert_allclose(alone.residual_px[0], whole.residual_px[row], atol=1e-6)
