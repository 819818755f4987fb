"""Comparison of independent estimates: the same motion in another world agrees, contradictions are refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.comparing.agreement_depth import DepthLimits, compare_depths
from experts.comparing.agreement_paths import PathError, PathLimits, common_rows, compare_paths, scale_between
from experts.comparing.agreement_up import UpLimits, floor_tilt
from experts.comparing.cross_check import CrossCheckExpert
from experts.expert import joins
from experts.provenance import Provenance
from experts.signals import Agreement, Calibration, CameraPath, Depth, Gravity, NoEstimate, Scale, Signal
from tests.templates import worlds

CLIP = worlds.clip()
OTHER = Provenance(expert="another", version="1")


def path(**changes: object) -> CameraPath:
    signal = worlds.signals()["camera_path"]
    assert isinstance(signal, CameraPath)
    return replace(signal, **changes)  # type: ignore[arg-type]


def elsewhere(known: CameraPath, rng: np.random.Generator, unit: float = 1.0) -> CameraPath:
    """The same motion in another world and unit, by another expert."""
    world = np.eye(4)
    world[:3, :3], world[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    poses = world @ known.world_from_cam
    poses[:, :3, 3] *= unit
    return replace(known, world_from_cam=poses, position_sigma=known.position_sigma * unit, provenance=OTHER)


def wall(z: np.ndarray | float = 3.0, **changes: object) -> Depth:
    """Depth of every fourth frame of the synthetic clip."""
    frames = worlds.FRAMES[::4]
    maps = np.asarray(z, dtype=np.float32)
    maps = maps if maps.shape[-2:] == (480, 640) else np.broadcast_to(maps, (len(frames), 48, 64)).copy()
    depth = Depth(
        frames=frames,
        z=maps,
        relative_sigma=np.where(np.isfinite(maps), np.float32(0.02), np.float32("nan")),
        scale=Scale(kind="relative"),
        provenance=worlds.SOURCE,
    )
    return replace(depth, **changes)  # type: ignore[arg-type]


def checked(**signals: Signal | NoEstimate) -> Agreement | NoEstimate:
    (agreement,) = CrossCheckExpert()(CLIP, signals).values()
    assert isinstance(agreement, Agreement | NoEstimate)
    return agreement


def agreement_of(**signals: Signal | NoEstimate) -> Agreement:
    agreement = checked(**signals)
    assert isinstance(agreement, Agreement)
    return agreement


def test_a_single_estimate_gives_no_agreement() -> None:
    assert joins(CrossCheckExpert())
    assert checked() == NoEstimate(reason="nothing to compare")
    assert checked(camera_path=path(), camera_path_check=NoEstimate(reason="no reconstruction")) == NoEstimate(
        reason="nothing to compare"
    )


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.05, 20))
def test_the_same_motion_in_another_world_and_unit_agrees(seed: int, unit: float) -> None:
    known = path()
    other = elsewhere(known, np.random.default_rng(seed), unit)
    found = agreement_of(camera_path=known, camera_path_check=other, depth=wall())
    assert found.refused == {}
    assert max(found.disagreement.values()) < 1e-6
    assert scale_between(known, other) == pytest.approx(1 / unit)
    assert "camera_path: made up, another" in found.compared


def test_known_differences_become_sigma() -> None:
    rng = np.random.default_rng(1)
    known = path()
    poses = known.world_from_cam.copy()
    poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_rotvec(rng.normal(0, 0.03, (len(poses), 3))).as_matrix()
    poses[:, :3, 3] += rng.normal(0, 0.05, (len(poses), 3))
    found = agreement_of(camera_path=known, camera_path_check=replace(known, world_from_cam=poses), depth=wall())
    assert found.refused == {}
    unexplained = np.sqrt(0.03**2 - 2 * np.radians(0.7) ** 2)
    assert found.disagreement["rotation_rad"] == pytest.approx(unexplained, rel=0.3)
    assert found.disagreement["position_share"] == pytest.approx(0.05 / 3.0, rel=0.3)


def flipped(known: CameraPath) -> np.ndarray:
    flip = np.diag([-1.0, 1, 1, 1])
    return flip @ known.world_from_cam @ flip


def with_centres_mirrored(known: CameraPath) -> np.ndarray:
    """Mirrors the centres only. A Sim(3) of centres in a plane would not notice."""
    poses = known.world_from_cam.copy()
    poses[:, 0, 3] *= -1
    return poses


def in_reverse(known: CameraPath) -> np.ndarray:
    poses = known.world_from_cam.copy()
    poses[:, :3, 3] = poses[::-1, :3, 3]
    return poses


@pytest.mark.parametrize("wrong", [flipped, with_centres_mirrored, in_reverse])
def test_another_motion_is_refused(wrong) -> None:  # type: ignore[no-untyped-def]
    known = path()
    other = elsewhere(replace(known, world_from_cam=wrong(known)), np.random.default_rng(0), 2.0)
    found = agreement_of(camera_path=known, camera_path_check=other, depth=wall())
    assert found.refused == {"camera_path": "two camera paths disagree"}


def test_rotation_about_a_straight_path_is_found_from_the_camera_rotations() -> None:
    """Centres on a line leave the rotation about the line undetermined."""
    known = path()
    poses = known.world_from_cam.copy()
    poses[:, :3, 3] = np.linspace(0, 2, len(poses))[:, None] * [1.0, 0, 0]
    straight = replace(known, world_from_cam=poses)
    about = np.eye(4)
    about[:3, :3] = Rotation.from_rotvec([0.6, 0, 0]).as_matrix()
    rotating = poses.copy()
    rotating[:, :3, :3] = (
        Rotation.from_rotvec(np.linspace(0, 0.6, len(poses))[:, None] * [1.0, 0, 0]).as_matrix() @ (poses[:, :3, :3])
    )
    assert error_between(straight, replace(straight, world_from_cam=about @ poses)).contradiction == ""
    wrong = error_between(straight, replace(straight, world_from_cam=rotating))
    assert wrong.contradiction == "two camera paths disagree"


def error_between(a: CameraPath, b: CameraPath) -> PathError:
    found = compare_paths(a, b, 3.0, PathLimits())
    assert found is not None
    return found


def test_a_path_without_translation_contradicts_one_with_translation() -> None:
    known = path()
    poses = known.world_from_cam.copy()
    poses[:, :3, 3] = np.nan
    rotating = replace(known, world_from_cam=poses, motion="rotation_only", provenance=OTHER)
    found = agreement_of(camera_path=known, camera_path_check=rotating, depth=wall())
    assert found.refused == {"camera_path": "the camera translates in one of two paths"}
    unresolved = replace(rotating, motion="unresolved")
    assert agreement_of(camera_path=known, camera_path_check=unresolved, depth=wall()).refused == {}
    far = agreement_of(camera_path=known, camera_path_check=rotating, depth=wall(200.0))
    assert far.refused == {}, "the translation is small compared with the range of the scene"


def test_too_few_common_frames_are_not_compared() -> None:
    known = path()
    registered = np.zeros(len(known.frames), dtype=bool)
    registered[:2] = True
    assert compare_paths(known, replace(known, registered=registered), 3.0, PathLimits()) is None
    assert [len(rows) for rows in common_rows(known, replace(known, registered=registered))] == [2, 2]


def test_focal_lengths_agree_or_contradict() -> None:
    known = path(focal_relative_sigma=0.02)
    camera = known.intrinsics

    def calibrated(factor: float) -> Agreement:
        lens = replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor)
        calibration = Calibration(intrinsics=lens, focal_relative_sigma=0.02, provenance=OTHER)
        return agreement_of(camera_path=known, calibration=calibration)

    assert calibrated(1.02).disagreement["focal_relative"] == 0.0
    assert calibrated(1.1).disagreement["focal_relative"] == pytest.approx(np.sqrt(np.log(1.1) ** 2 - 2 * 0.02**2))
    assert calibrated(1.4).refused == {"calibration": "two focal lengths disagree"}


def test_depths_agree_up_to_one_factor_and_inverted_depth_is_refused() -> None:
    x = np.linspace(1, 5, 64)[None].repeat(48, axis=0)
    known = path()
    same = agreement_of(camera_path=known, depth=wall(x), depth_check=wall(3 * x, provenance=OTHER))
    assert same.disagreement["depth_relative"] == 0 and same.refused == {}
    inverted = agreement_of(camera_path=known, depth=wall(x), depth_check=wall(5 / x, provenance=OTHER))
    assert inverted.refused == {"depth": "two depths disagree"}


def test_one_scale_per_frame_is_allowed_only_where_it_is_declared() -> None:
    z = np.linspace(1, 5, 64)[None, None] * np.linspace(1, 2, 6)[:, None, None]
    known, growing = path(), wall(z)
    steady = wall(np.linspace(1, 5, 64))
    error = compare_depths(growing, steady, known, DepthLimits())
    assert error is not None and error.relative > 0.2
    per_frame = compare_depths(replace(growing, scale=Scale(kind="per_frame")), steady, known, DepthLimits())
    assert per_frame is not None and per_frame.relative < 1e-6 and np.isnan(per_frame.factor)


def depth_at_points(factor: float = 1.0) -> Depth:
    """Dense depth around the pixels of the synthetic points, equal to the points' own depth."""
    signals = worlds.signals()
    known, points = signals["camera_path"], signals["sparse_points"]
    frames = worlds.FRAMES[::4]
    z = np.full((len(frames), 480, 640), np.nan, dtype=np.float32)
    for k, frame in enumerate(frames):
        pose = known.world_from_cam[np.flatnonzero(known.frames == frame)[0]]
        for row in np.flatnonzero(points.observation_frame == frame):
            x, y = points.observation_xy_px[row].round().astype(int)
            offset = points.xyz_world[points.observation_point[row]] - pose[:3, 3]
            z[k, max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3] = factor * (offset @ pose[:3, 2])
    return wall(z)


