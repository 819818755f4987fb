"""Gravity from drawn lines with exactly known cameras, and from real footage with measured gravity."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from jaxtyping import Float64

from experts.clip import Clip, OpeningOptions, Picture
from experts.gravity.vanishing_points import VanishingPointsExpert
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import CameraPath, Gravity, MotionKind, NoEstimate, Scale, Signal, SparsePoints
from experts.stated_camera import contradicted
from spatial_engine.rendering import as_clip, camera_paths, true_signals
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.rooms import random_room
from tests.experts.drawn_lines import CAMERA, DrawnReader, Untouched, built_world, walk

NONE = NoEstimate(reason="not needed")
SOURCE = Provenance(expert="test", version="0")
LONG = pytest.mark.long(sample=True)


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
        rotation_sigma_rad=np.full(n, 0.012),
        position_sigma=np.full(n, 0.01),
        direction_sigma_rad=0.05,
        scale=Scale(kind="relative"),
        provenance=SOURCE,
    )


def floor(pose: Float64[np.ndarray, "n 4 4"]) -> SparsePoints:
    """Points of a floor 1.5 below the walk that extends towards it."""
    rng, n = np.random.default_rng(0), 300
    return SparsePoints(
        xyz_world=np.c_[rng.uniform(-3, 4, n), rng.uniform(1, 8, n), np.full(n, -1.5)],
        range_relative_sigma=np.full(n, 0.02),
        triangulation_angle_rad=np.full(n, 0.1),
        outlier_probability=np.full(n, 0.003),
        observation_point=np.zeros(0, np.int64),
        observation_frame=np.zeros(0, np.int64),
        observation_xy_px=np.zeros((0, 2)),
        provenance=SOURCE,
    )


def estimate(
    reader: object,
    path: CameraPath | NoEstimate,
    points: SparsePoints | NoEstimate = NONE,
    *,
    frames: int = 8,
    upright: bool = True,
) -> Gravity | NoEstimate:
    signals = {"camera_path": path, "sparse_points": points, "valid_area": NONE}
    return gravity(clip_of(reader, frames, upright), signals)


def clip_of(reader: object, frames: int = 8, upright: bool = True) -> Clip:
    return Clip(
        id="0" * 16,
        name="drawn",
        frames=np.arange(frames),
        times_s=None,
        width_px=CAMERA.width_px,
        height_px=CAMERA.height_px,
        options=OpeningOptions(upright=upright),
        reader=reader,  # type: ignore[arg-type]
    )


def gravity(clip: Clip, signals: Mapping[str, Signal | NoEstimate]) -> Gravity | NoEstimate:
    out = VanishingPointsExpert()(clip, signals)["gravity"]
    assert isinstance(out, Gravity | NoEstimate)
    return out


def test_a_path_with_undetermined_focal_length_gives_no_gravity() -> None:
    path = replace(camera_path(walk(0.0, 0.0)), focal_relative_sigma=1.2)
    out = estimate(Untouched(), path)
    assert isinstance(out, NoEstimate) and out.reason == "gravity depends on the focal length"


def error_rad(out: Gravity, pose: Float64[np.ndarray, "n 4 4"], up_world: Float64[np.ndarray, "3"]) -> float:
    true = np.einsum("nij,i->nj", pose[:, :3, :3], up_world)
    return float(np.arccos(np.clip((true * out.up_cam).sum(axis=1), -1, 1)).max())


@pytest.mark.parametrize(("roll_deg", "pitch_deg"), [(0.0, 0.0), pytest.param(3.0, -15.0, marks=LONG), (-20.0, 10.0)])
def test_up_of_drawn_lines(roll_deg: float, pitch_deg: float) -> None:
    pose = walk(roll_deg, pitch_deg)
    reader = DrawnReader(ends=built_world(np.random.default_rng(0)), world_from_cam=pose)
    out = estimate(reader, camera_path(pose), floor(pose))
    assert isinstance(out, Gravity) and out.decided_by == "--upright"
    assert error_rad(out, pose, np.array([0, 0, 1.0])) < np.deg2rad(1.0)
    assert (out.sigma_rad >= np.deg2rad(1.5)).all() and (out.sigma_rad < np.deg2rad(4)).all()


def test_rotations_are_enough() -> None:
    pose = walk(5.0, -5.0)
    pose[:, 0, 3] = 0
    reader = DrawnReader(ends=built_world(np.random.default_rng(1)), world_from_cam=pose.copy())
    without_positions = pose.copy()
    without_positions[:, :3, 3] = np.nan
    out = estimate(reader, camera_path(without_positions, "unresolved"))
    assert isinstance(out, Gravity) and error_rad(out, pose, np.array([0, 0, 1.0])) < np.deg2rad(1.0)


def test_without_the_flag_no_picture_is_read() -> None:
    out = estimate(Untouched(), camera_path(walk(0, 0)), upright=False)
    assert isinstance(out, NoEstimate) and "--upright" in out.remedy


def test_points_of_another_expert_show_no_floor() -> None:
    """They are in another world."""
    pose = walk(-20.0, 10.0)
    reader = DrawnReader(ends=built_world(np.random.default_rng(0)), world_from_cam=pose)
    foreign = replace(floor(pose), provenance=replace(SOURCE, expert="another"))
    out = estimate(reader, camera_path(pose), foreign)
    assert isinstance(out, NoEstimate) and out.reason == "the footage does not confirm --upright"


@pytest.mark.parametrize(
    ("roll_deg", "pitch_deg", "detail"),
    [
        (0.0, 0.0, None),
        (90.0, 0.0, "level axis"),
        (180.0, 0.0, "times as far away"),
        pytest.param(0.0, -65.0, "level axis", marks=LONG),
    ],
)
def test_a_room_confirms_only_a_true_flag(roll_deg: float, pitch_deg: float, detail: str | None) -> None:
    """Without the check, up would have an error of 90° or 180° in all rooms but the level one."""

    def path(n: int, start: Stance) -> Poses:
        held = replace(start, roll_rad=np.deg2rad(roll_deg), pitch_rad=np.deg2rad(pitch_deg))
        return camera_paths.performed([(n, {"truck": 0.4, "pan": 0.35})], held)

    scene = random_room(np.random.default_rng(1), frames=5, path=path)
    clip = as_clip(scene).with_options(upright=True)
    signals = {**true_signals(scene, clip), "valid_area": NONE}
    out = gravity(clip, signals)
    if detail is None:
        assert isinstance(out, Gravity) and error_rad(out, scene.world_from_cam, np.array([0, 0, 1.0])) < np.deg2rad(1)
    else:
        assert isinstance(out, NoEstimate) and out.reason == "the footage does not confirm --upright"
        assert detail in out.detail and "--upright" in out.remedy
    assert isinstance(gravity(clip.with_options(upright=False), signals), NoEstimate)


def test_where_lines_contradict_the_users_focal_length_there_is_no_gravity() -> None:
    why = contradicted(1.2, "straight lines")
    path = camera_path(walk(0.0, 0.0))
    clip = clip_of(Untouched())
    assert gravity(clip, {"camera_path": path, "valid_area": NONE, "calibration": why}) is why


@pytest.mark.parametrize("roll_deg", [38.0, -45.0])
def test_without_an_axis_near_image_up_there_is_no_estimate(roll_deg: float) -> None:
    pose = walk(roll_deg, 0.0)
    out = estimate(DrawnReader(ends=built_world(np.random.default_rng(2)), world_from_cam=pose), camera_path(pose))
    assert isinstance(out, NoEstimate)


def test_lines_in_all_directions_give_no_estimate() -> None:
    pose = walk(0, 0)
    world = built_world(np.random.default_rng(3), tilt_sigma_rad=1.0)
    assert isinstance(estimate(DrawnReader(ends=world, world_from_cam=pose), camera_path(pose)), NoEstimate)


def test_blank_pictures_and_few_frames_give_no_estimate() -> None:
    pose = walk(0, 0)
    empty = DrawnReader(ends=np.zeros((0, 2, 3)), world_from_cam=pose)
    assert isinstance(estimate(empty, camera_path(pose)), NoEstimate)
    assert isinstance(estimate(Untouched(), camera_path(pose[:3]), frames=3), NoEstimate)
    assert isinstance(estimate(Untouched(), NONE), NoEstimate)


def test_a_camera_that_is_upside_down_in_half_of_the_clip_gives_no_estimate() -> None:
    pose = walk(0, 0)
    pose[4:, :3, :2] *= -1
    assert isinstance(estimate(Untouched(), camera_path(pose)), NoEstimate)


def test_one_view_has_the_larger_floor_of_sigma() -> None:
    pose = np.repeat(walk(0, -5.0)[:1], 8, axis=0)
    out = estimate(
        DrawnReader(ends=built_world(np.random.default_rng(4)), world_from_cam=pose), camera_path(pose, "static")
    )
    assert isinstance(out, NoEstimate) or (out.sigma_rad >= np.deg2rad(2.5)).all()


def real_clip(folder: str, pictures: str, count: int, camera: Intrinsics) -> Clip:
    root = os.environ.get("SPATIAL_ENGINE_DATA")
    if root is None:
        pytest.skip("SPATIAL_ENGINE_DATA is not set")
    files = sorted((Path(root) / folder).glob(pictures))[:count]

    class Files:
        def read(self, frames: Sequence[int]) -> Iterator[Picture]:
            for frame in frames:
                yield cv2.cvtColor(cv2.imread(str(files[frame])), cv2.COLOR_BGR2RGB)

    return Clip(
        id="0" * 16,
        name=folder,
        frames=np.arange(count),
        times_s=None,
        width_px=camera.width_px,
        height_px=camera.height_px,
        options=OpeningOptions(upright=True),
        reader=Files(),
    )


def test_headset_footage() -> None:
    """Indoor head-mounted camera that rotates by 32°. Its world's +y axis is vertical to 0.05° (its README)."""
    camera = Intrinsics(width_px=540, height_px=360, fx_px=495.57, fy_px=495.48, cx_px=269.5, cy_px=169.19)
    clip = real_clip("hololens_indoor", "images/*.png", 28, camera)
    pose = np.loadtxt(Path(os.environ["SPATIAL_ENGINE_DATA"], "hololens_indoor/poses.txt")).reshape(-1, 4, 4)
    out = gravity(clip, {"camera_path": replace(camera_path(pose), intrinsics=camera), "valid_area": NONE})
    assert isinstance(out, Gravity)
    assert error_rad(out, pose, np.array([0, 1.0, 0])) < 2 * out.sigma_rad.min()


def test_a_table_from_above_is_not_upright() -> None:
    """Edges of a board on the table must not be mistaken for verticals."""
    camera = Intrinsics(width_px=1920, height_px=1440, fx_px=1459.5, fy_px=1459.5, cx_px=962.1, cy_px=724.5)
    clip = real_clip("mobilebrick", "image/*.jpg", 5, camera)
    files = sorted(Path(os.environ["SPATIAL_ENGINE_DATA"], "mobilebrick/pose").glob("*.txt"))
    pose = np.stack([np.loadtxt(file) for file in files])
    out = gravity(clip, {"camera_path": replace(camera_path(pose), intrinsics=camera), "valid_area": NONE})
    assert isinstance(out, NoEstimate) and out.reason == "the footage does not confirm --upright"
