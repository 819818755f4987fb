"""Depth Anything 3 (Lin et al. 2025, Apache-2.0 code): depth and cameras of a clip from its pictures.

An any-view network gives cameras and depth up to scale, the metric network metres; "nested" is both, joined by one
least-squares factor per call, here also of the permissive base weights. Bad at: glass and mirrors, things that move
(the views are taken for one still scene), turning without travel. The any-view network alone knows no sky.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float32, Int64

from experts.clip import Clip, Picture
from experts.depth.da3_prediction import DecodingSettings, decoded, metric_depth, posed_depth, processed_size
from experts.depth.da3_signals import TrustSettings, held_against_itself, signals_of
from experts.depth.da3_upstream import built, predict
from experts.depth.da3_variants import DEFAULT, PACKAGES, VARIANTS
from experts.expert import SetupProblem
from experts.footage.decoding import DecodingError
from experts.intrinsics import Intrinsics
from experts.runtime.batching import ahead
from experts.runtime.device import Placement, is_out_of_memory
from experts.runtime.model_expert import ModelExpert, Package
from experts.runtime.windows import Chain, Joined, WindowSettings, fitting_size, rolling
from experts.signals import Calibration, CameraPath, Depth, NoEstimate, Scale, Signal, Signals, ValidArea

Shot = tuple[int, Picture]
"""A frame and its picture at the processed size."""
Maps = tuple[Float32[np.ndarray, "n h w"], Float32[np.ndarray, "n h w"]]
"""Depth and its relative σ."""


@dataclass(frozen=True, kw_only=True)
class DepthAnything3Settings:
    """What is looked at, and how much of it is believed."""

    variant: str = DEFAULT
    """One of `VARIANTS`."""
    process_res: int = 504
    """Longer side that the network sees, a multiple of 14: what it was trained at."""
    frames_per_s: float = 10.0
    """At most so many frames a second get a camera ..."""
    max_frames: int = 600
    """... and at most so many of a clip, evenly spread."""
    depth_frames: int = 60
    """Of those, so many keep their depth: memory is constant in the length of the clip."""
    windows: WindowSettings = field(default_factory=WindowSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings)
    trust: TrustSettings = field(default_factory=TrustSettings)


class DepthAnything3Expert(ModelExpert):
    """Expert "depth_anything_3": camera path and depth; variant "metric": depth.

    No "calibration": its focal length comes with its path, and one from elsewhere is to be held against it.
    """

    name: ClassVar[str] = "depth_anything_3"
    version: ClassVar[str] = "1"
    variants: ClassVar[tuple[str, ...]] = tuple(VARIANTS)
    needs: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[frozenset[str]] = frozenset({"intrinsics", "times_s"})
    packages: ClassVar[tuple[Package, ...]] = PACKAGES

    def __init__(self, settings: DepthAnything3Settings | None = None, variant: str | None = None) -> None:
        given = settings or DepthAnything3Settings()
        self.settings: DepthAnything3Settings = replace(given, variant=variant or given.variant)
        self.networks = VARIANTS[self.settings.variant]
        self.weight_names = tuple(name for name, _ in self.networks.weights)
        alone = self.networks.anyview is None
        self.provides = frozenset({"depth"} if alone else {"camera_path", "depth"})
        self.may_use = frozenset({"valid_area", "calibration"} if alone else {"valid_area"})

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> Any:
        """Upstream's model; see `ModelExpert.build`."""
        branches = None if files is None else [(branch, files[name]) for name, branch in self.networks.weights]
        return built(self.networks.anyview, self.networks.metric, branches, placement)

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """One entry per name in `provides`; abstains where the model's answer does not hold together."""
        frames = self._frames(clip)
        if not len(frames):
            return self._all(NoEstimate(reason="no frames"))
        valid = self._valid(clip, signals)
        if self.networks.anyview is None:
            return {"depth": self._metric_depth(clip, frames, valid, self._known_camera(clip, signals))}
        joined = self._joined(clip, frames, valid)
        if isinstance(joined, NoEstimate):
            return self._all(joined)
        metric = self.networks.metric is not None
        return signals_of(joined, clip, frames, metric, self.settings.trust, self.provenance())

    def depth_on_path(self, clip: Clip, path: CameraPath, signals: Signals) -> Depth | NoEstimate:
        """Depth in the world and unit of cameras that are known already (a data set's)."""
        s, rows = self.settings, _spread(np.flatnonzero(path.registered), self.settings.depth_frames)
        if self.networks.anyview is None:
            return NoEstimate(reason="takes no cameras", remedy="take another variant than metric")
        if path.motion != "general" or len(rows) < 2:
            return NoEstimate(reason="cameras do not travel", detail="nothing gives depth their scale")
        frames, poses = path.frames[rows], dict(zip(path.frames[rows].tolist(), path.world_from_cam[rows], strict=True))
        k, valid = path.intrinsics.scaled(*self._size(clip)).matrix, self._valid(clip, signals)

        def ask(shots: Sequence[Shot]) -> Any:
            cam_from_world = np.linalg.inv(np.stack([poses[frame] for frame, _ in shots]))
            return predict(self.model, [p for _, p in shots], s.process_res, cam_from_world, np.stack([k] * len(shots)))

        def read(rows: Int64[np.ndarray, "m"], prediction: Any) -> Maps | NoEstimate:
            centres = np.stack([poses[frame][:3, 3] for frame in frames[rows].tolist()])
            return posed_depth(prediction, centres, valid, s.decoding)

        maps = self._maps(clip, frames, ask, read)
        if isinstance(maps, NoEstimate):
            return maps
        z, sigma = maps
        depth = Depth(frames=frames, z=z, relative_sigma=sigma, scale=path.scale, provenance=self.provenance())
        return held_against_itself(depth, path, s.trust)

    def _metric_depth(
        self,
        clip: Clip,
        frames: Int64[np.ndarray, "n"],
        valid: Bool[np.ndarray, "h w"],
        camera: tuple[Intrinsics, float, str] | None,
    ) -> Depth | NoEstimate:
        """Depth of frames spread over the clip, each on its own, in metres of a known focal length."""
        s = self.settings
        if camera is None:
            detail = "metres are depth times focal length / 300"
            remedy = "give --intrinsics, or take variant base"
            return NoEstimate(reason="focal length not known", detail=detail, remedy=remedy)
        intrinsics, focal_sigma, source = camera
        frames = _spread(frames, s.depth_frames)
        read = lambda _, prediction: metric_depth(prediction, intrinsics, valid, s.decoding)  # noqa: E731
        maps = self._maps(clip, frames, self._ask, read)
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

    def _maps(
        self,
        clip: Clip,
        frames: Int64[np.ndarray, "n"],
        ask: Callable[[Sequence[Shot]], Any],
        read: Callable[[Int64[np.ndarray, "m"], Any], Maps | NoEstimate],
    ) -> Maps | NoEstimate:
        """Depth and σ of frames whose windows need no joining; a window that abstains leaves its frames unknown."""
        width, height = self._size(clip)
        z, sigma = (np.full((len(frames), height, width), np.nan, dtype=np.float32) for _ in range(2))
        refused = NoEstimate(reason="only sky")
        for rows, prediction in self._answers(clip, frames, ask, overlap=0):
            maps = prediction if isinstance(prediction, NoEstimate) else read(rows, prediction)
            if isinstance(maps, NoEstimate):
                refused = maps
            else:
                z[rows], sigma[rows] = maps
        return (z, sigma) if np.isfinite(z).any() else refused

    def _joined(
        self, clip: Clip, frames: Int64[np.ndarray, "n"], valid: Bool[np.ndarray, "h w"]
    ) -> Joined | NoEstimate:
        """All frames, window by window, in one world."""
        s, count = self.settings, len(frames)
        keep = frozenset(_spread(np.arange(count), s.depth_frames).tolist())
        chain = Chain(count=count, keep=keep, settings=s.windows)
        for rows, prediction in self._answers(clip, frames, self._ask, s.windows.overlap):
            window = prediction if isinstance(prediction, NoEstimate) else decoded(prediction, rows, valid, s.decoding)
            if not chain.add(window):
                break
        joined = chain.joined(s.trust.registered_share)
        if isinstance(joined, NoEstimate) and joined.reason == "only sky":
            return replace(joined, remedy="show more than sky")
        return joined

    def _ask(self, shots: Sequence[Shot]) -> Any | NoEstimate:
        try:
            return predict(self.model, [picture for _, picture in shots], self.settings.process_res)
        except AssertionError as error:
            if "non-sky" not in str(error):
                raise
            return NoEstimate(reason="only sky", detail="no pixels to scale by")

    def _answers(
        self, clip: Clip, frames: Int64[np.ndarray, "n"], ask: Callable[[Sequence[Shot]], Any], overlap: int
    ) -> Iterator[tuple[Int64[np.ndarray, "m"], Any]]:
        """(rows of `frames`, what `ask` says of them), window by window; frames are decoded ahead.

        Raises `SetupProblem` where the smallest window does not fit into memory.
        """
        size, s = self._size(clip), self.settings.windows
        most = fitting_size(self.placement.free_bytes, size[0] * size[1], s)
        with closing(ahead(_shots(clip, frames, size), depth=most)) as shots:
            try:
                for first, count, answer in rolling(shots, ask, most, overlap, s.min_frames):
                    yield np.arange(first, first + count), answer
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                cause = f"{s.min_frames} frames of {size[0]} x {size[1]} do not fit into memory"
                raise SetupProblem(cause, "take --experts depth_anything_3:small, or --device cpu") from error

    def _frames(self, clip: Clip) -> Int64[np.ndarray, "n"]:
        """The frames that get a camera."""
        step = 1
        if clip.times_s is not None and len(clip.frames) > 1:
            per_s = (len(clip.frames) - 1) / max(float(clip.times_s[-1] - clip.times_s[0]), 1e-9)
            step = max(1, round(per_s / self.settings.frames_per_s))
        return _spread(clip.frames[::step], self.settings.max_frames)

    def _size(self, clip: Clip) -> tuple[int, int]:
        return processed_size(clip.width_px, clip.height_px, self.settings.process_res)

    def _valid(self, clip: Clip, signals: Signals) -> Bool[np.ndarray, "h w"]:
        """Processed pixels that show nothing but the scene."""
        import cv2

        width, height = self._size(clip)
        area = signals.get("valid_area")
        if not isinstance(area, ValidArea):
            return np.ones((height, width), dtype=bool)
        shown = cv2.resize(area.valid.astype(np.float32), (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(shown > 1 - 1e-3)

    def _known_camera(self, clip: Clip, signals: Signals) -> tuple[Intrinsics, float, str] | None:
        """Camera, σ_f / f and where they are from: the user's word first."""
        if clip.options.intrinsics is not None:
            return clip.options.intrinsics, self.settings.trust.focal_given_relative, "the given focal length"
        calibration = signals.get("calibration")
        if not isinstance(calibration, Calibration):
            return None
        source = f"the focal length of {calibration.provenance.expert}"
        return calibration.intrinsics, calibration.focal_relative_sigma, source

    def _all(self, no_estimate: NoEstimate) -> dict[str, Signal | NoEstimate]:
        return dict.fromkeys(self.provides, no_estimate)


def _shots(clip: Clip, frames: Int64[np.ndarray, "n"], size: tuple[int, int]) -> Iterator[Shot]:
    """Frames at the processed size: small ones wait in memory, and upstream has nothing left to resize."""
    import cv2

    shrinks = size[0] <= clip.width_px and size[1] <= clip.height_px
    for frame, picture in clip.read(frames.tolist()):
        if picture.shape[:2] != (clip.height_px, clip.width_px):  # upstream would crop all to the smallest, silently
            raise DecodingError(Path(clip.name), f"frame {frame} has another size than the first")
        yield frame, cv2.resize(picture, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC)


def _spread(frames: Int64[np.ndarray, "n"], count: int) -> Int64[np.ndarray, "m"]:
    """At most `count` of them, evenly, ends included."""
    if len(frames) <= count:
        return frames
    return frames[np.linspace(0, len(frames) - 1, count).round().astype(np.int64)]
