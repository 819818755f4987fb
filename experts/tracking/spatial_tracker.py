"""SpatialTracker V2 (Xiao et al. 2025): points tracked in three dimensions, given depth and camera poses.

Code and weights are CC BY-NC 4.0; TAPIR is the permissive substitute in the image plane. It runs in a Python
environment of its own, on a GPU only. It processes only frames with depth, so fast changes between them are lost. Weak
points: depth borders, thin objects. Its units are absolute (it clips depth below 0.1 and above 200), so depth and
cameras are scaled to a typical median depth, and back.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float32, Float64

import experts.runtime.workers.spatial_tracker_v2 as worker_script
from experts.checkpoints.weights import RANDOM, located
from experts.clip import Clip
from experts.expert import SetupProblem
from experts.runtime.model_expert import ModelExpert
from experts.runtime.worker import Environment, OutOfMemoryError, Worker, environment
from experts.signals import CameraPath, Depth, ImageTracks, NoEstimate, PointTracks, Signal, Signals, ValidArea
from experts.tracking.learned_tracks import FollowSettings
from experts.tracking.spatial_tracker_input import TrackerInput
from experts.tracking.static_fit import REFERENCE_WIDTH_PX
from experts.tracking.track_geometry import TrackGeometryExpert, TrackGeometrySettings
from experts.tracking.world_tracks import PosedDepth, WorldTracks, displaced, posed_depth, tracks_in_world

_COMMIT = "16732307966fbc05beb822b70b1c2d77d89810ce"
_CHECKOUT = (
    "git clone https://github.com/henry123-boy/SpaTrackerV2 && git -C SpaTrackerV2 checkout " + _COMMIT
)  # fmt: skip
_PACKAGES = "conda env create -f environment-spatialtracker.yml"


@dataclass(frozen=True, kw_only=True)
class SpatialTrackerSettings:
    """Inputs of the network, and selection of its predictions. Values without a source are chosen, not measured."""

    geometry: TrackGeometrySettings = field(default_factory=TrackGeometrySettings)
    """How 2-D tracks are compared with the camera path."""
    max_frames: int = 60
    """Frames per call, evenly spaced: upstream's users ran out of 40 GB at 150."""
    short_side_px: int = 336
    """Short side of the network's input (upstream's configuration)."""
    starts: int = 4
    """Frames, evenly spaced, in which points start."""
    points: int = 200
    """Points per start frame; halved while memory runs out. A moving track needs six neighbours within 70 px."""
    min_points: int = 20
    """With fewer points memory is too small."""
    support_points: int = 256
    """Points that upstream adds internally (its default is 756, for refining cameras, which is not done here)."""
    iterations: int = 4
    """Refinement iterations (upstream)."""
    replace_ratio: float = 0.2
    """Share of depths used from the map unchanged (upstream)."""
    dtype: str = "bfloat16"
    """Precision of its matrix products (upstream)."""
    median_depth: float = 3.0
    """Median of the depth at the network's input: metres in a room. Upstream clips below 0.1 and beyond ten times the
    lower quartile."""
    min_depth_share: float = 0.2
    """Smallest share of pixels with known depth."""
    min_confidence: float = 0.5
    """A point is tracked where visibility times confidence is at least this; raw."""
    start_px: float = 4.0
    """Largest distance between a track and its query point in the start frame (640 px wide picture)."""
    fits_depth: float = 0.15
    """Largest median relative difference between the depth of the tracks and of the map in their start frames."""
    sigma_px: float = 1.0
    """Floor of the σ of a track (640 px wide picture); raw."""
    hidden_sigmas: float = 3.0
    """A track is hidden if the surface at its pixel is nearer by this many σ of depth ..."""
    hidden_share: float = 0.1
    """... and by at least this share."""
    moved_sigmas: float = 3.0
    """A track moves if it is displaced by at least this many σ and no static point explains its pixels (as for image
    tracks, with rigid neighbours). It is static if a static point explains its pixels, its displacement is smaller, and
    a motion of `geometry.move_share` of its range would have been visible."""
    reliable_confidence: float = 0.8
    """From this median confidence on, the outlier probability of geometry applies. Below, the larger of it and the raw
    value 1 - confidence applies."""
    timeout_s: float = 900.0
    """Time limit of one call."""
    load_timeout_s: float = 900.0
    """Time limit of loading."""


