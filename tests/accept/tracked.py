"""Windows of random pictures through the network of a tracker, alone and together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experts.runtime.per_window import predicted_alone
from experts.tracking.learned_tracks import RawTracks
from experts.tracking.tracker_network import QueriedWindow


def tracked(expert: Any, video: np.ndarray, queries: Any) -> RawTracks:
    """The prediction for a window alone."""
    window = QueriedWindow(video=video, queries=np.array(queries, np.float32))
    raw: RawTracks = predicted_alone(expert.model, window)
    return raw


def random_windows(size_px: tuple[int, int], frames: int, counts: Sequence[int]) -> list[QueriedWindow]:
    """Windows with as many queries as `counts` says."""
    rng, (width, height) = np.random.default_rng(0), size_px
    return [
        QueriedWindow(
            video=rng.integers(0, 255, (frames, height, width, 3), dtype=np.uint8),
            queries=np.column_stack(
                [rng.integers(0, frames, n), rng.uniform(0, width - 1, n), rng.uniform(0, height - 1, n)]
            ).astype(np.float32),
        )
        for n in counts
    ]


def together(expert: Any, windows: Sequence[QueriedWindow]) -> list[RawTracks]:
    """Their predictions in one call."""
    network = expert.model
    inputs = [network.prepared(window, padded=True) for window in windows]
    assert len({each.shape for each in inputs}) == 1
    return [network.received(output) for output in network.infer(inputs)]


def assert_equal(one: RawTracks, other: RawTracks, atol: float) -> None:
    """Positions in pixels and confidences agree."""
    np.testing.assert_allclose(one.xy, other.xy, atol=atol)
    np.testing.assert_allclose(one.confidence, other.confidence, atol=atol)
