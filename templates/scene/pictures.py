"""The pictures of a clip before any signal is computed, and random draws of frames and corners from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from templates.scene.marks import spaced, spread_frames

MIN_DISTANCE = 0.15
"""Least distance between marks in one picture, as a share of the diagonal."""


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """A clip and its corners. A draw returns None where the clip has too few frames or corners."""

    clip: Clip
    corners: Mapping[int, Float64[np.ndarray, "k 2"]]
    """Full-size pixels rounded to 0.1, by frame; only frames with at least three corners."""

    def points(self, rng: np.random.Generator, count: int) -> tuple[int, list[list[float]]] | None:
        """A frame and `count` of its corners, at least `MIN_DISTANCE` apart."""
        if not self.corners:
            return None
        frame = int(rng.choice(sorted(self.corners)))
        distance_px = MIN_DISTANCE * float(np.hypot(self.clip.width_px, self.clip.height_px))
        xy_px = rng.permutation(self.corners[frame])
        rows = spaced(np.arange(len(xy_px)), xy_px, distance_px, count)
        return (frame, xy_px[rows].tolist()) if len(rows) == count else None

    def interval(self, rng: np.random.Generator, count: int) -> list[int] | None:
        """At most `count` evenly spaced frames of a random interval."""
        frames = self.clip.frames
        if len(frames) < 2:
            return None
        a, b = np.sort(rng.choice(len(frames), 2, replace=False))
        return [int(frame) for frame in frames[np.unique(np.linspace(a, b, count).round().astype(int))]]

    def from_frame(self, frame: int, rng: np.random.Generator) -> list[int]:
        """At most four frames; `frame` is the first."""
        later = self.clip.frames[self.clip.frames >= frame]
        return spread_frames(later[: int(rng.integers(1, len(later) + 1))], 4)

    def other_frame(self, frame: int, rng: np.random.Generator) -> int | None:
        """Another frame."""
        others = self.clip.frames[self.clip.frames != frame]
        return int(rng.choice(others)) if len(others) else None

    def distinct_frames(self, rng: np.random.Generator, count: int) -> Sequence[int] | None:
        """`count` different frames in random order."""
        if len(self.clip.frames) < count:
            return None
        return [int(frame) for frame in rng.choice(self.clip.frames, count, replace=False)]
