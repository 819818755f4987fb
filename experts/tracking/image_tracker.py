"""What learned trackers of the picture plane share: windows over the clip, starts, memory. Adapters add the network."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, UInt8

from experts.clip import Clip, Picture
from experts.expert import SetupProblem
from experts.runtime.batching import ahead
from experts.runtime.device import is_out_of_memory
from experts.runtime.model_expert import ModelExpert
from experts.runtime.windows import rolling
from experts.signals import ImageTracks, NoEstimate, Signals, ValidArea
from experts.tracking.learned_tracks import (
    FollowSettings,
    RawTracks,
    TrackChain,
    believed,
    frames_to_follow,
    new_points,
)


class Seen(NamedTuple):
    """One frame on its way through a window."""

    row: int
    """Which of the followed frames it is."""
    picture: Picture
    """RGB at network size."""


class ImageTracker(ModelExpert):
    """Base of trackers that provide "image_tracks". A subclass defines `follow`, and its settings have `following`
    (`FollowSettings`), `size_px` (width, height of the network's pictures) and `least_confidence`."""

    provides: ClassVar[frozenset[str]] = frozenset({"image_tracks"})
    needs: ClassVar[frozenset[str]] = frozenset()
    may_use: ClassVar[frozenset[str]] = frozenset({"valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"times_s"})
    both_ways: ClassVar[bool] = False
    """Whether frames before a point's start are followed as well as those after it."""
    bytes_per_frame: ClassVar[float]
    """Memory that a frame of a window takes, without its tracks: estimated from the network's shapes."""
    bytes_per_point: ClassVar[float]
    """Memory that a track takes in each frame of a window: likewise."""

    def follow(self, video: UInt8[np.ndarray, "n h w 3"], queries: Float32[np.ndarray, "m 3"]) -> RawTracks:
        """Asks the network. `queries` are (frame of the window, x, y) in network pixels."""
        raise NotImplementedError

    def __call__(self, clip: Clip, signals: Signals) -> dict[str, ImageTracks | NoEstimate]:
        """Follows points through the clip, window by window."""
        following: FollowSettings = self.settings.following
        frames = frames_to_follow(clip, following)
        if len(frames) < 2:
            return {"image_tracks": NoEstimate(reason="fewer than two frames")}
        chain = TrackChain(count=len(frames), settings=following)
        valid = self._valid(clip, signals)
        seen = (Seen(row, self._small(rgb)) for row, (_, rgb) in enumerate(clip.read(frames.tolist())))
        with closing(ahead(seen, depth=following.window_frames)) as pictures:
            self._through(pictures, chain, valid)
        xy = chain.longest()
        if not len(xy):
            detail = "no point held for as long as it must" if len(chain.xy) else "no point to start from held"
            return {"image_tracks": NoEstimate(reason="no texture to follow", detail=detail)}
        xy_px = self._full_from_network(xy.astype(np.float64), clip).astype(np.float32)
        return {"image_tracks": ImageTracks(frames=frames, xy_px=xy_px, provenance=self.provenance())}

    def _through(self, pictures: Iterator[Seen], chain: TrackChain, valid: Bool[np.ndarray, "h w"]) -> None:
        following: FollowSettings = self.settings.following

        def window(items: Sequence[Seen]) -> Any:
            return self._window(items, chain, valid)

        size, overlap, least = self._fitting_size(), following.overlap_frames, following.least_frames
        try:
            for first, _, (rows, going_on, new) in rolling(pictures, window, size, overlap, least):
                chain.add(first, rows, going_on, new)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            remedy = "free the GPU, take --device cpu, or leave this expert out"
            raise SetupProblem(f"{self.name}: memory does not hold {least} frames", remedy) from error

    def _window(self, items: Sequence[Seen], chain: TrackChain, valid: Bool[np.ndarray, "h w"]) -> Any:
        """(rows of tracks that go on, what the window says of them, its new tracks)."""
        rows, known = chain.continuing(items[0].row)
        fresh = self._starts(items, known, valid)
        queries = np.concatenate([known, fresh])
        if not len(queries):
            return rows, *(np.zeros((0, len(items), 2), np.float32) for _ in range(2))
        raw = self.follow(np.stack([item.picture for item in items]), queries)
        xy = believed(raw, queries, valid, self.settings.least_confidence, self.both_ways, self.settings.following)
        return rows, xy[: len(rows)], xy[len(rows) :]

    def _starts(
        self, items: Sequence[Seen], known: Float32[np.ndarray, "k 3"], valid: Bool[np.ndarray, "h w"]
    ) -> Float32[np.ndarray, "p 3"]:
        """New points in a few frames of the window. What goes on is kept clear only where it was asked for."""
        import cv2

        following: FollowSettings = self.settings.following
        found = []
        for at in np.unique(np.round(np.linspace(0, len(items) - 1, following.starts + 1)[:-1]).astype(int)):
            near = known[np.abs(known[:, 0] - at) <= following.overlap_frames, 1:].astype(np.float64)
            grey = np.asarray(cv2.cvtColor(items[at].picture, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
            xy = new_points(grey, valid, near, following)
            found.append(np.column_stack([np.full(len(xy), at), xy]))
        return np.concatenate(found).astype(np.float32).reshape(-1, 3)

    def _fitting_size(self) -> int:
        """Frames of a window: the setting, halved until it fits. (Small changes of what is free change nothing.)"""
        following: FollowSettings = self.settings.following
        points = 2 * following.starts * following.points
        each = self.bytes_per_frame + points * self.bytes_per_point
        size, free = following.window_frames, following.memory_share * self.placement.free_bytes
        while size > following.least_frames and size * each > free:
            size //= 2
        return max(size, following.least_frames)

    def _valid(self, clip: Clip, signals: Signals) -> Bool[np.ndarray, "h w"]:
        """The valid area at network size: only where all that is behind a pixel is valid."""
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