def test_depth_is_compared_with_points_in_another_unit() -> None:
    signals = worlds.signals()
    known = path()
    check = elsewhere(known, np.random.default_rng(3), 0.2)
    in_cam = (signals["sparse_points"].xyz_world - known.world_from_cam[0, :3, 3]) @ known.world_from_cam[0, :3, :3]
    xyz = 0.2 * in_cam @ check.world_from_cam[0, :3, :3].T + check.world_from_cam[0, :3, 3]
    points = replace(signals["sparse_points"], xyz_world=xyz, provenance=OTHER)
    same = agreement_of(camera_path=known, camera_path_check=check, sparse_points_check=points, depth=depth_at_points())
    assert same.refused == {} and same.disagreement["depth_relative"] == 0
    assert "depth and points: made up, another" in same.compared
    scaled = agreement_of(
        camera_path=known, camera_path_check=check, sparse_points_check=points, depth=depth_at_points(1.5)
    )
    assert scaled.refused == {"depth": "depth and camera path differ in scale"}


def gravity(rotation: np.ndarray | None = None, **changes: object) -> Gravity:
    signal = worlds.signals()["gravity"]
    assert isinstance(signal, Gravity)
    up = signal.up_cam if rotation is None else Rotation.from_rotvec(rotation).apply(signal.up_cam)
    return replace(signal, up_cam=np.ascontiguousarray(up), **changes)  # type: ignore[arg-type]


