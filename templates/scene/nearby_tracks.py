"""Tracks near pixels. What is searched in a frame is prepared once, for all templates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import cKDTree

from experts.signals import PointTracks


@dataclass(frozen=True, kw_only=True)
class TrackedPixels:
    """Where some of the tracks are in each frame."""

    tracks: PointTracks
    chosen: Bool[np.ndarray, "t n"]
    """Which tracks count in a frame, if they are followed there."""

    def nearest(
        self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"], count: int, radius_px: float
    ) -> Int64[np.ndarray, "k c"]:
        """The `count` nearest tracks within the radius of pixels, each of its frame; -1 where there are fewer."""
        found = np.full((len(frames), count), -1, dtype=np.int64)
        if not self.chosen.any():
            return found
        order = frames.argsort(kind="stable")
        for here in np.split(order, np.flatnonzero(np.diff(frames[order])) + 1):
            for frame in frames[here[:1]].tolist():
                tree, rows = self._in_frame(frame)
                found[here] = rows[tree.query(xy_px[here], k=range(1, count + 1), distance_upper_bound=radius_px)[1]]
        return found

    def _in_frame(self, frame: int) -> tuple[cKDTree, Int64[np.ndarray, "m"]]:
        """The tracks of a frame, by pixel, and their rows; the last row is -1, of the track that is not found."""
        if frame not in self._frames:
            columns = np.flatnonzero(self.tracks.frames == frame)
            xy_px = self.tracks.xy_px[:, columns]
            here = self.chosen[:, columns] & np.isfinite(xy_px).all(axis=2)
            self._frames[frame] = cKDTree(xy_px[here]), np.append(np.nonzero(here)[0], -1)
        return self._frames[frame]

    @cached_property
    def _frames(self) -> dict[int, tuple[cKDTree, Int64[np.ndarray, "m"]]]:
        return {}


@dataclass(frozen=True, kw_only=True)
class NearbyTracks:
    """The tracks of a clip, by what is known of them."""

    tracks: PointTracks
    pixel_scale: float
    """Factor from thresholds stated at 640 px width to full-size pixels."""

    @cached_property
    def moving(self) -> TrackedPixels:
        """Those that move in the world."""
        return self._of(self.tracks.motion == 1)

    @cached_property
    def visible(self) -> TrackedPixels:
        """Those that are not known to move, where they are visible."""
        seen = self.tracks.visible & (self.tracks.motion != 1)[:, None]
        return TrackedPixels(tracks=self.tracks, chosen=seen)

    def _of(self, which: Bool[np.ndarray, "t"]) -> TrackedPixels:
        return TrackedPixels(tracks=self.tracks, chosen=np.broadcast_to(which[:, None], self.tracks.visible.shape))
