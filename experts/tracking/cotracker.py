"""CoTracker 3 (Karaev et al. 2024): tracks many points jointly through the image, also through short occlusions.

Code and weights are CC BY-NC 4.0; TAPIR is the permissive substitute. Weak points: long occlusions, textureless
surfaces, repeated patterns. Upstream's public predictor drops the confidence and thresholds the visibility, so the
network inside it is called instead. Its pixel convention is ours (feature maps are sampled with aligned corners: 0 is a
pixel's centre).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
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

_COMMIT = "82e02e8029753ad4ef13cf06be7f4fc5facdda4d"
_GIT = f'pip install "cotracker @ git+https://github.com/facebookresearch/co-tracker@{_COMMIT}"'
_WINDOW = {"offline": 60, "online": 16}


@dataclass(frozen=True, kw_only=True)
class CoTrackerSettings:
    """Inputs of the network, and selection of its predictions."""

    following: FollowSettings = field(default_factory=FollowSettings)
    """Windows and starts."""
    size_px: tuple[int, int] = (512, 384)
    """Width and height of the network's pictures: its training resolution. Multiples of 4."""
    iterations: int = 6
    """Rounds of refinement (upstream's predictor)."""
    min_confidence: float = 0.6
    """A point is visible where visibility times confidence is at least this (upstream's online predictor); raw."""


class CoTrackerExpert(ImageTracker):
    """Expert "cotracker": 2-D tracks with CoTracker 3, "offline" (whole windows) or "online" (16 frames at a time)."""

    name: ClassVar[str] = "cotracker"
    version: ClassVar[str] = "4"
    variants: ClassVar[tuple[str, ...]] = ("offline", "online")
    packages: ClassVar[tuple[Package, ...]] = (
        Package(module="torch", install="pip install torch", licence="BSD-3-Clause"),
        Package(module="cotracker", install=_GIT, licence="CC-BY-NC-4.0"),
    )
    code_licence: ClassVar[str] = "CC-BY-NC-4.0"
    code_commercial_ok: ClassVar[bool] = False
    bytes_per_frame: ClassVar[float] = 0.1e9
    bytes_per_point: ClassVar[float] = 1e5

    def __init__(self, settings: CoTrackerSettings | None = None, variant: str = "offline") -> None:
        self.settings: CoTrackerSettings = settings or CoTrackerSettings()
        self.variant = variant
        self.weight_names = (f"cotracker3-{variant}",)

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> "CoTrackerNetwork":
        """The network inside upstream's predictor."""
        from cotracker.predictor import CoTrackerPredictor

        offline = self.variant == "offline"
        predictor = CoTrackerPredictor(checkpoint=None, offline=offline, window_len=_WINDOW[self.variant])
        model = predictor.model
        if files is not None:
            name = self.weight_names[0]
            state = load_state(files[name] / WEIGHTS[name].files[0].name)
            model.load_state_dict(state.get("model", state))
        model.model_resolution = self.settings.size_px[::-1]
        return CoTrackerNetwork(model.to(placement.device).eval(), placement.device, self.settings.iterations)


class CoTrackerNetwork(TrackerNetwork):
    """Upstream tracks the points of a window jointly: its 64 virtual tracks attend to all of them, with a mask that its
    `forward` never sets. In a call of several windows it hides the copies that fill them up."""

    queries_step = 96
    """No multiple is 64: upstream would take a mask of that length for one of its virtual tracks."""

    def __init__(self, upstream: Any, device: str, iterations: int) -> None:
        super().__init__(upstream, device)
        self.iterations = iterations

    def tracked(self, video: Any, queries: Any, counts: Sequence[int] | None) -> Sequence[Any]:
        """Positions, and probabilities of visibility and of a small error."""
        video = video.permute(0, 1, 4, 2, 3)
        with nullcontext() if counts is None else self._several(counts, queries):
            xy, visible, confidence, _ = self.upstream(video=video, queries=queries, iters=self.iterations)
        return xy, visible, confidence

    @contextmanager
    def _several(self, counts: Sequence[int], queries: Any) -> Iterator[None]:
        """Hides all but the first queries of each window from the attention; and upstream's `view` becomes `reshape`,
        as some of its tensors can be viewed for one window only."""
        import torch
        from torch.overrides import TorchFunctionMode

        class ViewAsReshape(TorchFunctionMode):  # type: ignore[misc]
            def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                function = torch.Tensor.reshape if function is torch.Tensor.view else function
                return function(*args, **(kwargs or {}))

        number = torch.arange(queries.shape[1], device=queries.device)
        known = number < torch.tensor(counts, device=queries.device)[:, None]

        def masked(_: Any, tokens: tuple[Any], named: dict[str, Any]) -> tuple[tuple[Any], dict[str, Any]]:
            return tokens, named | {"mask": known.repeat_interleave(tokens[0].shape[2], dim=0)}

        with self.upstream.updateformer.register_forward_pre_hook(masked, with_kwargs=True), ViewAsReshape():
            yield

    def decoded(self, count: int, *outputs: np.ndarray) -> RawTracks:
        """See `decoded` below."""
        return decoded(*(part[:, :count] for part in outputs))


def decoded(
    xy: Float32[np.ndarray, "n m 2"], visible: Float32[np.ndarray, "n m"], confidence: Float32[np.ndarray, "n m"]
) -> RawTracks:
    """Converts upstream's frame-by-frame tracks. Both inputs are probabilities; as in the online predictor they are
    multiplied."""
    return RawTracks(xy=xy.swapaxes(0, 1).copy(), confidence=(visible * confidence).T.copy())
