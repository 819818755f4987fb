"""Base of learned trackers in the image: windows over the clip, query points, memory. Subclasses add the network."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, UInt8

from experts.clip import Clip, Picture
from experts.expert import SetupProblem
from experts.runtime.batching import ahead
from experts.runtime.device import is_out_of_memory
from experts.runtime.per_window import NetworkCalls, PerWindowExpert
from experts.runtime.windows import rolling
from experts.signals import ImageTracks, NoEstimate, Signal, Signals, ValidArea
from experts.tracking.learned_tracks import (
    FollowSettings,
    RawTracks,
    TrackChain,
    frames_to_follow,
    new_points,
    reliable,
)
from experts.tracking.tracker_network import QueriedWindow


class NetworkFrame(NamedTuple):
    """One frame at network size."""

    row: int
    """Row among the tracked frames."""
    picture: Picture
    """RGB at network size."""


class ImageTracker(PerWindowExpert):
    """Base of trackers that provide "image_tracks". The `build` of a subclass returns a `TrackerNetwork`. Its settings
    have `following` (`FollowSettings`), `size_px` (width, height of the network's input) and `min_confidence`."""

    provides: ClassVar[frozenset[str]] = frozenset({"image_tracks"})
    needs: ClassVar[frozenset[str]] = frozenset()
    may_use: ClassVar[frozenset[str]] = frozenset({"valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"times_s"})
    both_ways: ClassVar[bool] = False
    """Whether the network also tracks backwards from the query frame."""
    bytes_per_frame: ClassVar[float]
    """Memory per frame of a window, without its tracks: estimated from the network's tensor shapes."""
    bytes_per_point: ClassVar[float]
    """Memory per track and frame of a window: likewise."""

    @property
    def batch_frames(self) -> int:
        """See `PerWindowExpert`."""
        frames: int = self.settings.following.batch_frames
        return frames

    def process(self, clip: Clip, signals: Signals, calls: NetworkCalls) -> dict[str, Signal | NoEstimate]:
        """Tracks points through the clip, window by window."""
        following: FollowSettings = self.settings.following
        frames = frames_to_follow(clip, following)
        if len(frames) < 2:
            return {"image_tracks": NoEstimate(reason="fewer than two frames")}
        chain = TrackChain(count=len(frames), settings=following)
        valid = self._valid(clip, signals)
        seen = (NetworkFrame(row, self._small(rgb)) for row, (_, rgb) in enumerate(clip.read(frames.tolist())))
        with closing(ahead(seen, depth=following.window_frames)) as pictures:
            self._through(pictures, chain, valid, calls)
        xy = chain.longest()
        if not len(xy):
            detail = "all tracks are too short" if len(chain.xy) else "no query point was tracked"
            return {"image_tracks": NoEstimate(reason="no texture to follow", detail=detail)}
        xy_px = self._full_from_network(xy.astype(np.float64), clip).astype(np.float32)
        return {"image_tracks": ImageTracks(frames=frames, xy_px=xy_px, provenance=self.provenance())}

    def _through(
        self,
        pictures: Iterator[NetworkFrame],
        chain: TrackChain,
        valid: Bool[np.ndarray, "h w"],
        calls: NetworkCalls,
    ) -> None:
        following: FollowSettings = self.settings.following

        def window(items: Sequence[NetworkFrame]) -> Any:
            return self._window(items, chain, valid, calls)

        size, overlap, min_frames = (
            self._fitting_size(calls.free_bytes),
            following.overlap_frames,
            following.min_window_frames,
        )
        try:
            for first, _, (rows, continued, new) in rolling(pictures, window, size, overlap, min_frames):
                chain.add(first, rows, continued, new)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            remedy = "free the GPU, use --device cpu, or omit this expert"
            raise SetupProblem(f"{self.name}: memory does not hold {min_frames} frames", remedy) from error

    def _window(
        self, items: Sequence[NetworkFrame], chain: TrackChain, valid: Bool[np.ndarray, "h w"], calls: NetworkCalls
    ) -> Any:
        """(rows of continued tracks, their predictions, the new tracks)."""
        rows, known = chain.continuing(items[0].row)
        new = self._starts(items, known, valid)
        queries = np.concatenate([known, new])
        if not len(queries):
            return rows, *(np.zeros((0, len(items), 2), np.float32) for _ in range(2))
        window = QueriedWindow(video=np.stack([item.picture for item in items]), queries=queries)
        raw: RawTracks = calls.predicted(window)
        xy = reliable(raw, queries, valid, self.settings.min_confidence, self.both_ways, self.settings.following)
        return rows, xy[: len(rows)], xy[len(rows) :]

    def _starts(
        self, items: Sequence[NetworkFrame], known: Float32[np.ndarray, "k 3"], valid: Bool[np.ndarray, "h w"]
    ) -> Float32[np.ndarray, "p 3"]:
        """Query points in a few frames of the window, away from the queries of continued tracks."""
        import cv2

        following: FollowSettings = self.settings.following
        found = []
        for at in np.unique(np.round(np.linspace(0, len(items) - 1, following.starts + 1)[:-1]).astype(int)):
            near = known[np.abs(known[:, 0] - at) <= following.overlap_frames, 1:].astype(np.float64)
            grey = np.asarray(cv2.cvtColor(items[at].picture, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
            xy = new_points(grey, valid, near, following)
            found.append(np.column_stack([np.full(len(xy), at), xy]))
        return np.concatenate(found).astype(np.float32).reshape(-1, 3)

    def _fitting_size(self, free_bytes: int) -> int:
        """Frames per window: the setting, halved until it fits. Halving makes the result insensitive to small memory
        changes."""
        following: FollowSettings = self.settings.following
        points = 2 * following.starts * following.points
        each = self.bytes_per_frame + points * self.bytes_per_point
        size, free = following.window_frames, following.memory_share * free_bytes
        while size > following.min_window_frames and size * each > free:
            size //= 2
        return max(size, following.min_window_frames)

    def _valid(self, clip: Clip, signals: Signals) -> Bool[np.ndarray, "h w"]:
        """The valid area at network size: only pixels whose full-size area is entirely valid."""
        import cv2

        area, (width, height) = signals.get("valid_area"), self.settings.size_px
        if not isinstance(area, ValidArea):
            return np.ones((height, width), dtype=bool)
        share = cv2.resize(area.valid.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(share > 0.999)

    def _small(self, rgb: Picture) -> UInt8[np.ndarray, "net_h net_w 3"]:
        import cv2

        small = cv2.resize(rgb, self.settings.size_px, interpolation=cv2.INTER_AREA)
        return np.asarray(small, dtype=np.uint8)

    def _full_from_network(self, xy: Float64[np.ndarray, "*n 2"], clip: Clip) -> Float64[np.ndarray, "*n 2"]:
        width, height = self.settings.size_px
        return (xy + 0.5) * [clip.width_px / width, clip.height_px / height] - 0.5
