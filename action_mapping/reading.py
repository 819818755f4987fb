"""The motion of a camera between two poses, in camera axes and in levelled axes.

Camera axes: the SE(3) logarithm of cam_a_from_cam_b, the constant velocity that takes A to B.
Levelled axes (y down, z the horizontal part of the view axis): the logarithm of the motion between the levelled
frames, with the change of pitch as tilt and of roll as roll. A camera that looks 30° down and rotates about the
vertical pans and does not roll. Exchanging A and B negates both.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.primitives import CAMERA_AXIS, COMPONENTS
from action_mapping.rigid import PoseError, known_rotations

MAX_LEVELLED_PITCH_RAD = math.radians(75.0)
"""Above this pitch the horizontal part of the view axis is short, and the heading is uncertain."""

_LOG_COLUMNS = [CAMERA_AXIS[name] + (0 if name.endswith("_rad") else 3) for name in COMPONENTS]


@dataclass(frozen=True, kw_only=True)
class MotionReading:
    """n motions in camera axes and in levelled axes; columns as COMPONENTS, in rad and path units.

    Positive: Pan Right, Tilt Up, Roll CW, Truck Right, Pedestal Down, Dolly In. Rows are NaN where a rotation is not
    known, translations where only rotation is known.
    """

    camera_axes: Float64[np.ndarray, "n 6"]
    """In the camera's own axes (the published definition)."""
    levelled: Float64[np.ndarray, "n 6"]
    """In levelled axes: pan about the vertical, pedestal along it. NaN if up is unknown or the pitch exceeds 75°."""
    pitch_rad: Float64[np.ndarray, "n"]
    """The larger absolute pitch of the two poses; NaN if up is unknown."""


def camera_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"], world_from_cam_b: Float64[np.ndarray, "n 4 4"]
) -> Float64[np.ndarray, "n 6"]:
    """Logarithm of cam_a_from_cam_b, columns as COMPONENTS. NaN positions give NaN in the last three columns only.

    Expects valid poses (`rigid.checked_rotations`).
    """
    cam_a_from_world = world_from_cam_a[:, :3, :3].transpose(0, 2, 1)
    rotation = Rotation.from_matrix(cam_a_from_world @ world_from_cam_b[:, :3, :3], assume_valid=True)
    return _log(rotation, _rotated(cam_a_from_world, world_from_cam_b[:, :3, 3] - world_from_cam_a[:, :3, 3]))


def levelled_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"],
    world_from_cam_b: Float64[np.ndarray, "n 4 4"],
    up_world: Float64[np.ndarray, "3"],
) -> Float64[np.ndarray, "n 6"]:
    """The motion in levelled axes, columns as COMPONENTS; rows are NaN where a camera is pitched by more than 75°."""
    level_from_world = _level_from_world(up_world)
    heading_a, pitch_a, roll_a = _attitude(level_from_world, world_from_cam_a).T
    heading_b, pitch_b, roll_b = _attitude(level_from_world, world_from_cam_b).T
    translation = _rotated(level_from_world.as_matrix(), world_from_cam_b[:, :3, 3] - world_from_cam_a[:, :3, 3])
    translation_a = _rotated(_about_down(-heading_a).as_matrix(), translation)
    motion = _log(_about_down(heading_b - heading_a), translation_a)
    motion[:, COMPONENTS.index("tilt_rad")] = pitch_b - pitch_a
    motion[:, COMPONENTS.index("roll_rad")] = _wrapped(roll_b - roll_a)
    motion[~(np.maximum(np.abs(pitch_a), np.abs(pitch_b)) <= MAX_LEVELLED_PITCH_RAD)] = np.nan
    return motion


def pitch_rad(
    world_from_cam: Float64[np.ndarray, "n 4 4"], up_world: Float64[np.ndarray, "3"]
) -> Float64[np.ndarray, "n"]:
    """Pitch of each camera, positive where it looks up."""
    return _attitude(_level_from_world(up_world), world_from_cam)[:, 1]


def read_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"],
    world_from_cam_b: Float64[np.ndarray, "n 4 4"],
    up_world: Float64[np.ndarray, "3"] | None = None,
) -> MotionReading:
    """The motions from A to B. `up_world`: direction of the sky in world axes, of any length; None: unknown.

    Rotations may be NaN where a pose is not known, positions where only rotation is known. Raises PoseError for other
    invalid rotations and for an `up_world` without direction.
    """
    known = known_rotations(world_from_cam_a) & known_rotations(world_from_cam_b)
    a, b = world_from_cam_a[known], world_from_cam_b[known]
    camera_axes, levelled, pitch = (np.full((len(known), *row), np.nan) for row in ((6,), (6,), ()))
    camera_axes[known] = camera_motion(a, b)
    if up_world is not None:
        levelled[known] = levelled_motion(a, b, up_world)
        pitch[known] = np.maximum(np.abs(pitch_rad(a, up_world)), np.abs(pitch_rad(b, up_world)))
    return MotionReading(camera_axes=camera_axes, levelled=levelled, pitch_rad=pitch)


def _log(rotation: Rotation, translation_a: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 6"]:
    """SE(3) logarithm, three times as fast as the equal `RigidTransform.as_exp_coords`."""
    rotvec = rotation.as_rotvec()
    angle = np.sqrt((rotvec**2).sum(axis=1))
    safe = np.maximum(angle, 1e-3)
    series = 1.0 / 12.0 + angle**2 / 720.0  # equal to 1e-15 below 1e-3 rad
    factor = np.where(angle < 1e-3, series, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    cross = np.cross(rotvec, translation_a)
    translation = translation_a - 0.5 * cross + factor[:, None] * np.cross(rotvec, cross)
    return np.concatenate([rotvec, translation], axis=1)[:, _LOG_COLUMNS]


def _rotated(matrix: Float64[np.ndarray, "*n 3 3"], vectors: Float64[np.ndarray, "m 3"]) -> Float64[np.ndarray, "m 3"]:
    """As `Rotation.apply`, whose last bits depend on the number of vectors."""
    return (matrix @ vectors[:, :, None])[:, :, 0]


def _about_down(angle_rad: Float64[np.ndarray, "n"]) -> Rotation:
    return Rotation.from_rotvec(angle_rad[:, None] * (0.0, 1.0, 0.0))


def _level_from_world(up_world: Float64[np.ndarray, "3"]) -> Rotation:
    """Rotation into a frame with y down; its zero of heading is arbitrary."""
    if not (np.isfinite(up_world).all() and np.linalg.norm(up_world) > 0):
        raise PoseError(f"up_world must be a finite direction, not {up_world.tolist()}")
    return Rotation.align_vectors(np.array([[0.0, -1.0, 0.0]]), up_world[None])[0]


def _attitude(level_from_world: Rotation, world_from_cam: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 3"]:
    """Heading (+ to the right), pitch (+ looks up), roll (+ clockwise from behind) of each camera, rad."""
    level_from_cam = level_from_world.as_matrix() @ world_from_cam[:, :3, :3]
    right, down, forward = (level_from_cam[:, row] for row in range(3))
    heading = np.arctan2(right[:, 2], forward[:, 2])
    pitch = np.arctan2(-down[:, 2], np.hypot(right[:, 2], forward[:, 2]))
    return np.stack([heading, pitch, np.arctan2(down[:, 0], down[:, 1])], axis=1)


def _wrapped(angle_rad: Float64[np.ndarray, "n"]) -> Float64[np.ndarray, "n"]:
    return np.remainder(angle_rad + np.pi, 2 * np.pi) - np.pi
