"""Matches of static points from geometry: a pixel is reprojected by its depth, and checked against the other frame.

No image content is compared. The depth of the other frame must lead back to the pixel, and an independent estimate must
agree: a track through both pixels, or the depth of a third frame. Depth and poses of one model share their errors, so σ
includes the uncertainty of the poses. Where tracks exist, the poses are first fitted to them, and the tracks' own
pixels are used.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from experts.clip import Clip
from experts.comparing.agreement_depth import TrackLimits, tracks_contradict
from experts.depth.depth_reprojection import Reprojection, pixel_grid
from experts.expert import WeightFreeExpert
from experts.matching.frame_pairs import REFERENCE_WIDTH_PX, choose_pairs, evenly_spaced
from experts.matching.reprojected_pixels import (
    DepthOnPath,
    TrackEnds,
    followed_pixels,
    inside,
    near_depth_border,
    near_moving_tracks,
    on_moving_object,
    shows_scene,
    track_ends,
)
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, Matches, NoEstimate, Objects, PointTracks, Signal, Signals, ValidArea
from experts.tracking.path_on_tracks import FitSettings, path_by_tracks

_FORWARD_BACKWARD = 4


@dataclass(frozen=True, kw_only=True)
class ReprojectionSettings:
    """Thresholds; "px" refer to a picture of 640 px width. Values without a source are chosen."""

    frames: int = 12
    """Number of frames between which matches are made."""
    pairs: int = 20
    """Number of pairs of frames (as in `SiftSettings`)."""
    min_shift: float = 0.04
    """Smallest median displacement between the frames of a pair, as a share of the width ..."""
    max_shift: float = 0.4
    """... and the largest one (as in `SiftSettings`)."""
    grid: int = 24
    """Grid cells per side; one random pixel per cell is reprojected, ..."""
    tracks: int = 300
    """... and at most this many pixels of tracks, which an independent estimate can confirm."""
    matches: int = 30
    """Smallest number of matches of a pair."""
    overlap_share: float = 0.2
    """Smallest share of a coarse pixel grid that is visible in both frames of a pair."""
    edge_share: float = 0.03
    """Pixels closer to the edge of either frame than this share of its size are not used."""
    sigmas: float = 3.0
    """Depths agree if they differ by less than this many σ, ..."""
    depth_share: float = 0.10
    """... and by at most this share, ..."""
    min_depth_share: float = 0.01
    """... and always if they differ by less than this share: depth maps are interpolated."""
    back_px: float = 1.0
    """Largest forward-backward error."""
    border_px: float = 12.0
    """A pixel is near a depth border if depth at this distance, in any of eight directions, ..."""
    border_ratio: float = 1.25
    """... differs by more than this factor (as in `SiftSettings`), or is unknown in more than two of them."""
    moving_px: float = 48.0
    """Pixels this close to a moving track may move with it (as in `templates.scene`)."""
    track_px: float = 1.5
    """A track within this distance is compared with a pixel."""
    min_tracks: int = 40
    """With at least this many tracks in both frames, ..."""
    contradicted_share: float = 0.2
    """... the pair is dropped if more than this share of them contradicts depth and poses."""
    outlier_probability_confirmed: float = 0.003
    """Outlier probability where a track through both pixels agrees with depth and poses."""
    outlier_probability_third: float = 0.005
    """... where the depth of a third frame agrees: another position, but the same model."""
    outlier_probability_unconfirmed: float = 0.05
    """... and for all other matches."""
    min_sigma_px: float = 0.3
    """Floor of σ: depth maps are interpolated."""
    fit: FitSettings = field(default_factory=FitSettings)
    """How poses are fitted to tracks."""


@dataclass(frozen=True, kw_only=True)
class _Scene:
    """Inputs of a call."""

    clip: Clip
    posed: DepthOnPath
    tracks: PointTracks | None
    objects: Objects | None
    area: ValidArea | None

    @property
    def scale(self) -> float:
        """Full-size pixels per pixel of a 640 px wide picture."""
        return self.clip.width_px / REFERENCE_WIDTH_PX


@dataclass(frozen=True, kw_only=True)
class _Pair:
    a: int
    b: int
    xy_a_px: Float64[np.ndarray, "m 2"]
    xy_b_px: Float64[np.ndarray, "m 2"]
    sigma_px: Float64[np.ndarray, "m"]
    outlier_probability: Float64[np.ndarray, "m"]


class ReprojectionExpert(WeightFreeExpert):
    """Expert "reprojection": provides "matches" of static points."""

    name: ClassVar[str] = "reprojection"
    version: ClassVar[str] = "5"
    provides: ClassVar[frozenset[str]] = frozenset({"matches"})
    needs: ClassVar[frozenset[str]] = frozenset({"depth", "camera_path"})
    may_use: ClassVar[frozenset[str]] = frozenset({"tracks", "valid_area", "objects"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px"})
    joins: ClassVar[bool] = True

    def __init__(self, settings: ReprojectionSettings | None = None) -> None:
        self.settings = settings or ReprojectionSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"matches": Matches}`, confirmed by 4 or 0; `NoEstimate` without depth in the unit of a known path."""
        depth, path = signals["depth"], signals["camera_path"]
        if not isinstance(depth, Depth):
            return {"matches": NoEstimate(reason="no depth", detail=getattr(depth, "reason", ""))}
        if not isinstance(path, CameraPath):
            return {"matches": NoEstimate(reason="no camera path", detail=getattr(path, "reason", ""))}
        if path.motion not in ("general", "rotation_only"):
            reason = "camera does not move" if path.motion == "static" else "translation of the camera is not known"
            return {"matches": NoEstimate(reason=reason)}
        if depth.scale.kind == "per_frame":
            return {"matches": NoEstimate(reason="every frame's depth has its own scale")}
        scene = self._scene(clip, signals, depth, path)
        if scene is None:
            return {"matches": NoEstimate(reason="tracks contradict depth and camera path")}
        frames = self._frames(scene.posed)
        chosen = self._choose_pairs(scene, frames)
        if not chosen:
            return {"matches": NoEstimate(reason="no two frames overlap with enough displacement")}
        xy_a = {a: self._pixels(scene, a) for a in sorted({a for a, _ in chosen})}
        found = [pair for a, b in chosen if (pair := self._match(scene, a, b, xy_a[a], frames)) is not None]
        if not found:
            return {"matches": NoEstimate(reason="depth, camera path and tracks contradict each other")}
        return {"matches": self._joined(found)}

    def _scene(self, clip: Clip, signals: Signals, depth: Depth, path: CameraPath) -> _Scene | None:
        """Fits learned poses to the tracks. None where tracks contradict these poses or the depth, with the limits of
        `cross_check`. Measured poses are not fitted: they are more accurate than tracks."""
        tracks, objects, area = (signals.get(name) for name in ("tracks", "objects", "valid_area"))
        tracks = tracks if isinstance(tracks, PointTracks) and len(tracks.xy_px) else None
        fitted = None
        if tracks is not None and depth.outlier_probability:
            fitted = path_by_tracks(tracks, path, self.settings.fit)
            if tracks_contradict(depth, path, tracks, fitted, TrackLimits()):
                return None
        pose_sigma_px = None if fitted is None else fitted.residual_px * clip.width_px / REFERENCE_WIDTH_PX
        return _Scene(
            clip=clip,
            posed=DepthOnPath(depth=depth, path=path if fitted is None else fitted.path, pose_sigma_px=pose_sigma_px),
            tracks=tracks,
            objects=objects if isinstance(objects, Objects) else None,
            area=area if isinstance(area, ValidArea) else None,
        )

    def _frames(self, posed: DepthOnPath) -> list[int]:
        """Frames that have depth and a pose, evenly spaced."""
        path, depth = posed.path, posed.depth
        columns = 3 if path.motion == "rotation_only" else 4
        placed = path.registered & np.isfinite(path.world_from_cam[:, :3, :columns]).all(axis=(1, 2))
        both = np.intersect1d(depth.frames[np.isfinite(depth.z).any(axis=(1, 2))], path.frames[placed])
        return evenly_spaced(both, self.settings.frames)

    def _choose_pairs(self, scene: _Scene, frames: list[int]) -> list[tuple[int, int]]:
        s, grid = self.settings, pixel_grid(12, 12, scene.posed.path.intrinsics)

        def shift(a: int, b: int) -> float | None:
            seen = scene.posed.round_trip(a, b, grid)
            overlap = np.isfinite(seen.back_px)
            if overlap.mean() < s.overlap_share:
                return None
            return float(np.median(np.linalg.norm(seen.xy_b_px - grid, axis=1)[overlap])) / scene.clip.width_px

        return choose_pairs(frames, shift, s.pairs, (s.min_shift, s.max_shift))

    def _pixels(self, scene: _Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
        """Pixels of tracks and of a jittered grid, in the valid area and away from edges and depth borders."""
        s, clip, rng = self.settings, scene.clip, np.random.default_rng(frame)
        cell = np.stack(np.meshgrid(np.arange(s.grid), np.arange(s.grid)), axis=-1).reshape(-1, 2)
        xy = (cell + rng.random(cell.shape)) / s.grid * [clip.width_px, clip.height_px]
        if scene.tracks is not None:
            xy = np.concatenate([rng.permutation(followed_pixels(scene.tracks, frame))[: s.tracks], xy])
        xy = xy[inside(clip, xy, s.edge_share)]
        xy = xy[~self._near_border(scene, frame, xy)]
        return xy if scene.area is None else xy[shows_scene(scene.area, clip, xy)]

    def _match(self, scene: _Scene, a: int, b: int, xy: Float64[np.ndarray, "k 2"], frames: list[int]) -> _Pair | None:
        """Pixels that are visible in both frames, with σ and outlier probability. None: too few, or tracks contradict
        them."""
        s, posed = self.settings, scene.posed
        seen = posed.round_trip(a, b, xy)
        kept = self._agrees(scene, a, b, xy, seen) & inside(scene.clip, seen.xy_b_px, s.edge_share)
        kept[kept] &= ~self._near_border(scene, b, seen.xy_b_px[kept])
        xy_a, xy_b = xy[kept], seen.xy_b_px[kept]
        if len(xy_a) < s.matches:
            return None
        sigma, ends = posed.sigma_px(a, b, xy_a, xy_b), self._ends(scene, a, b, xy_a)
        error = np.linalg.norm(ends.xy_px - xy_b, axis=1)
        limit = s.sigmas * np.hypot(sigma, ends.sigma_px)
        with np.errstate(invalid="ignore"):
            agrees, contradicted = error <= limit, error > limit
        decided = agrees.sum() + contradicted.sum()
        if decided >= s.min_tracks and contradicted.sum() > s.contradicted_share * decided:
            return None
        fallback = np.where(
            self._confirmed_by_third_frame(scene, a, b, xy_a, frames),
            s.outlier_probability_third,
            s.outlier_probability_unconfirmed,
        )
        suspect = contradicted | self._may_move(scene, a, xy_a) | self._may_move(scene, b, xy_b)
        outlier_probability = np.where(agrees, s.outlier_probability_confirmed, fallback)
        by_track = agrees & (ends.sigma_px < sigma)
        return _Pair(
            a=a,
            b=b,
            xy_a_px=xy_a,
            xy_b_px=np.where(by_track[:, None], ends.xy_px, xy_b),
            sigma_px=np.maximum(np.where(by_track, ends.sigma_px, sigma), s.min_sigma_px * scene.scale),
            outlier_probability=np.where(suspect, s.outlier_probability_unconfirmed, outlier_probability),
        )

    def _agrees(
        self, scene: _Scene, a: int, b: int, xy: Float64[np.ndarray, "k 2"], seen: Reprojection
    ) -> Bool[np.ndarray, "k"]:
        """Whether both depths agree within σ, and the loop ends at the pixel."""
        s, posed = self.settings, scene.posed
        joint = np.hypot(posed.relative_sigma(a, xy), posed.relative_sigma(b, seen.xy_b_px))
        limit = np.clip(s.sigmas * joint, s.min_depth_share, s.depth_share)
        with np.errstate(invalid="ignore"):
            close = np.abs(seen.z_seen / seen.z_expected - 1) <= limit
            return np.asarray(close & (seen.back_px <= s.back_px * scene.scale))

    def _confirmed_by_third_frame(
        self, scene: _Scene, a: int, b: int, xy: Float64[np.ndarray, "k 2"], frames: list[int]
    ) -> Bool[np.ndarray, "k"]:
        """Whether the depth of a third frame agrees, and none sees a surface farther away."""
        agrees, through = np.zeros(len(xy), dtype=bool), np.zeros(len(xy), dtype=bool)
        for c in frames:
            if c not in (a, b):
                seen = scene.posed.round_trip(a, c, xy)
                agrees |= self._agrees(scene, a, c, xy, seen)
                through |= seen.contradicted(self.settings.depth_share)
        return agrees & ~through

    def _ends(self, scene: _Scene, a: int, b: int, xy_a: Float64[np.ndarray, "k 2"]) -> TrackEnds:
        if scene.tracks is None:
            return TrackEnds(xy_px=np.full_like(xy_a, np.nan), sigma_px=np.full(len(xy_a), np.nan))
        return track_ends(scene.tracks, a, b, xy_a, self.settings.track_px * scene.scale)

    def _near_border(self, scene: _Scene, frame: int, xy: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
        z, camera = scene.posed.depth.z[scene.posed.row(frame)], scene.posed.path.intrinsics
        return near_depth_border(z, camera, xy, self.settings.border_px * scene.scale, self.settings.border_ratio)

    def _may_move(self, scene: _Scene, frame: int, xy: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
        near = np.zeros(len(xy), dtype=bool)
        if scene.tracks is not None:
            near |= near_moving_tracks(scene.tracks, frame, xy, self.settings.moving_px * scene.scale)
        if scene.objects is not None:
            near |= on_moving_object(scene.objects, scene.clip, frame, xy)
        return near

    def _joined(self, found: list[_Pair]) -> Matches:
        outlier_probability = np.concatenate([pair.outlier_probability for pair in found])
        sure = outlier_probability < self.settings.outlier_probability_unconfirmed
        return Matches(
            pairs=np.array([(pair.a, pair.b) for pair in found], dtype=np.int64),
            pair=np.repeat(np.arange(len(found)), [len(pair.outlier_probability) for pair in found]).astype(np.int64),
            xy_a_px=np.concatenate([pair.xy_a_px for pair in found]),
            xy_b_px=np.concatenate([pair.xy_b_px for pair in found]),
            sigma_px=np.concatenate([pair.sigma_px for pair in found]),
            outlier_probability=outlier_probability,
            confirmed_by=np.where(sure, _FORWARD_BACKWARD, 0).astype(np.int32),
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
        )
