"""Networks that track points through windows of several clips: inputs, batches, outputs. Subclasses call upstream."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8

from experts.runtime.transfer import Copy, fetched, sent
from experts.tracking.learned_tracks import RawTracks


@dataclass(frozen=True, kw_only=True)
class QueriedWindow:
    """What a network gets."""

    video: UInt8[np.ndarray, "n h w 3"]
    """RGB at network size."""
    queries: Float32[np.ndarray, "m 3"]
    """(Frame of the window, x, y) in network pixels."""

    def __len__(self) -> int:
        return len(self.video)


@dataclass(frozen=True, kw_only=True)
class TrackerInputs:
    """The same on the device."""

    video: Copy
    queries: Copy
    """In upstream's format; the last ones may be copies that fill up a batch."""
    count: int
    """Number of queries without those copies."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Frames and queries: windows share a call if both agree."""
        return self.video.shape[0], self.queries.shape[0]


class TrackerNetwork:
    """Base class; see `experts.runtime.per_window.WindowNetwork`. In float32: half precision is too coarse for
    pixels."""

    queries_step: int
    """In a shared call the number of queries is filled up to a multiple of this, so that few shapes occur."""

    def __init__(self, upstream: Any, device: str) -> None:
        self.upstream, self.device = upstream, device

    def encoded(self, queries: Float32[np.ndarray, "m 3"]) -> Float32[np.ndarray, "m 3"]:
        """The queries in upstream's format."""
        return queries

    def tracked(self, video: Any, queries: Any, counts: Sequence[int] | None) -> Sequence[Any]:
        """Upstream's outputs, tensors with one row per window.

        Args:
            video: (windows, n, h, w, 3), 0 to 255.
            queries: (windows, m, 3), as `encoded`.
            counts: number of queries of each window that are no copies; None: all, of a window alone.
        """
        raise NotImplementedError

    def decoded(self, count: int, *outputs: np.ndarray) -> RawTracks:
        """Our form of the outputs of one window, for its first `count` queries."""
        raise NotImplementedError

    def prepared(self, window: QueriedWindow, *, padded: bool) -> TrackerInputs:
        """Starts copying to the device."""
        queries = self.encoded(window.queries)
        if padded:
            queries = np.pad(queries, ((0, -len(queries) % self.queries_step), (0, 0)), mode="edge")
        return TrackerInputs(
            video=sent(window.video, self.device), queries=sent(queries, self.device), count=len(window.queries)
        )

    def infer(self, inputs: Sequence[TrackerInputs]) -> list[tuple[int, list[Copy]]]:
        """Number of queries, and upstream's outputs, of each window."""
        import torch

        counts = [each.count for each in inputs]
        filled = len(inputs) > 1 or counts[0] < inputs[0].shape[1]
        with torch.inference_mode():
            video = torch.stack([each.video.on_device() for each in inputs])
            queries = torch.stack([each.queries.on_device() for each in inputs])
            outputs = self.tracked(video.float(), queries, counts if filled else None)
            return [(count, [fetched(part[row]) for part in outputs]) for row, count in enumerate(counts)]

    def received(self, output: tuple[int, list[Copy]]) -> RawTracks:
        """The prediction of one window."""
        count, parts = output
        return self.decoded(count, *(part.on_host().numpy() for part in parts))
