"""SpatialTracker V2 (Xiao et al. 2025): points followed in three dimensions, over given depth and cameras.

Code and weights are CC BY-NC 4.0; TAPIR is the permissive substitute in the picture plane. It runs in a Python
environment of its own, on a GPU only. It sees the frames that have depth, so what changes quickly between them is
lost. Bad at: borders of depth, thin things. Its units are absolute (it cuts depth below 0.1 and above 200), so depth
and cameras go in with a usual median depth, and come back in ours.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float32, Float64

import experts.runtime.workers.spatial_tracker_v2 as child
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
from experts.tracking.world_tracks import PosedDepth, WorldTracks, displaced, placed, posed_depth

_COMMIT = "16732307966fbc05beb822b70b1c2d77d89810ce"
_CHECKOUT = (
    "git clone https://github.com/henry123-boy/SpaTrackerV2 && git -C SpaTrackerV2 checkout " + _COMMIT
)  # fmt: skip
_PACKAGES = "conda env create -f environment-spatialtracker.yml"


@dataclass(frozen=True, kw_only=True)
class SpatialTrackerSettings:
    """How the network is asked, and what of its answer is believed. Values without a source are ours, unmeasured."""

    geometry: TrackGeometrySettings = field(default_factory=TrackGeometrySettings)
    """How 2-D tracks are held against the camera path."""
    max_frames: int = 60
    """Frames at once, evenly: upstream's users ran out of 40 GB at 150."""
    short_side_px: int = 336
    """Of the network's pictures (upstream's configuration)."""
    starts: int = 4
    """Frames, spread evenly, in which points are taken up."""
    points: int = 200
    """Points in each; halved while memory runs out. What moves is believed in company: six others within 70 px."""
    least_points: int = 20
    """With fewer it is not worth it: then memory is too small."""
    support_points: int = 256
    """Points that upstream adds for its own sake (its default is 756, for refining cameras, which is not done here)."""
    iterations: int = 4
    """Rounds of refinement (upstream)."""
    replace_ratio: float = 0.2
    """Share of depths taken from the map as they are (upstream)."""
    dtype: str = "bfloat16"
    """Of its inner products (upstream)."""
    median_depth: float = 3.0
    """The median of depth as the network gets it: metres in a room. Upstream cuts below 0.1 and beyond ten times the
    lower quartile."""
    least_depth_share: float = 0.2
    """Share of pixels whose depth must be known."""
    least_confidence: float = 0.5
    """A point is followed where visibility times confidence is at least this; raw."""
    start_px: float = 4.0
    """At its own start a track lies at most this far from the point that was asked for (640 px wide picture)."""
    fits_depth: float = 0.15
    """Depth of a track and of the map at its start differ, in the median, by less than this share: else nothing is
    said."""
    sigma_px: float = 1.0
    """σ of a track at least (640 px wide picture); raw."""
    hidden_sigmas: float = 3.0
    """Hidden: something nearer is seen at its pixel by so many σ of depth ..."""
    hidden_share: float = 0.1
    """... and by at least this share."""
    moved_sigmas: float = 3.0
    """Moves in the world: displaced by at least so many σ, and no static point explains its pixels (as for tracks of
    the picture alone, company included). Rests: a static point explains its pixels, and it stays below, where a move
    of `geometry.move_share` of its range would have shown."""
    sure_confidence: float = 0.8
    """Median confidence from which on geometry's own probability of a gross error counts. Below, the raw map
    outlier_probability = 1 - confidence counts where it is larger."""
    timeout_s: float = 900.0
    """Limit of one call."""
    load_timeout_s: float = 900.0
    """Limit of model_options."""


