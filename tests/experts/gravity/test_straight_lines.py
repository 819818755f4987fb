"""The focal length from drawn lines and rendered rooms with exactly known cameras."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from jaxtyping import Float64

from experts.clip import Clip, OpeningOptions, Picture
from experts.gravity.straight_lines import StraightLinesExpert
from experts.intrinsics import Intrinsics
from experts.signals import Calibration, NoEstimate
from experts.stated_camera import contradiction
from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.clips import as_clip
from spatial_engine.rendering.rooms import random_room
from tests.experts.drawn_lines import CAMERA, DrawnReader, around, built_world, walk

Poses = Float64[np.ndarray, "n 4 4"]
LONG = pytest.mark.long(sample=True)


@dataclass(frozen=True)
class Pictures:
    """Reads frames from memory."""

    pictures: list[Picture]

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        yield from (self.pictures[frame] for frame in frames)


def clip_of(reader: object, frames: int = 4, intrinsics: Intrinsics | None = None) -> Clip:
    return Clip(
        id="0" * 16, name="drawn", frames=np.arange(frames), times_s=None, width_px=CAMERA.width_px,
        height_px=CAMERA.height_px, options=OpeningOptions(intrinsics=intrinsics), reader=reader,  # type: ignore[arg-type]
    )  # fmt: skip


def estimate(clip: Clip) -> Calibration | NoEstimate:
    found = StraightLinesExpert()(clip, {"valid_area": NoEstimate(reason="not needed")})["calibration"]
    assert isinstance(found, Calibration | NoEstimate)
    return found


def drawn(pose: Poses, camera: Intrinsics = CAMERA, tilt_sigma_rad: float = 0.0) -> Clip:
    world = built_world(np.random.default_rng(0), tilt_sigma_rad)
    return clip_of(DrawnReader(ends=world, world_from_cam=pose, camera=camera), len(pose))


def rotated(yaw_deg: float, pitch_deg: float) -> Poses:
    """Cameras that look at the bars in a direction `yaw_deg` from their axis."""
    return np.stack([around(yaw_deg) @ pose for pose in walk(0.0, pitch_deg, 4)])


def log_error(found: Calibration, camera: Intrinsics) -> float:
    return abs(float(np.log(found.intrinsics.fx_px / camera.fx_px)))


@pytest.mark.parametrize(
    ("focal_px", "yaw_deg", "pitch_deg"),
    [pytest.param(260.0, 30.0, 0.0, marks=LONG), (420.0, 40.0, -15.0), pytest.param(640.0, 30.0, 0.0, marks=LONG)],
)
def test_two_vanishing_points_determine_the_focal_length(focal_px: float, yaw_deg: float, pitch_deg: float) -> None:
    camera = Intrinsics.centred(480, 360, focal_px)
    found = estimate(drawn(rotated(yaw_deg, pitch_deg), camera))
    assert isinstance(found, Calibration), found
    assert log_error(found, camera) < 1.5 * found.focal_relative_sigma
    assert 0.05 <= found.focal_relative_sigma <= 0.12
    assert found.intrinsics.fx_px == found.intrinsics.fy_px and found.intrinsics.k1 == 0


def test_a_view_along_one_axis_does_not() -> None:
    """With one vanishing point in the picture and two at infinity, every focal length fits."""
    pose = np.repeat(walk(0.0, 0.0, 1), 4, axis=0)
    pose[:, :3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    pose[:, 0, 3] = 0.2 * np.arange(4)
    assert isinstance(estimate(drawn(pose)), NoEstimate)


def test_lines_in_all_directions_do_not() -> None:
    assert isinstance(estimate(drawn(rotated(30.0, -10.0), tilt_sigma_rad=1.0)), NoEstimate)


def test_a_plane_seen_from_the_front_does_not() -> None:
    """Both vanishing points are at infinity, as for a page of text or a facade."""
    world = built_world(np.random.default_rng(0))
    world[..., 1] = 7.0
    pose = np.repeat(walk(0.0, 0.0, 1), 4, axis=0)
    pose[:, :3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    assert isinstance(estimate(clip_of(DrawnReader(ends=world, world_from_cam=pose))), NoEstimate)


@pytest.mark.parametrize("k1", [-0.1, pytest.param(0.1, marks=LONG)])
def test_with_lens_distortion_the_error_is_within_sigma_or_there_is_no_estimate(k1: float) -> None:
    """Bars are drawn straight between distorted ends, like short edges."""
    camera = replace(CAMERA, k1=k1)
    found = estimate(drawn(rotated(35.0, -10.0), camera))
    assert isinstance(found, NoEstimate) or log_error(found, camera) < 3 * found.focal_relative_sigma


@pytest.mark.parametrize("k1", [-0.08, pytest.param(0.08, marks=LONG)])
def test_curved_lines_are_detected(k1: float) -> None:
    scene = random_room(np.random.default_rng(4), frames=3, width_px=480, height_px=360, path=camera_paths.walk)
    camera = scene.intrinsics
    xy = np.stack(np.meshgrid(np.arange(480.0), np.arange(360.0)), axis=-1)
    straight = camera.project(replace(camera, k1=k1).rays(xy)).astype(np.float32)
    bent = [cv2.remap(picture, straight, None, cv2.INTER_LINEAR) for _, picture in as_clip(scene).read()]
    found = estimate(clip_of(Pictures(bent), 3))
    assert isinstance(found, NoEstimate) and found.reason == "the lens bends straight lines"


def test_blank_pictures_and_too_few_pictures_give_no_estimate() -> None:
    pose = rotated(30.0, 0.0)
    blank = estimate(clip_of(DrawnReader(ends=np.zeros((0, 2, 3)), world_from_cam=pose)))
    assert isinstance(blank, NoEstimate) and blank.reason == "too few straight lines"
    assert isinstance(estimate(drawn(pose[:2])), NoEstimate)


@pytest.mark.parametrize(("factor", "confirmed"), [(1.0, True), (0.85, False), pytest.param(1.15, False, marks=LONG)])
def test_the_users_focal_length_is_confirmed_or_contradicted(factor: float, confirmed: bool) -> None:
    stated = replace(CAMERA, fx_px=factor * CAMERA.fx_px, fy_px=factor * CAMERA.fy_px)
    found = estimate(drawn(rotated(40.0, -15.0)).with_options(intrinsics=stated))
    if confirmed:
        assert isinstance(found, Calibration) and found.intrinsics == stated and found.focal_relative_sigma == 0.005
    else:
        assert isinstance(found, NoEstimate) and found.reason == "the footage contradicts --intrinsics"
        assert "straight lines" in found.detail and contradiction({"calibration": found}) is found


def test_without_lines_the_users_focal_length_is_neither() -> None:
    blank = DrawnReader(ends=np.zeros((0, 2, 3)), world_from_cam=rotated(30.0, 0.0))
    found = estimate(clip_of(blank, intrinsics=CAMERA))
    assert isinstance(found, NoEstimate) and found.reason == "straight lines do not confirm --intrinsics"
    assert contradiction({"calibration": found}) is None


@pytest.mark.long(sample=True)
def test_a_rendered_room_gives_the_same_focal_length_twice() -> None:
    scene = random_room(np.random.default_rng(4), frames=3, width_px=480, height_px=360, path=camera_paths.walk)
    found, again = estimate(as_clip(scene)), estimate(as_clip(scene))
    assert isinstance(found, Calibration), found
    assert log_error(found, scene.intrinsics) < 2 * found.focal_relative_sigma
    assert isinstance(again, Calibration) and again.intrinsics == found.intrinsics
    assert again.focal_relative_sigma == found.focal_relative_sigma
