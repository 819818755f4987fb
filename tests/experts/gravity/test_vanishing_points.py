"""Gravity of drawn line worlds, where the answer is exact; and of real footage with measured gravity."""

import os
from collections.abc import Iterator, Sequence
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
from experts.signals import CameraPath, Gravity, MotionKind, NoEstimate, Scale
from tests.experts.drawn_lines import CAMERA, DrawnReader, Untouched, built_world, walk

NONE = NoEstimate(reason="not asked for")
SOURCE = Provenance(expert="test", version="0")


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


def asked(
    reader: object, path: CameraPath | NoEstimate, *, frames: int = 8, upright: bool = True
) -> Gravity | NoEstimate:
    clip = Clip(
        id="0" * 16,
        name="drawn",
        frames=np.arange(frames),
        times_s=None,
        width_px=CAMERA.width_px,
        height_px=CAMERA.height_px,
        options=OpeningOptions(upright=upright),
        reader=reader,  # type: ignore[arg-type]
    )
    out = VanishingPointsExpert()(clip, {"camera_path": path, "valid_area": NONE})["gravity"]
    assert isinstance(out, Gravity | NoEstimate)
    return out


def test_a_path_whose_focal_length_is_open_gives_no_gravity() -> None:
    path = replace(camera_path(walk(0.0, 0.0)), focal_relative_sigma=1.2)
    out = asked(Untouched(), path)
    assert isinstance(out, NoEstimate) and out.reason == "gravity rests on the focal length"


def off_rad(out: Gravity, pose: Float64[np.ndarray, "n 4 4"], up_world: Float64[np.ndarray, "3"]) -> float:
    true = np.einsum("nij,i->nj", pose[:, :3, :3], up_world)
    return float(np.arccos(np.clip((true * out.up_cam).sum(axis=1), -1, 1)).max())


@pytest.mark.parametrize(("roll_deg", "pitch_deg"), [(0.0, 0.0), (12.0, -15.0), (-20.0, 10.0)])
def test_up_of_a_built_world(roll_deg: float, pitch_deg: float) -> None:
    pose = walk(roll_deg, pitch_deg)
    out = asked(DrawnReader(ends=built_world(np.random.default_rng(0)), world_from_cam=pose), camera_path(pose))
    assert isinstance(out, Gravity) and out.decided_by == "--upright"
    assert off_rad(out, pose, np.array([0, 0, 1.0])) < np.deg2rad(1.0)
    assert (out.sigma_rad >= np.deg2rad(1.5)).all() and (out.sigma_rad < np.deg2rad(4)).all()


def test_rotations_are_enough() -> None:
    pose = walk(5.0, -5.0)
    pose[:, 0, 3] = 0
    reader = DrawnReader(ends=built_world(np.random.default_rng(1)), world_from_cam=pose.copy())
    unplaced = pose.copy()
    unplaced[:, :3, 3] = np.nan
    out = asked(reader, camera_path(unplaced, "unresolved"))
    assert isinstance(out, Gravity) and off_rad(out, pose, np.array([0, 0, 1.0])) < np.deg2rad(1.0)


def test_without_the_users_word_nothing_is_read() -> None:
    out = asked(Untouched(), camera_path(walk(0, 0)), upright=False)
    assert isinstance(out, NoEstimate) and "--upright" in out.remedy


@pytest.mark.parametrize("roll_deg", [38.0, -45.0])
def test_no_axis_near_image_up_is_refused(roll_deg: float) -> None:
    pose = walk(roll_deg, 0.0)
    out = asked(DrawnReader(ends=built_world(np.random.default_rng(2)), world_from_cam=pose), camera_path(pose))
    assert isinstance(out, NoEstimate)


def test_lines_in_all_directions_are_refused() -> None:
    pose = walk(0, 0)
    world = built_world(np.random.default_rng(3), spread=1.0)
    assert isinstance(asked(DrawnReader(ends=world, world_from_cam=pose), camera_path(pose)), NoEstimate)


def test_bare_pictures_and_few_frames_are_refused() -> None:
    pose = walk(0, 0)
    empty = DrawnReader(ends=np.zeros((0, 2, 3)), world_from_cam=pose)
    assert isinstance(asked(empty, camera_path(pose)), NoEstimate)
    assert isinstance(asked(Untouched(), camera_path(pose[:3]), frames=3), NoEstimate)
    assert isinstance(asked(Untouched(), NONE), NoEstimate)


def test_a_camera_turned_about_is_refused() -> None:
    pose = walk(0, 0)
    pose[4:, :3, :2] *= -1  # half of the clip upside down
    assert isinstance(asked(Untouched(), camera_path(pose)), NoEstimate)


def test_one_view_has_the_wider_floor() -> None:
    pose = np.repeat(walk(0, -5.0)[:1], 8, axis=0)
    out = asked(
        DrawnReader(ends=built_world(np.random.default_rng(4)), world_from_cam=pose), camera_path(pose, "static")
    )
    assert isinstance(out, NoEstimate) or (out.sigma_rad >= np.deg2rad(2.5)).all()


def test_headset_footage() -> None:
    """Indoor head-mounted camera; its world's +y is up to 0.05° (its README)."""
    root = os.environ.get("SPATIAL_ENGINE_DATA")
    if root is None:
        pytest.skip("SPATIAL_ENGINE_DATA is not set")
    folder = Path(root) / "hololens_indoor"
    files = sorted((folder / "images").glob("*.png"))[:14]
    pose = np.loadtxt(folder / "poses.txt").reshape(-1, 4, 4)[: len(files)]
    k = np.loadtxt(folder / "K.txt")

    class Files:
        def read(self, frames: Sequence[int]) -> Iterator[Picture]:
            for frame in frames:
                yield cv2.cvtColor(cv2.imread(str(files[frame])), cv2.COLOR_BGR2RGB)

    camera = Intrinsics(width_px=540, height_px=360, fx_px=k[0, 0], fy_px=k[1, 1], cx_px=k[0, 2], cy_px=k[1, 2])
    path = replace(camera_path(pose), intrinsics=camera)
    clip = Clip(
        id="0" * 16,
        name="headset",
        frames=np.arange(len(files)),
        times_s=None,
        width_px=540,
        height_px=360,
        options=OpeningOptions(upright=True),
        reader=Files(),
    )
    out = VanishingPointsExpert()(clip, {"camera_path": path, "valid_area": NONE})["gravity"]
    assert isinstance(out, Gravity)
    assert off_rad(out, pose, np.array([0, 1.0, 0])) < 2 * out.sigma_rad.min()
