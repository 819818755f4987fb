"""Scenes of straight bars, drawn exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.clip import Picture
from experts.intrinsics import Intrinsics

CAMERA = Intrinsics.centred(480, 360, 420.0)


@dataclass(frozen=True, kw_only=True)
class DrawnReader:
    """Draws bars as one camera per frame sees them."""

    ends: Float64[np.ndarray, "b 2 3"]
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    camera: Intrinsics = CAMERA

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            pose = self.world_from_cam[frame]
            cam = (self.ends - pose[:3, 3]) @ pose[:3, :3]
            picture = np.full((self.camera.height_px, self.camera.width_px, 3), 200, np.uint8)
            for bar in cam[(cam[..., 2] > 0.5).all(axis=1)]:
                a, b = np.rint(self.camera.project(bar) * 8).astype(int)
                cv2.line(picture, tuple(map(int, a)), tuple(map(int, b)), (60, 60, 60), 5, cv2.LINE_AA, 3)
            yield picture


class Untouched:
    """A reader that must not be used."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        raise AssertionError("the expert reads a picture although it needs none")


def built_world(rng: np.random.Generator, tilt_sigma_rad: float = 0.0) -> Float64[np.ndarray, "b 2 3"]:
    """Bars along three axes (z up) in front of the origin, each rotated at random with a σ of `tilt_sigma_rad` per
    axis."""
    middle = rng.uniform(-1, 1, (90, 3)) * [5, 5, 3] + [0, 7, 0]
    direction = np.repeat(np.eye(3), [20, 15, 55], axis=0)
    direction = Rotation.from_rotvec(tilt_sigma_rad * rng.normal(size=(90, 3))).apply(direction)
    half = rng.uniform(0.5, 1.2, (90, 1)) * direction
    return np.stack([middle - half, middle + half], axis=1)


def walk(roll_deg: float, pitch_deg: float, frames: int = 8, *, yaw_deg: float = 0.0) -> Float64[np.ndarray, "n 4 4"]:
    """Poses of a camera that looks along y (rotated by yaw), moves to the right and pans slightly; z is up."""
    pose = np.tile(np.eye(4), (frames, 1, 1))
    level = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # columns: camera axes in the world
    for k in range(frames):
        pan = Rotation.from_euler("z", yaw_deg + 3.0 * (k - frames / 2), degrees=True).as_matrix()
        hold = Rotation.from_euler("xz", [pitch_deg, roll_deg], degrees=True).as_matrix()
        pose[k, :3, :3] = pan @ level @ hold
        pose[k, 0, 3] = 0.25 * k
    return pose


def around(yaw_deg: float) -> Float64[np.ndarray, "4 4"]:
    """Rotation about the vertical axis through the centre of the bars."""
    rotation, middle = np.eye(4), np.array([0.0, 7.0, 0.0])
    rotation[:3, :3] = Rotation.from_euler("z", yaw_deg, degrees=True).as_matrix()
    rotation[:3, 3] = middle - rotation[:3, :3] @ middle
    return rotation
