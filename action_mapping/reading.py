"""How a camera moved from one pose to another, in its own axes and in levelled ones.

Camera axes: the SE(3) logarithm of cam_a_from_cam_b, the constant motion that takes A to B.
Levelled: the same logarithm of the levelled frames (y down, z the horizontal part of the view axis), beside the
change of pitch and of roll. A camera that looks 30° down and turns about the vertical pans, and does not roll.
Both negate exactly when A and B are exchanged.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.primitives import CAMERA_AXIS, COMPONENTS
from action_mapping.rigid import PoseError, checked_rotations

MAX_LEVELLED_PITCH_RAD = math.radians(75.0)
"""Beyond this the horizontal part of the view axis, and with it the heading, says little."""

_LOG_COLUMNS = [CAMERA_AXIS[name] + (0 if name.endswith("_rad") else 3) for name in COMPONENTS]


@dataclass(frozen=True, kw_only=True)
class MotionComponents:
    """Signed amounts of the six primitives between two poses. Positive: Pan Right, Tilt Up, Roll CW, Truck Right,
    Pedestal Down, Dolly In. Translations are NaN where only rotation is known."""

    pan_rad: float
    """Turn about +y (down)."""
    tilt_rad: float
    """Turn about +x (right)."""
    roll_rad: float
    """Turn about +z (forward)."""
    truck: float
    """Way along +x, in path units."""
    pedestal: float
    """Way along +y, in path units."""
    dolly: float
    """Way along +z, in path units."""


@dataclass(frozen=True, kw_only=True)
class MotionReading:
    """One motion, read twice."""

    camera_axes: MotionComponents
    """In the camera's own axes (the published definition)."""
    levelled: MotionComponents | None
    """In levelled axes: pan about the vertical, pedestal along it. None without up or above 75° of pitch."""
    pitch_rad: float
    """The steeper of both pitches, as an absolute value; NaN without up."""


def camera_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"], world_from_cam_b: Float64[np.ndarray, "n 4 4"]
) -> Float64[np.ndarray, "n 6"]:
    """Logarithm of cam_a_from_cam_b, columns as COMPONENTS. NaN positions give NaN in the last three only.

    Poses must be checked already (`rigid.checked_rotations`).
    """
    cam_a_from_world = world_from_cam_a[:, :3, :3].transpose(0, 2, 1)
    way_world = world_from_cam_b[:, :3, 3] - world_from_cam_a[:, :3, 3]
    rotation = Rotation.from_matrix(cam_a_from_world @ world_from_cam_b[:, :3, :3], assume_valid=True)
    return _log(rotation, (cam_a_from_world @ way_world[:, :, None])[:, :, 0])


def levelled_motion(
    world_from_cam_a: Float64[np.ndarray, "n 4 4"],
    world_from_cam_b: Float64[np.ndarray, "n 4 4"],
    up_world: Float64[np.ndarray, "3"],
) -> Float64[np.ndarray, "n 6"]:
    """The same in levelled axes, columns as COMPONENTS; rows are NaN where a camera is pitched above 75°."""
    level_from_world = _level_from_world(up_world)
    heading_a, pitch_a, roll_a = _attitude(level_from_world, world_from_cam_a).T
    heading_b, pitch_b, roll_b = _attitude(level_from_world, world_from_cam_b).T
    way = level_from_world.apply(world_from_cam_b[:, :3, 3] - world_from_cam_a[:, :3, 3])
    way_a = _turn_about_down(-heading_a).apply(way)
    motion = _log(_turn_about_down(heading_b - heading_a), way_a)
    motion[:, COMPONENTS.index("tilt_rad")] = pitch_b - pitch_a
    motion[:, COMPONENTS.index("roll_rad")] = _wrapped(roll_b - roll_a)
    motion[~(np.maximum(np.abs(pitch_a), np.abs(pitch_b)) <= MAX_LEVELLED_PITCH_RAD)] = np.nan
    return motion


def pitch_rad(
    world_from_cam: Float64[np.ndarray, "n 4 4"], up_world: Float64[np.ndarray, "3"]
) -> Float64[np.ndarray, "n"]:
    """How far each camera looks up (+) or down (-)."""
    return _attitude(_level_from_world(up_world), world_from_cam)[:, 1]


def read_motion(
    world_from_cam_a: Float64[np.ndarray, "4 4"],
    world_from_cam_b: Float64[np.ndarray, "4 4"],
    up_world: Float64[np.ndarray, "3"] | None = None,
) -> MotionReading:
    """Read the motion from A to B. `up_world` is the sky's direction in the world, of any length; None: not known.

    Translations may be NaN (rotation-only paths). Raises PoseError if a rotation is not one or up has no direction.
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


def _log(rotation: Rotation, way_a: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 6"]:
    """SE(3) logarithm: `RigidTransform.as_exp_coords` (held equal by a test), at three times its speed."""
    turn = rotation.as_rotvec()
    angle = np.sqrt((turn**2).sum(axis=1))
    safe = np.maximum(angle, 1e-3)
    series = 1.0 / 12.0 + angle**2 / 720.0  # the same to 1e-15 below 1e-3 rad
    factor = np.where(angle < 1e-3, series, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    across = np.cross(turn, way_a)
    way = way_a - 0.5 * across + factor[:, None] * np.cross(turn, across)
    return np.concatenate([turn, way], axis=1)[:, _LOG_COLUMNS]


def _turn_about_down(angle_rad: Float64[np.ndarray, "n"]) -> Rotation:
    return Rotation.from_rotvec(angle_rad[:, None] * (0.0, 1.0, 0.0))


def _level_from_world(up_world: Float64[np.ndarray, "3"]) -> Rotation:
    """A rotation into some frame with y down; its heading zero is arbitrary."""
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