def test_up_directions_agree_or_contradict() -> None:
    near = gravity(np.array([0.0, 0, 0.02]), provenance=OTHER)
    assert agreement_of(gravity=gravity(), gravity_check=near).disagreement["up_rad"] == 0
    wider = agreement_of(gravity=gravity(), gravity_check=gravity(np.array([0.0, 0, 0.09]), provenance=OTHER))
    assert 0.03 < wider.disagreement["up_rad"] < 0.09 and wider.refused == {}
    side = agreement_of(gravity=gravity(), gravity_check=gravity(np.array([0.0, 0, np.pi / 2]), provenance=OTHER))
    assert side.refused == {"gravity": "two up directions disagree"}


def test_up_directions_of_different_frames_are_compared_in_the_world() -> None:
    whole = gravity(provenance=OTHER)
    odd = replace(
        whole, frames=whole.frames[1::2], up_cam=whole.up_cam[1::2].copy(), sigma_rad=whole.sigma_rad[1::2].copy()
    )
    even = replace(
        whole, frames=whole.frames[::2], up_cam=whole.up_cam[::2].copy(), sigma_rad=whole.sigma_rad[::2].copy()
    )
    assert agreement_of(gravity=even, gravity_check=odd, camera_path=path()).disagreement["up_rad"] == 0
    assert checked(gravity=even, gravity_check=odd) == NoEstimate(reason="nothing to compare")


