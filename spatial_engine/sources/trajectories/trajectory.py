"""Types: poses as a file has them, the conventions of its format, and the path made from both."""

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
    """The content of a file, in its own direction and axes."""

    matrices: Float64[np.ndarray, "n 4 4"]
    """The poses, as written."""
    places: tuple[str, ...]
    """Place of each pose in the file ("line 7"), for messages."""
    times_s: Float64[np.ndarray, "n"] | None = None
    """Time stamps; None if the format has none."""
    focal_px: Float64[np.ndarray, "n"] | None = None
    """Focal length of each frame; None unless every frame has its own."""
    names: tuple[str, ...] = ()
    """Image of each pose; empty unless the file names them all."""
    notes: tuple[str, ...] = ()
    """What the user should know about how the file was read."""


@dataclass(frozen=True, kw_only=True)
class TrajectoryFormat:
    """A format: its detection, its reader, and its conventions, which the user may override."""

    matches: Callable[[str], bool]
    """Whether the beginning of a file has this format."""
    read: Callable[[Path], WrittenPoses]
    """Reads a file. Raises `UsageError` that names the line."""
    poses: Direction
    """Direction: camera to world, or world to camera."""
    axes: Axes
    """Axes of the camera, or "body": the poses are those of a body that carries the camera."""
    scale: Scale
    """Whether lengths are metres."""


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A checked path of at least two poses, in order of time."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """Camera poses with OpenCV axes; poses of the body if `axes` is "body"."""
    times_s: Float64[np.ndarray, "n"]
    """Time of each pose; one pose per second if `is_timed` is false."""
    is_timed: bool
    """Whether times are known."""
    axes: Axes
    """Axes of the poses in the file."""
    scale: Scale
    """Whether lengths are metres."""
    format: str
    """Name of the format of the file."""
    focal_px: Float64[np.ndarray, "n"] | None
    """Focal length of each frame; None unless every frame has its own."""
    names: tuple[str, ...]
    """Image of each pose; empty unless the file names them all."""
    notes: tuple[str, ...]
    """What the user should know about how the file was read."""
