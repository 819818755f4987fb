"""A path as a file has it, what its format says about it, and the path that is made of both."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float64

Direction = Literal["c2w", "w2c"]
Axes = Literal["opencv", "opengl", "body"]
Scale = Literal["metric", "relative"]


@dataclass(frozen=True, kw_only=True)
class WrittenPoses:
    """What stands in a file, in its own direction and axes."""

    matrices: Float64[np.ndarray, "n 4 4"]
    """One pose each, as written."""
    places: tuple[str, ...]
    """Where each stands ("line 7"), for messages."""
    times_s: Float64[np.ndarray, "n"] | None = None
    """Time stamps; None where the format has none."""
    focal_px: Float64[np.ndarray, "n"] | None = None
    """Focal length of each frame, where every frame states its own."""
    names: tuple[str, ...] = ()
    """Image of each pose, where the file names them all."""
    notes: tuple[str, ...] = ()
    """What the user should know about how the file was read."""


@dataclass(frozen=True, kw_only=True)
class TrajectoryFormat:
    """A format: how to know it, how to read it, and what it means unless the user says otherwise."""

    matches: Callable[[str], bool]
    """Whether the beginning of a file looks like it."""
    read: Callable[[Path], WrittenPoses]
    """Raises `UsageError`, naming the line."""
    poses: Direction
    """Camera to world, or world to camera."""
    axes: Axes
    """"body": of something that carries the camera, and no motion of it has a camera's name."""
    scale: Scale
    """Whether lengths are metres."""


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A checked path of at least two poses, in order of time."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """Camera poses with OpenCV axes, whatever the file has; poses of the body where `axes` is "body"."""
    times_s: Float64[np.ndarray, "n"]
    """Time stamps as written; one a second where nothing says better."""
    is_timed: bool
    """Whether times are known."""
    axes: Axes
    """Axes of the file's poses."""
    scale: Scale
    """Whether lengths are metres."""
    format: str
    """Name of the format it was read as."""
    focal_px: Float64[np.ndarray, "n"] | None
    """Focal length of each frame, where every frame states its own."""
    names: tuple[str, ...]
    """Image of each pose, where the file names them all."""
    notes: tuple[str, ...]
    """What the user should know about how it was read."""
