"""How cameras are held, and where their photos show up and eye level."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64

from experts.intrinsics import Intrinsics
from templates.columns import Columns
from templates.scene.scene import Scene

Number = Float64[np.ndarray, "n"]
Row = Int64[np.ndarray, "n"]
Ups = Float64[np.ndarray, "n 3"]
"""Up in the camera axes of n photos."""
UP_UNKNOWN = "gravity is not known in this frame"
_STEP = 1e-4
"""Length of a step upwards from a surface point at distance 1."""


@dataclass(frozen=True, kw_only=True)
class Attitude(Columns):
    """Roll and pitch of n photos in degrees; NaN where gravity is unknown."""

    roll: Number
    """> 0: the camera is rotated clockwise, as seen from behind it."""
    roll_sigma: Number
    """Grows with 1 / cos(pitch)."""
    pitch: Number
    """> 0: the camera points up."""
    pitch_sigma: Number


def attitude(scene: Scene, frames: Row) -> Attitude:
    """Roll and pitch of the camera in each of the frames, with σ."""
    up, sigma_rad = scene.up_cam(frames)
    pitch = np.arcsin(np.clip(up[:, 2], -1, 1))
    return Attitude(
        roll=np.degrees(np.arctan2(-up[:, 0], -up[:, 1])),
        roll_sigma=np.degrees(sigma_rad / np.cos(pitch)),
        pitch=np.degrees(pitch),
        pitch_sigma=np.degrees(sigma_rad),
    )


def up_of(roll_deg: Float64[np.ndarray, "*n"], pitch_deg: Float64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n 3"]:
    """Up in the axes of a camera with that roll and pitch."""
    roll, pitch = np.radians(roll_deg), np.radians(pitch_deg)
    return np.stack([-np.sin(roll) * np.cos(pitch), -np.cos(roll) * np.cos(pitch), np.sin(pitch)], axis=-1)


def elevation_rad(camera: Intrinsics, up_cam: Ups, xy_px: Float64[np.ndarray, "n *k 2"]) -> Float64[np.ndarray, "n *k"]:
    """How far the ray through each pixel rises above the horizontal; 0 on the horizon. Each row has its own up."""
    rise = np.einsum("n...i,ni->n...", camera.rays(xy_px), up_cam)
    return np.asarray(np.arcsin(np.clip(rise, -1, 1)))


def up_in_photo_rad(camera: Intrinsics, up_cam: Ups, xy_px: Float64[np.ndarray, "n 2"]) -> Number:
    """The direction in which each photo shows up at a pixel: clockwise from the upper edge of the photo, ±π."""
    ray = camera.rays(xy_px)
    dx, dy = (camera.project(ray + _STEP * up_cam) - camera.project(ray)).T
    return np.asarray(np.arctan2(dx, -dy))


def sigma_rad(
    angle: Callable[[Intrinsics, Ups], np.ndarray],
    camera: Intrinsics,
    focal_sigma: float,
    up_cam: Ups,
    up_sigma: Number,
) -> np.ndarray:
    """σ of what `angle` gives for a camera and the ups of n photos: gravity ⊕ focal length, by steps of one σ."""
    known = angle(camera, up_cam)
    steps = [angle(camera, up_cam + up_sigma[:, None] * axis) for axis in np.eye(3)]
    steps.append(angle(_refocused(camera, 1 + focal_sigma), up_cam))
    return np.asarray(np.sqrt(sum(_wrapped(step - known) ** 2 for step in steps)))


def _refocused(camera: Intrinsics, factor: float) -> Intrinsics:
    return replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor)


def _wrapped(angle_rad: np.ndarray) -> np.ndarray:
    return np.asarray((angle_rad + np.pi) % (2 * np.pi) - np.pi)
