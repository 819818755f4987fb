"""Whether the camera goes straight on at one speed, in a video and in what follows it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.scene.camera_motion import ends_of
from templates.scene.intervals import seconds_between
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.scene import Scene

_MAX_BEND_RAD = np.radians(10.0)
"""Largest angle between the directions of two parts of a steady way ..."""
_MAX_CHANGE = 0.2
"""... and largest relative difference between their speeds."""
LEAST_AFTER_S = 0.5
"""Least time after the video in which the camera must go on."""


@dataclass(frozen=True, kw_only=True)
class SteadyMotion(Columns):
    """How the camera moves in n videos; NaN where unknown."""

    velocity_cam: Float64[np.ndarray, "n 3"]
    """In path units per second, in the camera axes of the last frame."""
    relative_sigma: Float64[np.ndarray, "n"]
    """σ of the speed, relative."""
    sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the direction."""
    seconds: Float64[np.ndarray, "n"]
    """That the video takes."""
    steady: Bool[np.ndarray, "n"]
    """Whether both halves of the video have one direction and one speed."""
    goes_on: Bool[np.ndarray, "n"]
    """Whether the time after it has them, too."""

    def cases(self) -> dict[str, Bool[np.ndarray, "n"]]:
        """Reasons why nothing can be said of what comes next, and where they hold."""
        return {
            "the footage has no time stamps": ~(self.seconds > 0),
            POSITION_UNKNOWN: ~np.isfinite(self.velocity_cam).all(axis=1),
            "the camera does not move steadily": ~self.steady,
            "the camera does not go on like that": ~self.goes_on,
        }


def steady_motion(scene: Scene, frames: Int64[np.ndarray, "n k"], frame_after: Int64[np.ndarray, "n"]) -> SteadyMotion:
    """Of videos (-1 ends a row), and of the time from each last frame to `frame_after`."""
    count, ends = (frames >= 0).sum(axis=1), ends_of(frames)
    middle = frames[np.arange(len(frames)), count // 2]
    first, last = ends.T
    parts = [np.column_stack(part) for part in ((first, last), (first, middle), (middle, last), (last, frame_after))]
    velocity = [_velocity(scene, part) for part in parts]
    alike = [_alike(velocity[0], each) for each in velocity[1:]]
    whole, seconds = offsets(scene, ends[:, ::-1]), seconds_between(scene, ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        return SteadyMotion(
            velocity_cam=-whole.direction * (whole.length / seconds)[:, None],
            relative_sigma=np.hypot(whole.position_sigma / whole.length, scene.direction_sigma_rad),
            sigma_rad=whole.sigma_rad,
            seconds=seconds,
            steady=alike[0] & alike[1],
            goes_on=alike[2] & (seconds_between(scene, parts[3]) >= LEAST_AFTER_S - 1e-6),
        )


def _velocity(scene: Scene, ends: Int64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "n 3"]:
    """In the world, in path units per second."""
    first, last = (scene.world_from_cam(column)[:, :3, 3] for column in ends.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((last - first) / seconds_between(scene, ends)[:, None])


def _alike(a: Float64[np.ndarray, "n 3"], b: Float64[np.ndarray, "n 3"]) -> Bool[np.ndarray, "n"]:
    """Whether two velocities have about the same direction and length."""
    speeds = [np.linalg.norm(each, axis=1) for each in (a, b)]
    with np.errstate(divide="ignore", invalid="ignore"):
        straight = np.einsum("ni,ni->n", a, b) >= np.cos(_MAX_BEND_RAD) * speeds[0] * speeds[1]
        return np.asarray(straight & (np.abs(speeds[1] / speeds[0] - 1) <= _MAX_CHANGE))
