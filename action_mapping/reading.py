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
from action_mapping.rigid import PoseError, checked_rotations

MAX_LEVELLED_PITCH_RAD = math.radians(75.0)
"""Above this pitch the horizontal part of the view axis is short, and the heading is uncertain."""

_LOG_COLUMNS = [CAMERA_AXIS[name] + (0 if name.endswith("_rad") else 3) for name in COMPONENTS]


@dataclass(frozen=True, kw_only=True)
class MotionComponents:
    """Signed components of the motion between two poses. Positive: Pan Right, Tilt Up, Roll CW, Truck Right, Pedestal
    Down, Dolly In. Translations are NaN where only rotation is known."""

    pan_rad: float
    """Rotation about +y (down)."""
    tilt_rad: float
    """Rotation about +x (right)."""
    roll_rad: float
    """Rotation about +z (forward)."""
    truck: float
    """Translation along +x, in path units."""
    pedestal: float
    """Translation along +y, in path units."""
    dolly: float
    """Translation along +z, in path units."""


@dataclass(frozen=True, kw_only=True)
class MotionReading:
    """One motion in camera axes and in levelled axes."""

    camera_axes: MotionComponents
    """In the camera's own axes (the published definition)."""
    levelled: MotionComponents | None
    """In levelled axes: pan about the vertical, pedestal along it. None if up is unknown or the pitch exceeds 75°."""
    pitch_rad: float
    """The larger absolute pitch of the two poses; NaN if up is unknown."""


def camera_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"], world_from_cam_b: Float64[np.ndarray, "n 4 4"]
) -> Float64[np.ndarray, "n 6"]:
    """Logarithm of cam_a_from_cam_b, columns as COMPONENTS. NaN positions give NaN in the last three columns only.

    Expects valid poses (`rigid.checked_rotations`).
    """
    cam_a_from_world = world_from_cam_a[:, :3, :3].transpose(0, 2, 1)
    translation_world = world_from_cam_b[:, :3, 3] - world_from_cam_a[:, :3, 3]
    rotation = Rotation.from_matrix(cam_a_from_world @ world_from_cam_b[:, :3, :3], assume_valid=True)
    return _log(rotation, (cam_a_from_world @ translation_world[:, :, None])[:, :, 0])


def levelled_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"],
    world_from_cam_b: Float64[np.ndarray, "n 4 4"],
    up_world: Float64[np.ndarray, "3"],
) -> Float64[np.ndarray, "n 6"]:
    """The motion in levelled axes, columns as COMPONENTS; rows are NaN where a camera is pitched by more than 75°."""
    level_from_world = _level_from_world(up_world)
    heading_a, pitch_a, roll_a = _attitude(level_from_world, world_from_cam_a).T
    heading_b, pitch_b, roll_b = _attitude(level_from_world, world_from_cam_b).T
    translation = level_from_world.apply(world_from_cam_b[:, :3, 3] - world_from_cam_a[:, :3, 3])
    translation_a = _about_down(-heading_a).apply(translation)
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
    world_from_cam_a: Float64[np.ndarray, "4 4"],
    world_from_cam_b: Float64[np.ndarray, "4 4"],
    up_world: Float64[np.ndarray, "3"] | None = None,
) -> MotionReading:
    """The motion from A to B. `up_world`: direction of the sky in world axes, of any length; None: unknown.

    Positions may be NaN where only rotation is known. Raises PoseError for invalid rotations and for an `up_world`
    without direction.
    """
    checked_rotations(np.stack([world_from_cam_a, world_from_cam_b]))
    a, b = world_from_cam_a[None], world_from_cam_b[None]
    camera_axes = _components(camera_motion(a, b)[0])
    if up_world is None:
        return MotionReading(camera_axes=camera_axes, levelled=None, pitch_rad=math.nan)
    pitch = float(np.abs(pitch_rad(np.concatenate([a, b]), up_world)).max())
    levelled = _components(levelled_motion(a, b, up_world)[0]) if pitch <= MAX_LEVELLED_PITCH_RAD else None
    return MotionReading(camera_axes=camera_axes, levelled=levelled, pitch_rad=pitch)


def _components(row: Float64[np.ndarray, "6"]) -> MotionComponents:
    return MotionComponents(**{name: float(value) for name, value in zip(COMPONENTS, row, strict=True)})


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
