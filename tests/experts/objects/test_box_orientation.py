"""Fronts of boxes of known pose: the angles are those that Orient Anything would give without error."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.objects.box_orientation import UNKNOWN_FRONT, Axis, BoxFront, box_orientation
from experts.objects.object_angles import look_along, rotation_of
from experts.provenance import Provenance
from experts.signals import CameraPath, Objects, Scale

SOURCE = Provenance(expert="truth", version="1")
AXES: tuple[Axis, ...] = ("+x", "-x", "+y", "-y", "+z", "-z")


def seen(cam_from_box: np.ndarray, frames: int = 1) -> tuple[Objects, CameraPath]:
    """One box before a camera that stands somewhere in the world."""
    world_from_cam = np.eye(4)
    world_from_cam[:3, :3] = Rotation.from_rotvec([0.3, -0.8, 0.4]).as_matrix()
    world_from_cam[:3, 3] = [3.0, -2.0, 1.0]
    poses = np.tile(world_from_cam, (frames, 1, 1))
    path = CameraPath(
        frames=np.arange(frames), world_from_cam=poses, registered=np.ones(frames, dtype=bool),
        keyframe=np.ones(frames, dtype=bool), motion="static", focal_relative_sigma=0.0,
        intrinsics=Intrinsics(width_px=64, height_px=48, fx_px=50, fy_px=50, cx_px=31.5, cy_px=23.5),
        rotation_sigma_rad=np.full(frames, 0.003), position_sigma=np.zeros(frames), direction_sigma_rad=0.0,
        scale=Scale(kind="metric"), provenance=SOURCE,
    )  # fmt: skip
    objects = Objects(
        frames=np.arange(frames), labels=("chair",), ids=np.zeros((frames, 1, 1), dtype=np.int32), provenance=SOURCE,
        world_from_object=poses[:, None] @ cam_from_box, centre_sigma=np.array([0.04]),
    )  # fmt: skip
    return objects, path


def placed(rotation: np.ndarray, at: tuple[float, float, float]) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, at
    return pose


@pytest.mark.parametrize(("front", "up"), [(a, b) for a, b in itertools.product(AXES, AXES) if a[1] != b[1]])
def test_angles_come_back_whatever_the_axes_of_the_box_are_called(front: Axis, up: Axis) -> None:
    angles, own = np.deg2rad([70.0, 20.0, -10.0]), BoxFront(front=front, up=up)
    at = (1.0, -0.5, 4.0)
    cam_from_object = look_along(np.array(at)) @ rotation_of(*angles)
    objects, path = seen(placed(cam_from_object @ own.box_from_object.T, at))
    found = box_orientation(objects, path, [own], 0.02, SOURCE)
    np.testing.assert_allclose(
        [found.azimuth_rad[0, 0], found.polar_rad[0, 0], found.rotation_rad[0, 0]], angles, atol=1e-9
    )
    np.testing.assert_allclose(found.cam_from_object[0, 0], cam_from_object, atol=1e-9)
    assert np.linalg.det(own.box_from_object) == pytest.approx(1)
    alone = np.linalg.norm([0.02, 0.003, 0.04 / np.linalg.norm(at)])
    assert found.sigma_rad[0, 0] == pytest.approx([alone / np.cos(angles[1]), alone, alone / np.cos(angles[1])])


def test_a_box_that_looks_to_the_left_of_the_picture() -> None:
    """KITTI: length along x, height along y (down); rotation_y = π looks to the left."""
    turned = Rotation.from_euler("y", np.pi).as_matrix()
    objects, path = seen(placed(turned, (0.0, 0.0, 10.0)))
    found = box_orientation(objects, path, [BoxFront(front="+x", up="-y")], 0.0, SOURCE)
    assert np.rad2deg(found.azimuth_rad[0, 0]) == pytest.approx(90)


def test_without_a_front_only_the_top_is_known() -> None:
    objects, path = seen(placed(look_along(np.array([0, 0, 4.0])) @ rotation_of(0.5, 0.3, 0.1), (0, 0, 4)), frames=2)
    ball = box_orientation(objects, path, [BoxFront(front=None, fronts=0)], 0.0, SOURCE)
    assert np.isnan(ball.azimuth_rad).all() and np.isnan(ball.cam_from_object).all() and (ball.fronts == 0).all()
    np.testing.assert_allclose(ball.polar_rad, 0.3)
    np.testing.assert_allclose(ball.rotation_rad, 0.1)
    unknown = box_orientation(objects, path, [UNKNOWN_FRONT], 0.0, SOURCE)
    assert np.isnan(unknown.polar_rad).all() and np.isinf(unknown.sigma_rad).all() and (unknown.fronts == -1).all()


def test_nothing_is_said_behind_the_camera_or_without_a_pose() -> None:
    objects, path = seen(placed(np.eye(3), (0.0, 0.0, -2.0)))
    lost = replace(objects, world_from_object=np.full((1, 1, 4, 4), np.nan))
    for one in (objects, lost):
        found = box_orientation(one, path, [BoxFront(front="+x")], 0.0, SOURCE)
        assert np.isnan(found.azimuth_rad).all() and (found.fronts == -1).all()


@pytest.mark.parametrize("wrong", [{"front": "+z"}, {"front": None}, {"front": "+x", "fronts": 0}])
def test_fronts_that_contradict_themselves_are_refused(wrong: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match="front"):
        BoxFront(**wrong)
