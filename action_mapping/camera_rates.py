"""How fast a camera turns and travels: the SE(3) logarithm of each step over its duration."""

import warnings

import numpy as np
from jaxtyping import Float64

from action_mapping.reading import camera_motion
from action_mapping.rigid import PoseError, checked_rotations

IMPOSSIBLE_SPEED_M_S = 100.0
"""Faster than this and metres are doubtful: no camera that people carry or drive goes at 360 km/h."""
GAP_FACTOR, GAP_S = 10.0, 0.5
"""A step this many times longer than the median one, and longer than this, is a gap: what happened is not known."""


class PathWarning(UserWarning):
    """A path that can be read and may not mean what its owner thinks."""


def camera_rates(
    world_from_cam: Float64[np.ndarray, "n 4 4"], times_s: Float64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n-1 6"]:
    """Rates of each step in the axes of the camera at its start, columns as COMPONENTS: rad/s and path units/s.

    Played backwards, the same steps give the same rates with the opposite sign. Positions may be NaN (rotation only).
    Raises PoseError on poses that are not rigid, on fewer than two, and on times that do not increase.
    """
    durations_s = checked_durations(times_s)
    checked_rotations(world_from_cam)
    return camera_motion(world_from_cam[:-1], world_from_cam[1:]) / durations_s[:, None]


def checked_durations(times_s: Float64[np.ndarray, "n"]) -> Float64[np.ndarray, "n-1"]:
    """Seconds from each pose to the next. Raises PoseError where times are not finite or do not increase."""
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
    """Steps that are gaps, with a warning that names the longest."""
    found = np.flatnonzero(durations_s > max(GAP_FACTOR * float(np.median(durations_s)), GAP_S)).tolist()
    if found:
        longest = max(found, key=lambda step: durations_s[step])
        _warn(
            f"{len(found)} gaps between poses; the longest, after pose {longest}, lasts {durations_s[longest]:.3g} s "
            f"against {np.median(durations_s):.3g} s usually. No motion is read across them"
        )
    return found


def warn_impossible_speed(speed: Float64[np.ndarray, "m"]) -> None:
    """Warn where a path that claims metres is faster than any camera (NaN is not)."""
    if (speed > IMPOSSIBLE_SPEED_M_S).any():
        step = int(np.nanargmax(speed))
        _warn(
            f"the camera would travel at {speed[step]:.4g} m/s after pose {step}, above {IMPOSSIBLE_SPEED_M_S:g} m/s: "
            "are positions in metres and times in seconds? If the scale is not known, say that it is relative"
        )


def _warn(message: str) -> None:
    warnings.warn(message, PathWarning, stacklevel=3)
