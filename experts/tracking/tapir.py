"""BootsTAPIR (Doersch et al. 2023, 2024): points matched in every frame, then refined. Code and weights Apache-2.0.

Weak points: frames that are not square (their aspect ratio is lost), fast rotation, repeated patterns. Upstream's
PyTorch port is imported without jax. Its pixels are raster coordinates: 0 is the picture's edge, 0.5 the centre of the
first pixel; its queries are (frame, y, x). Its input must be square: it divides both coordinates by the height.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float32

from experts.checkpoints.weights import WEIGHTS, load_state
from experts.runtime.device import Placement
from experts.runtime.model_expert import Package
from experts.tracking.image_tracker import ImageTracker
from experts.tracking.learned_tracks import FollowSettings, RawTracks
from experts.tracking.tracker_network import TrackerNetwork

_COMMIT = "c2cbab81cc06092b5f05bfe2da7bfec54e2079c9"
_GIT = f'pip install --no-deps "tapnet @ git+https://github.com/google-deepmind/tapnet@{_COMMIT}"'
_RASTER = 0.5  # raster coordinates of the first pixel's centre


@dataclass(frozen=True, kw_only=True)
class TapirSettings:
    """Inputs of the network, and selection of its predictions."""

    following: FollowSettings = field(default_factory=FollowSettings)
    """Lengths of windows and query frames."""
    side_px: int = 512
    """Side of the square input, a multiple of 8 (upstream's README: 256 and 512)."""
    initial_px: int = 256
    """Side at which points are first matched: the training resolution."""
    pyramid_level: int = 1
    """Of the BootsTAPIR checkpoint (upstream's demo)."""
    chunk: int = 64
    """Points processed at a time (upstream)."""
    min_confidence: float = 0.5
    """A point is visible where P(not occluded) times P(close) is at least this (upstream's rule); not calibrated."""

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the network's input."""
        return self.side_px, self.side_px


class TapirExpert(ImageTracker):
    """Expert "tapir": 2-D tracks with BootsTAPIR."""

    name: ClassVar[str] = "tapir"
    version: ClassVar[str] = "4"
    packages: ClassVar[tuple[Package, ...]] = (
        Package(module="torch", install="pip install torch", licence="BSD-3-Clause"),
        Package(module="tapnet", install=_GIT, licence="Apache-2.0"),
        Package(module="einshape", install="pip install einshape", licence="Apache-2.0"),
        Package(module="tree", install="pip install dm-tree", licence="Apache-2.0"),
    )
    both_ways: ClassVar[bool] = True
    bytes_per_frame: ClassVar[float] = 0.06e9
    bytes_per_point: ClassVar[float] = 1e3

    def __init__(self, settings: TapirSettings | None = None) -> None:
        self.settings: TapirSettings = settings or TapirSettings()
        self.weight_names = ("bootstapir",)

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> "TapirNetwork":
        """The PyTorch port."""
        from tapnet.torch import tapir_model

        side = self.settings.initial_px
        model = tapir_model.TAPIR(pyramid_level=self.settings.pyramid_level, initial_resolution=(side, side))
        if files is not None:
            name = self.weight_names[0]
            model.load_state_dict(load_state(files[name] / WEIGHTS[name].files[0].name))
        return TapirNetwork(model.to(placement.device).eval(), placement.device, self.settings.chunk)


class TapirNetwork(TrackerNetwork):
    """Upstream tracks each point alone, so copies of queries change nothing."""

    def __init__(self, upstream: Any, device: str, chunk: int) -> None:
        super().__init__(upstream, device)
        self.queries_step = chunk

    def encoded(self, queries: Float32[np.ndarray, "m 3"]) -> Float32[np.ndarray, "m 3"]:
        """See `encoded` below."""
        return encoded(queries)

    def tracked(self, video: Any, queries: Any, counts: Sequence[int] | None) -> Sequence[Any]:
        """Positions, and logits of occlusion and of a large error."""
        import torch

        torch.manual_seed(0)  # upstream shuffles the points among its chunks
        out = self.upstream(video / 255 * 2 - 1, queries, query_chunk_size=self.queries_step)
        return [out[name] for name in ("tracks", "occlusion", "expected_dist")]

    def decoded(self, count: int, *outputs: np.ndarray) -> RawTracks:
        """See `decoded` below."""
        return decoded(*(part[:count] for part in outputs))


def encoded(queries: Float32[np.ndarray, "m 3"]) -> Float32[np.ndarray, "m 3"]:
    """Converts (frame, x, y) with pixel centres at integers to (frame, y, x) in raster coordinates."""
    return np.ascontiguousarray(queries[:, [0, 2, 1]] + np.array([0, _RASTER, _RASTER], dtype=np.float32))


def decoded(
    xy: Float32[np.ndarray, "m n 2"], occlusion: Float32[np.ndarray, "m n"], distance: Float32[np.ndarray, "m n"]
) -> RawTracks:
    """Converts upstream's raster coordinates and logits (of occlusion, of a large error) to ours."""
    with np.errstate(over="ignore"):
        seen, close = 1 / (1 + np.exp(occlusion)), 1 / (1 + np.exp(distance))
    return RawTracks(xy=xy - np.float32(_RASTER), confidence=(seen * close).astype(np.float32))