class SpatialTrackerExpert(ModelExpert):
    """Expert "spatial_tracker": tracks in the world from SpatialTracker V2 over our depth and cameras."""

    name: ClassVar[str] = "spatial_tracker"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"tracks"})
    needs: ClassVar[frozenset[str]] = frozenset({"depth", "camera_path"})
    may_use: ClassVar[frozenset[str]] = frozenset({"valid_area"})
    options: ClassVar[frozenset[str]] = frozenset()
    code_licence: ClassVar[str] = "CC-BY-NC-4.0"
    code_commercial_ok: ClassVar[bool] = False

    def __init__(self, settings: SpatialTrackerSettings | None = None) -> None:
        self.settings: SpatialTrackerSettings = settings or SpatialTrackerSettings()
        self.weight_names = ("spatial-tracker-v2-offline",)
        self._loaded_with: dict[str, Any] = {}

    def environment(self) -> Environment:
        """Where it runs. Raises `SetupProblem` with what is still to do."""
        return environment(self.name, packages=_PACKAGES, checkout=_CHECKOUT)

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Starts the other process and loads there. `dtype` is upstream's own."""
        if device.partition(":")[0] not in ("auto", "cuda"):
            raise SetupProblem("SpatialTracker V2 runs on a GPU only", "leave it out, or take tapir")
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
            Path(child.__file__),
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
        """`{"tracks": PointTracks}` on the frames that have depth and a camera. Raises `WorkerError`."""
        depth, path = signals["depth"], signals["camera_path"]
        if not isinstance(depth, Depth):
            return _none("no depth", getattr(depth, "reason", ""))
        if not isinstance(path, CameraPath):
            return _none("no camera path", getattr(path, "reason", ""))
        if path.motion == "unresolved":
            return _none("camera path unresolved", "where the camera travels is not known")
        known = posed_depth(depth, path, clip.frames.tolist())
        count = min(self.settings.max_frames, len(known.frames))
        known = known.of(np.unique(np.round(np.linspace(0, len(known.frames) - 1, count)).astype(np.int64)))
        if len(known.frames) < 2:
            return _none("fewer than two frames with depth and camera")
        asked = self._input(clip, known, signals.get("valid_area"))
        if asked.known_share < self.settings.least_depth_share:
            return _none("too little depth", f"known for {asked.known_share:.0%} of the pixels")
        return {"tracks": self._tracked(clip, asked)}

    def _input(self, clip: Clip, known: PosedDepth, area: Signal | NoEstimate | None) -> TrackerInput:
        valid = area if isinstance(area, ValidArea) else None
        return TrackerInput.of(clip, known, valid, self.settings.short_side_px, self.settings.median_depth)

    def _tracked(self, clip: Clip, asked: TrackerInput) -> PointTracks | NoEstimate:
        points = self.settings.points
        while True:
            queries = asked.queries(FollowSettings(points=points, starts=self.settings.starts))
            if not len(queries):
                return NoEstimate(reason="no texture to follow", detail="no point with texture and depth to start from")
            try:
                return self._decided(clip, asked, queries, self._asked(asked, queries))
            except OutOfMemoryError as error:
                points //= 2
                if points < self.settings.least_points:
                    remedy = "free the GPU, or leave this expert out"
                    raise SetupProblem(f"{self.name}: memory does not hold {2 * points} points", remedy) from error

    def _asked(self, asked: TrackerInput, queries: Float32[np.ndarray, "m 3"]) -> Mapping[str, np.ndarray]:
        s = self.settings
        request = {"dtype": s.dtype, "iterations": s.iterations, "replace_ratio": s.replace_ratio}
        return self.model.call({**self._loaded_with, **request}, asked.arrays(queries))[1]

    def _decided(
        self, clip: Clip, asked: TrackerInput, queries: Float32[np.ndarray, "m 3"], answer: Mapping[str, np.ndarray]
    ) -> PointTracks | NoEstimate:
        s, scale = self.settings, clip.width_px / REFERENCE_WIDTH_PX
        xy, z, sure = asked.decoded(answer, queries, s.least_confidence, s.start_px * scale)
        world = placed(xy, z, asked.known, s.sigma_px * scale)
        off = _off_at_start(world, queries)
        if not off < s.fits_depth:
            return NoEstimate(reason="3-D tracks do not fit the depth", detail=f"off by {off:.0%} at their starts")
        flat = ImageTracks(frames=asked.known.frames, xy_px=xy.astype(np.float32), provenance=self.provenance())
        signals: Signals = {"image_tracks": flat, "camera_path": asked.known.path}
        seen = TrackGeometryExpert(s.geometry)(clip, signals)["tracks"]
        assert isinstance(seen, PointTracks)
        return self._joined(seen, world, sure, scale)

    def _joined(
        self, seen: PointTracks, world: WorldTracks, sure: Float64[np.ndarray, "t"], scale: float
    ) -> PointTracks:
        """What the picture says of a track and what its depth says: only what both allow."""
        s = self.settings
        afloat = world.afloat(s.hidden_sigmas, s.hidden_share)
        fits = ~world.hidden(s.hidden_sigmas, s.hidden_share) & ~afloat
        followed = np.isfinite(world.z)
        moved = displaced(world, followed & fits, s.geometry.static_frames)
        explained = seen.visible.any(axis=1)  # of what does not move: only where a static point explains the track
        explained &= afloat.sum(axis=1) <= (1 - s.geometry.static_share) * followed.sum(axis=1)
        with np.errstate(invalid="ignore"):
            shown = s.moved_sigmas * moved.blind <= s.geometry.move_share * moved.away
            moves = (seen.motion == 1) & (moved.in_sigma >= s.moved_sigmas)
            rests = (seen.motion != 1) & explained & shown & (moved.in_sigma < s.moved_sigmas)
        doubtful = np.maximum(seen.outlier_probability, 1 - sure)
        return replace(
            seen,
            visible=seen.visible & fits & followed,
            sigma_px=np.where(followed, np.fmax(seen.sigma_px, s.sigma_px * scale), np.nan),
            outlier_probability=np.where(
                (sure >= s.sure_confidence) & (moves | rests), seen.outlier_probability, doubtful
            ),
            motion=np.where(moves, 1, np.where(rests, 0, -1)).astype(np.int32),
            xyz_world=world.xyz_world.astype(np.float32),
            provenance=self.provenance(),
        )


def _off_at_start(world: WorldTracks, queries: Float32[np.ndarray, "m 3"]) -> float:
    """Median relative difference of the tracks' depth and the map's at their starts; infinite if none is followed."""
    row, start = np.arange(len(queries)), queries[:, 0].astype(np.int64)
    off = np.abs(world.z[row, start] / world.z_seen[row, start] - 1)
    return float(np.nanmedian(off)) if np.isfinite(off).any() else np.inf


def _one_device(device: str) -> dict[str, str]:
    """Upstream takes the first GPU that it sees: it is shown the wanted one."""
    number = device.partition(":")[2]
    if not number:
        return {}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else []
    return {"CUDA_VISIBLE_DEVICES": names[int(number)] if int(number) < len(names) else number}


def _none(reason: str, detail: str = "") -> Mapping[str, Signal | NoEstimate]:
    return {"tracks": NoEstimate(reason=reason, detail=detail)}
