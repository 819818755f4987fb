"""Angular and linear velocity of a camera: the SE(3) logarithm of each pose-to-pose motion over its duration."""

import warnings

import numpy as np
from jaxtyping import Float64

from action_mapping.reading import camera_motion
from action_mapping.rigid import PoseError, checked_rotations

IMPOSSIBLE_SPEED_M_S = 100.0
"""Above this speed positions are probably not in metres: cameras on people and cars stay below 360 km/h."""
GAP_FACTOR, GAP_S = 10.0, 0.5
"""An interval is a gap if it exceeds both GAP_FACTOR times the median interval and GAP_S."""


class PathWarning(UserWarning):
    """A path is valid but suspicious: it has gaps in time, or an impossible speed."""


def camera_rates(
    world_from_cam: Float64[np.ndarray, "n 4 4"], times_s: Float64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n-1 6"]:
    """Velocity between neighbouring poses, in the axes of the first camera of each pair.

    Columns are COMPONENTS, in rad/s and path units/s. A reversed path gives the negated velocities. Positions may be
    NaN where only rotation is known. Raises PoseError for poses that are not rigid, for fewer than two poses, and for
    times that do not increase.
    """
    durations_s = checked_durations(times_s)
    checked_rotations(world_from_cam)
    return camera_motion(world_from_cam[:-1], world_from_cam[1:]) / durations_s[:, None]


def checked_durations(times_s: Float64[np.ndarray, "n"]) -> Float64[np.ndarray, "n-1"]:
    """Seconds from each pose to the next. Raises PoseError if times are not finite or do not increase."""
    if len(times_s) < 2:
        raise PoseError(f"a path needs at least two poses to move, not {len(times_s)}")
    if not np.isfinite(times_s).all():
        raise PoseError(f"time of pose {int(np.argmin(np.isfinite(times_s)))} is not a finite number")
    durations_s = np.diff(times_s)
    if (durations_s <= 0).any():
        first = int(np.argmax(durations_s <= 0))
        what = "the same time as" if durations_s[first] == 0 else "an earlier time than"
        raise PoseError(
            f"pose {first + 1} has {what} pose {first} ({times_s[first]:.9g} s); sort the poses and drop duplicates"
        )
    return durations_s


def gaps(durations_s: Float64[np.ndarray, "m"]) -> list[int]:
    """Indices of the intervals that are gaps. Warns (PathWarning) and names the longest."""
    found = np.flatnonzero(durations_s > max(GAP_FACTOR * float(np.median(durations_s)), GAP_S)).tolist()
    if found:
        longest = max(found, key=lambda step: durations_s[step])
        _warn(
            f"the times of the poses have {len(found)} gaps; the longest, after pose {longest}, lasts "
            f"{durations_s[longest]:.3g} s (median {np.median(durations_s):.3g} s). Motion across gaps is not named"
        )
    return found


def warn_impossible_speed(speed: Float64[np.ndarray, "m"]) -> None:
    """Warns (PathWarning) if a metric path is faster than any camera. NaN is ignored."""
    if (speed > IMPOSSIBLE_SPEED_M_S).any():
        step = int(np.nanargmax(speed))
        _warn(
            f"the camera would travel at {speed[step]:.4g} m/s after pose {step}, above {IMPOSSIBLE_SPEED_M_S:g} m/s: "
            "check that positions are in metres and times in seconds, or set the scale to relative"
        )


def _warn(message: str) -> None:
    warnings.warn(message, PathWarning, stacklevel=3)
