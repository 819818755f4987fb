"""What a preset's own code reads of a data set: one entry per image."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.known_objects import KnownObjects
from spatial_engine.sequences.manifest import Camera

Images = Sequence[Path]


@dataclass(frozen=True, kw_only=True)
class Given:
    """Whatever is left out is read as the manifest states."""

    cameras: tuple[Camera, ...] = ()
    """One per image."""
    world_from_cam: Float64[np.ndarray, "n 4 4"] | None = None
    """With OpenCV axes; NaN where an image has no pose."""
    times_s: Float64[np.ndarray, "n"] | None = None
    depth: DepthSource | None = None
    objects: KnownObjects | None = None
