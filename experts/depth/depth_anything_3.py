"""Depth Anything 3 (Lin et al. 2025, Apache-2.0 code): depth and camera poses of a clip.

The any-view network predicts poses and depth up to scale; the metric network predicts metres. "nested" is both, joined
by one least-squares factor per call; here that also works with the permissive base weights. Weak points: glass and
mirrors, moving objects (the views are assumed to show one static scene), rotation without translation. The any-view
network alone does not detect sky.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float32, Int64

from experts.clip import Clip, Picture
from experts.depth.da3_prediction import DecodingSettings, decoded, metric_depth, processed_size
from experts.depth.da3_signals import TrustSettings, signals_of
from experts.depth.da3_upstream import DEFAULT_VARIANT, PACKAGES, VARIANTS, DepthAnything3Network, build_model
from experts.depth.depth_on_points import JoinSettings, in_unit_of
from experts.expert import SetupProblem
from experts.footage.decoding import DecodingError
from experts.intrinsics import Intrinsics
from experts.runtime.batching import ahead
from experts.runtime.device import Placement, is_out_of_memory
from experts.runtime.model_expert import Package
from experts.runtime.per_window import NetworkCalls, PerWindowExpert
from experts.runtime.windows import Chain, Joined, WindowSettings, fitting_size, rolling
from experts.signals import (
    Calibration,
    CameraPath,
    Depth,
    NoEstimate,
    Scale,
    Signal,
    Signals,
    SparsePoints,
    ValidArea,
)

Shot = tuple[int, Picture]
"""A frame index and its picture at the processed size."""
_OF_METRIC = ("calibration", "camera_path", "sparse_points")
"""Signals that give the metric network alone its focal length, and its depth the unit of a path."""
Maps = tuple[Float32[np.ndarray, "n h w"], Float32[np.ndarray, "n h w"]]
"""Depth and its relative σ."""
Predictions = Callable[..., Iterator[tuple[Int64[np.ndarray, "m"], Any]]]
"""From frames and the overlap of windows to (rows of the frames, upstream's prediction or `NoEstimate`) per window."""


@dataclass(frozen=True, kw_only=True)
class DepthAnything3Settings:
    """Which frames the network processes, and how its predictions are used."""

    variant: str = DEFAULT_VARIANT
    """One of `VARIANTS`."""
    process_res: int = 504
    """Longer side of the network's input, a multiple of 14: the training resolution."""
    frames_per_s: float = 10.0
    """Largest number of frames per second with a pose."""
    max_frames: int = 600
    """Largest number of frames per clip with a pose, evenly spaced."""
    depth_frames: int = 60
    """Number of those frames that keep their depth: memory is constant in the length of the clip."""
    windows: WindowSettings = field(default_factory=WindowSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings)
    join: JoinSettings = field(default_factory=JoinSettings)
    """Variant "metric": how its metres are joined to a path without metres."""
    trust: TrustSettings = field(default_factory=TrustSettings)


class DepthAnything3Expert(PerWindowExpert):
    """Expert "depth_anything_3": camera path and depth; variant "metric": depth.

    It provides no "calibration": its focal length is part of its path, and is compared with those of other experts.
    """

    name: ClassVar[str] = "depth_anything_3"
    version: ClassVar[str] = "4"
    variants: ClassVar[tuple[str, ...]] = tuple(VARIANTS)
    needs: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[frozenset[str]] = frozenset({"intrinsics", "times_s"})
    packages: ClassVar[tuple[Package, ...]] = PACKAGES

    def __init__(self, settings: DepthAnything3Settings | None = None, variant: str | None = None) -> None:
        chosen = settings or DepthAnything3Settings()
        self.settings: DepthAnything3Settings = replace(chosen, variant=variant or chosen.variant)
        self.networks = VARIANTS[self.settings.variant]
        self.weight_names = tuple(name for name, _ in self.networks.weights)
        alone = self.networks.anyview is None
        self.provides = frozenset({"depth"} if alone else {"camera_path", "depth"})
        self.may_use = frozenset({"valid_area", *(_OF_METRIC if alone else ())})

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> DepthAnything3Network:
        """Upstream's model; see `ModelExpert.build`."""
        branches = None if files is None else [(branch, files[name]) for name, branch in self.networks.weights]
        upstream = build_model(self.networks.anyview, self.networks.metric, branches, placement)
        return DepthAnything3Network(upstream, placement.device)

    @property
    def batch_frames(self) -> int:
        """See `PerWindowExpert`."""
        return self.settings.windows.batch_frames

    def process(self, clip: Clip, signals: Signals, calls: NetworkCalls) -> Mapping[str, Signal | NoEstimate]:
        """One entry per name in `provides`; `NoEstimate` where the prediction is inconsistent."""
        frames = self._frames(clip)
        if not len(frames):
            return self._all(NoEstimate(reason="no frames"))
        valid, predictions = self._valid(clip, signals), partial(self._predictions, clip, calls)
        if self.networks.anyview is None:
            return {"depth": self._depth_alone(clip, frames, valid, signals, predictions)}
        joined = self._joined(frames, valid, predictions)
        if isinstance(joined, NoEstimate):
            return self._all(joined)
        metric = self.networks.metric is not None
        return signals_of(joined, clip, frames, metric, self.settings.trust, self.provenance())

    def _depth_alone(
        self,
        clip: Clip,
        frames: Int64[np.ndarray, "n"],
        valid: Bool[np.ndarray, "h w"],
        signals: Signals,
        predictions: Predictions,
    ) -> Depth | NoEstimate:
        """Depth of the metric network: in metres, or in the unit of a path that translates without metres."""
        path, points = signals.get("camera_path"), signals.get("sparse_points")
        camera = self._known_camera(clip, signals)
        if not isinstance(path, CameraPath) or path.motion != "general" or path.scale.kind != "relative":
            return self._metric_depth(frames, valid, camera, predictions)
        if not isinstance(points, SparsePoints) or not len(points.observation_frame):
            return NoEstimate(reason="depth and camera path have no points in common", detail="the path has none")
        keyframes = np.intersect1d(path.frames[path.keyframe], points.observation_frame)
        depth = self._metric_depth(keyframes, valid, camera, predictions)
        return in_unit_of(path, depth, points, self.settings.join) if isinstance(depth, Depth) else depth

    def _metric_depth(
        self,
        frames: Int64[np.ndarray, "n"],
        valid: Bool[np.ndarray, "h w"],
        camera: tuple[Intrinsics, float, str] | None,
        predictions: Predictions,
    ) -> Depth | NoEstimate:
        """Depth of evenly spaced frames, each on its own, in metres by a known focal length."""
        s = self.settings
        if camera is None:
            detail = "metres are depth times focal length / 300"
            remedy = "give --intrinsics, or use variant base"
            return NoEstimate(reason="focal length not known", detail=detail, remedy=remedy)
        intrinsics, focal_sigma, source = camera
        maps = self._metric_maps(frames := _evenly(frames, s.depth_frames), valid, intrinsics, predictions)
        if isinstance(maps, NoEstimate):
            return maps
        z, sigma = maps
        return Depth(
            frames=frames,
            z=z,
            relative_sigma=sigma,
            scale=Scale(
                kind="metric",
                relative_sigma=float(np.hypot(s.trust.metric_relative, focal_sigma)),
                source=f"metric model at {source}",
            ),
            provenance=self.provenance(),
            outlier_probability=s.trust.outlier_probability_unconfirmed,
        )

    def _metric_maps(
        self,
        frames: Int64[np.ndarray, "n"],
        valid: Bool[np.ndarray, "h w"],
        camera: Intrinsics,
        predictions: Predictions,
    ) -> Maps | NoEstimate:
        """Metres and σ. Frames of a window without estimate stay unknown."""
        z, sigma = (np.full((len(frames), *valid.shape), np.nan, dtype=np.float32) for _ in range(2))
        no_estimate = NoEstimate(reason="only sky")
        for rows, prediction in predictions(frames, overlap=0):
            if not isinstance(prediction, NoEstimate):
                prediction = metric_depth(prediction, camera, valid, self.settings.decoding)
            if isinstance(prediction, NoEstimate):
                no_estimate = prediction
            else:
                z[rows], sigma[rows] = prediction
        return (z, sigma) if np.isfinite(z).any() else no_estimate

    def _joined(
        self, frames: Int64[np.ndarray, "n"], valid: Bool[np.ndarray, "h w"], predictions: Predictions
    ) -> Joined | NoEstimate:
        """All frames, window by window, in one world."""
        s, count = self.settings, len(frames)
        keep = frozenset(_evenly(np.arange(count), s.depth_frames).tolist())
        chain = Chain(count=count, keep=keep, settings=s.windows)
        for rows, prediction in predictions(frames, overlap=s.windows.overlap):
            window = prediction if isinstance(prediction, NoEstimate) else decoded(prediction, rows, valid, s.decoding)
            if not chain.add(window):
                break
        joined = chain.joined(s.trust.registered_share)
        if isinstance(joined, NoEstimate) and joined.reason == "only sky":
            return replace(joined, remedy="show more than sky")
        return joined

    def _predictions(
        self, clip: Clip, calls: NetworkCalls, frames: Int64[np.ndarray, "n"], overlap: int
    ) -> Iterator[tuple[Int64[np.ndarray, "m"], Any]]:
        """(rows of `frames`, prediction) per window; frames are decoded ahead.

        Raises `SetupProblem` if the smallest window does not fit into memory.
        """
        size, s = self._size(clip), self.settings.windows
        most = fitting_size(calls.free_bytes, size[0] * size[1], s)
        with closing(ahead(_shots(clip, frames, size), depth=most)) as shots:
            try:
                for first, count, answer in rolling(shots, partial(_predicted, calls), most, overlap, s.min_frames):
                    yield np.arange(first, first + count), answer
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                cause = f"{s.min_frames} frames of {size[0]} x {size[1]} do not fit into memory"
                raise SetupProblem(cause, "use --experts depth_anything_3:small, or --device cpu") from error

    def _frames(self, clip: Clip) -> Int64[np.ndarray, "n"]:
        """The frames that get a pose."""
        step = 1
        if clip.times_s is not None and len(clip.frames) > 1:
            per_s = (len(clip.frames) - 1) / max(float(clip.times_s[-1] - clip.times_s[0]), 1e-9)
            step = max(1, round(per_s / self.settings.frames_per_s))
        return _evenly(clip.frames[::step], self.settings.max_frames)

    def _size(self, clip: Clip) -> tuple[int, int]:
        return processed_size(clip.width_px, clip.height_px, self.settings.process_res)

    def _valid(self, clip: Clip, signals: Signals) -> Bool[np.ndarray, "h w"]:
        """Processed pixels that show only the scene."""
        import cv2

        width, height = self._size(clip)
        area = signals.get("valid_area")
        if not isinstance(area, ValidArea):
            return np.ones((height, width), dtype=bool)
        shown = cv2.resize(area.valid.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(shown > 1 - 1e-3)

    def _known_camera(self, clip: Clip, signals: Signals) -> tuple[Intrinsics, float, str] | None:
        """Intrinsics, σ_f / f and their source: the user's, else those of the path, else the calibration."""
        if clip.options.intrinsics is not None:
            return clip.options.intrinsics, self.settings.trust.focal_user_relative, "the user's focal length"
        for known in (signals.get("camera_path"), signals.get("calibration")):
            if isinstance(known, CameraPath | Calibration):
                source = f"the focal length of {known.provenance.expert}"
                return known.intrinsics, known.focal_relative_sigma, source
        return None

    def _all(self, no_estimate: NoEstimate) -> dict[str, Signal | NoEstimate]:
        return dict.fromkeys(self.provides, no_estimate)


def _predicted(calls: NetworkCalls, shots: Sequence[Shot]) -> Any | NoEstimate:
    try:
        return calls.predicted([picture for _, picture in shots])
    except AssertionError as error:
        if "non-sky" not in str(error):
            raise
        return NoEstimate(reason="only sky", detail="no pixels to scale by")


def _shots(clip: Clip, frames: Int64[np.ndarray, "n"], size: tuple[int, int]) -> Iterator[Shot]:
    """Frames at the processed size: they need less memory, and upstream need not resize them."""
    import cv2

    shrinks = size[0] <= clip.width_px and size[1] <= clip.height_px
    for frame, picture in clip.read(frames.tolist()):
        if picture.shape[:2] != (clip.height_px, clip.width_px):  # upstream would silently crop all to the smallest
            raise DecodingError(Path(clip.name), f"frame {frame} has another size than the first")
        yield frame, cv2.resize(picture, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC)


def _evenly(frames: Int64[np.ndarray, "n"], count: int) -> Int64[np.ndarray, "m"]:
    """At most `count` of the frames, evenly spaced, both ends included."""
    if len(frames) <= count:
        return frames
    return frames[np.linspace(0, len(frames) - 1, count).round().astype(np.int64)]