def floor_below(lean_rad: float = 0.0) -> tuple[Depth, CameraPath, np.ndarray]:
    """Depth of a floor 1.2 units below the first camera, tilted by `lean_rad`."""
    known = path(motion="general")
    up = Rotation.from_rotvec([lean_rad, 0, 0]).apply([0.0, 0, 1])
    frames = known.frames[::4]
    maps = []
    camera = known.intrinsics.scaled(64, 48)
    grid = np.stack(np.meshgrid(np.arange(64.0), np.arange(48.0)), axis=-1).reshape(-1, 2)
    for frame in frames:
        pose = known.world_from_cam[np.flatnonzero(known.frames == frame)[0]]
        rays = camera.rays(grid)
        rays = rays / rays[:, 2:]
        down = (rays @ pose[:3, :3].T) @ up
        height = 1.2 + (pose[:3, 3] - known.world_from_cam[0, :3, 3]) @ up
        with np.errstate(divide="ignore"):
            z = np.where(down < -0.02, height / -down, np.inf)
        maps.append(np.where(z < 6, z, 6.0).reshape(48, 64))
    return wall(np.stack(maps), frames=frames), known, up


def test_the_floor_confirms_or_contradicts_up() -> None:
    for lean in (0.0, 0.2):
        depth, known, _ = floor_below(lean)
        tilt = floor_tilt(depth, known, np.array([0.0, 0, 1]), UpLimits())
        assert tilt == pytest.approx(lean, abs=0.02)
    depth, known, _ = floor_below()
    fine = agreement_of(camera_path=known, depth=depth, gravity=gravity())
    assert fine.refused == {} and "gravity and floor: made up, made up" in fine.compared
    depth, known, _ = floor_below(0.25)
    assert agreement_of(camera_path=known, depth=depth, gravity=gravity()).refused == {
        "gravity": "the floor is not perpendicular to gravity"
    }


def test_without_a_floor_up_is_not_compared() -> None:
    assert checked(camera_path=path(), depth=wall(), gravity=gravity()) == NoEstimate(reason="nothing to compare")


def learned_depth(exponent: float = 1.0) -> Depth:
    """Depth of the synthetic world as a model would predict it, raised to `exponent`."""
    depth = depth_at_points()
    steep = np.where(depth.z > 0, depth.z**exponent, depth.z).astype(np.float32)
    return replace(depth, z=steep, outlier_probability=0.02)


def test_tracks_confirm_or_contradict_a_learned_path_and_depth() -> None:
    tracks, known = worlds.signals()["tracks"], path()
    fine = agreement_of(camera_path=known, depth=learned_depth(), tracks=tracks)
    assert fine.refused == {} and max(fine.disagreement.values()) < 0.01
    assert fine.compared == ("camera_path and tracks: made up, made up", "depth and tracks: made up, made up")
    wrong = agreement_of(camera_path=path(world_from_cam=flipped(known)), depth=learned_depth(), tracks=tracks)
    assert wrong.refused["camera_path"] == "tracks contradict the camera path"
    inverted = agreement_of(camera_path=known, depth=learned_depth(-1.0), tracks=tracks)
    assert inverted.refused == {
        "depth": "tracks contradict the depth",
        "camera_path": "tracks contradict depth and path",
    }


def test_measured_depth_and_few_tracks_are_not_compared() -> None:
    tracks, known = worlds.signals()["tracks"], path()
    nothing = NoEstimate(reason="nothing to compare")
    assert checked(camera_path=known, depth=depth_at_points(), tracks=tracks) == nothing
    few = replace(tracks, xy_px=np.where(np.arange(len(tracks.xy_px))[:, None, None] < 20, tracks.xy_px, np.nan))
    assert checked(camera_path=known, depth=learned_depth(), tracks=few) == nothing