class SpatialTrackerExpert(ModelExpert):
    """Expert "spatial_tracker": tracks in the world from SpatialTracker V2, given our depth and camera poses."""

    name: ClassVar[str] = "spatial_tracker"
    version: ClassVar[str] = "4"
    provides: ClassVar[frozenset[str]] = frozenset({"tracks"})
    needs: ClassVar[frozenset[str]] = frozenset({"depth", "camera_path"})
    may_use: ClassVar[frozenset[str]] = frozenset({"valid_area"})
    options: ClassVar[frozenset[str]] = frozenset()
    code_licence: ClassVar[str] = "CC-BY-NC-4.0"
    code_commercial_ok: ClassVar[bool] = False
    unproven: ClassVar[tuple[str, ...]] = (
        *ModelExpert.unproven,
        "whether the published checkpoint has every tensor of the network; if not, it is refused",
        "the network itself: it runs on a GPU only, and none was at hand",
    )

    def __init__(self, settings: SpatialTrackerSettings | None = None) -> None:
        self.settings: SpatialTrackerSettings = settings or SpatialTrackerSettings()
        self.weight_names = ("spatial-tracker-v2-offline",)
        self._loaded_with: dict[str, Any] = {}

    def environment(self) -> Environment:
        """Its Python environment. Raises `SetupProblem` with the remaining steps."""
        return environment(self.name, packages=_PACKAGES, checkout=_CHECKOUT)

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Starts the other process and loads the network there. `dtype` is upstream's own."""
        if device.partition(":")[0] not in ("auto", "cuda"):
            raise SetupProblem("SpatialTracker V2 runs on a GPU only", "omit it, or use tapir")
        where = self.environment()
        folder = None if weights == RANDOM else str(located(self.weight_names[0], weights))
        self.close()
        self._loaded_with = {
            "weights": folder,
            "upstream": str(where.upstream),
            "support_points": self.settings.support_points,
        }
        self.model = Worker(
            where.python,
            Path(worker_script.__file__),
            self.settings.timeout_s,
            {"PYTHONPATH": str(where.upstream), "HF_HUB_OFFLINE": "1", **_one_device(device)},
            load_timeout_s=self.settings.load_timeout_s,
            variable=f"SPATIAL_ENGINE_PYTHON_{self.name.upper()}",
        )
        self.model.load(self._loaded_with)
        self.loaded_identity = self.weights_identity(weights)

    def close(self) -> None:
        """Ends the other process."""
        if self.model is not None:
            self.model.close()
        self.model = None

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"tracks": PointTracks}` on the frames that have depth and a pose. Raises `WorkerError`."""
        depth, path = signals["depth"], signals["camera_path"]
        if not isinstance(depth, Depth):
            return _none("no depth", getattr(depth, "reason", ""))
        if not isinstance(path, CameraPath):
            return _none("no camera path", getattr(path, "reason", ""))
        if path.motion == "unresolved":
            return _none("camera path unresolved", "the translation of the camera is not known")
        known = posed_depth(depth, path, clip.frames.tolist())
        count = min(self.settings.max_frames, len(known.frames))
        known = known.of(np.unique(np.round(np.linspace(0, len(known.frames) - 1, count)).astype(np.int64)))
        if len(known.frames) < 2:
            return _none("fewer than two frames with depth and camera")
        tracker_input = self._input(clip, known, signals.get("valid_area"))
        if tracker_input.known_share < self.settings.min_depth_share:
            return _none("too little depth", f"known for {tracker_input.known_share:.0%} of the pixels")
        return {"tracks": self._tracked(clip, tracker_input)}

    def _input(self, clip: Clip, known: PosedDepth, area: Signal | NoEstimate | None) -> TrackerInput:
        valid = area if isinstance(area, ValidArea) else None
        return TrackerInput.of(clip, known, valid, self.settings.short_side_px, self.settings.median_depth)

    def _tracked(self, clip: Clip, tracker_input: TrackerInput) -> PointTracks | NoEstimate:
        points = self.settings.points
        while True:
            queries = tracker_input.queries(FollowSettings(points=points, starts=self.settings.starts))
            if not len(queries):
                return NoEstimate(reason="no texture to follow", detail="no point with texture and depth to start from")
            try:
                return self._decided(clip, tracker_input, queries, self._predicted(tracker_input, queries))
            except OutOfMemoryError as error:
                points //= 2
                if points < self.settings.min_points:
                    remedy = "free the GPU, or omit this expert"
                    raise SetupProblem(f"{self.name}: memory does not hold {2 * points} points", remedy) from error

    def _predicted(self, tracker_input: TrackerInput, queries: Float32[np.ndarray, "m 3"]) -> Mapping[str, np.ndarray]:
        s = self.settings
        request = {"dtype": s.dtype, "iterations": s.iterations, "replace_ratio": s.replace_ratio}
        return self.model.call({**self._loaded_with, **request}, tracker_input.arrays(queries))[1]

    def _decided(
        self,
        clip: Clip,
        tracker_input: TrackerInput,
        queries: Float32[np.ndarray, "m 3"],
        prediction: Mapping[str, np.ndarray],
    ) -> PointTracks | NoEstimate:
        s, scale = self.settings, clip.width_px / REFERENCE_WIDTH_PX
        xy, z, confidence = tracker_input.decoded(prediction, queries, s.min_confidence, s.start_px * scale)
        world = tracks_in_world(xy, z, tracker_input.known, s.sigma_px * scale)
        error = _depth_error_at_start(world, queries)
        if not error < s.fits_depth:
            return NoEstimate(reason="3-D tracks do not fit the depth", detail=f"error by {error:.0%} at their starts")
        flat = ImageTracks(frames=tracker_input.known.frames, xy_px=xy.astype(np.float32), provenance=self.provenance())
        signals: Signals = {"image_tracks": flat, "camera_path": tracker_input.known.path}
        in_image = TrackGeometryExpert(s.geometry)(clip, signals)["tracks"]
        assert isinstance(in_image, PointTracks)
        return self._joined(in_image, world, confidence, scale)

    def _joined(
        self, in_image: PointTracks, world: WorldTracks, confidence: Float64[np.ndarray, "t"], scale: float
    ) -> PointTracks:
        """Combines image and depth: a track is visible, moving or static only where both allow it."""
        s = self.settings
        in_front = world.in_front(s.hidden_sigmas, s.hidden_share)
        fits = ~world.hidden(s.hidden_sigmas, s.hidden_share) & ~in_front
        followed = np.isfinite(world.z)
        moved = displaced(world, followed & fits, s.geometry.static_frames)
        explained = in_image.visible.any(axis=1)  # static candidates: a static point must explain the track
        explained &= in_front.sum(axis=1) <= (1 - s.geometry.static_share) * followed.sum(axis=1)
        with np.errstate(invalid="ignore"):
            shown = s.moved_sigmas * moved.max_sigma <= s.geometry.move_share * moved.distance
            moving = (in_image.motion == 1) & (moved.in_sigma >= s.moved_sigmas)
            static = (in_image.motion != 1) & explained & shown & (moved.in_sigma < s.moved_sigmas)
        raw_probability = np.maximum(in_image.outlier_probability, 1 - confidence)
        return replace(
            in_image,
            visible=in_image.visible & fits & followed,
            sigma_px=np.where(followed, np.fmax(in_image.sigma_px, s.sigma_px * scale), np.nan),
            outlier_probability=np.where(
                (confidence >= s.reliable_confidence) & (moving | static), in_image.outlier_probability, raw_probability
            ),
            motion=np.where(moving, 1, np.where(static, 0, -1)).astype(np.int32),
            xyz_world=world.xyz_world.astype(np.float32),
            xyz_sigma=world.largest_sigma.astype(np.float32),
            provenance=self.provenance(),
        )


def _depth_error_at_start(world: WorldTracks, queries: Float32[np.ndarray, "m 3"]) -> float:
    """Median relative difference between the depth of the tracks and of the map in their start frames; infinite if none
    is followed."""
    row, start = np.arange(len(queries)), queries[:, 0].astype(np.int64)
    error = np.abs(world.z[row, start] / world.z_seen[row, start] - 1)
    return float(np.nanmedian(error)) if np.isfinite(error).any() else np.inf


def _one_device(device: str) -> dict[str, str]:
    """Upstream uses the first visible GPU, so only the wanted one is made visible."""
    number = device.partition(":")[2]
    if not number:
        return {}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else []
    return {"CUDA_VISIBLE_DEVICES": names[int(number)] if int(number) < len(names) else number}


def _none(reason: str, detail: str = "") -> Mapping[str, Signal | NoEstimate]:
    return {"tracks": NoEstimate(reason=reason, detail=detail)}
