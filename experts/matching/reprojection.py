"""Static matches from geometry: a pixel's depth carried into another frame, and held against what is seen there.

No pixel is read. That a place looks the same is not asked; that it is where depth and camera say, is: the other frame's
depth leads back to the pixel, and a second way agrees, a track through both ends or the depth of a third frame. Depth
and poses of one model share their errors, so σ keeps what poses may be off; where tracks are at hand the poses are
first fitted to them, and the tracks' own pixels count.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from experts.clip import Clip
from experts.comparing.agreement_depth import TrackLimits, compare_depth_with_tracks, contradicts, enough_tracks
from experts.depth.carried_depth import CarriedDepth
from experts.depth.depth_reprojection import SeenAgain, pixel_grid
from experts.expert import WeightFreeExpert
from experts.matching.resting_pixels import (
    Ends,
    followed_pixels,
    inside,
    near_depth_border,
    near_movers,
    on_moving_object,
    shows_scene,
    track_ends,
)
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, Matches, NoEstimate, Objects, PointTracks, Signal, Signals, ValidArea
from experts.tracking.path_on_tracks import FitSettings, FittedPath, path_by_tracks

_REFERENCE_WIDTH_PX = 640.0
_THERE_AND_BACK = 4


@dataclass(frozen=True, kw_only=True)
class ReprojectionSettings:
    """Thresholds; "px" are those of a 640 px wide picture. Values without a source are ours."""

    frames: int = 12
    """Frames between which matches are made."""
    pairs: int = 20
    """Pairs of frames (as SIFT's)."""
    least_shift: float = 0.04
    """Frames of a pair differ by at least this median displacement, as a share of the width ..."""
    largest_shift: float = 0.4
    """... and by at most this (as SIFT's)."""
    grid: int = 24
    """Pixels a side that are carried over, each at random within its cell; ..."""
    tracks: int = 300
    """... and at most so many pixels of tracks, which a second way can confirm."""
    matches: int = 30
    """Fewest of a pair."""
    overlap_share: float = 0.2
    """Of a coarse grid of pixels, at least this share is seen in both frames of a pair."""
    edge_share: float = 0.03
    """Nearer to the edge of either frame than this share of its size nothing is asked."""
    sigmas: float = 3.0
    """Depths agree within this many σ ..."""
    depth_share: float = 0.10
    """... and by at most this share, whatever σ says, ..."""
    least_depth_share: float = 0.01
    """... and always within this: maps are read between their pixels."""
    back_px: float = 1.0
    """Largest distance after the way there and back."""
    border_px: float = 12.0
    """A depth border is near where depth so far away, in any of eight directions, ..."""
    border_ratio: float = 1.25
    """... differs by more than this factor (SIFT's), or is not known in more than two of them."""
    mover_px: float = 48.0
    """What lies so near to a moving track may move with it (as in `templates.scene`)."""
    track_px: float = 1.5
    """A track speaks for a pixel within this."""
    least_tracks: int = 40
    """With so many tracks in both frames they have a say in the pair: ..."""
    contradicted_share: float = 0.2
    """... if more than this share of them ends elsewhere than depth and camera say, the pair is dropped."""
    outlier_probability_confirmed: float = 0.003
    """Probability of a gross error where a track through both ends agrees with depth and camera (DESIGN §6)."""
    outlier_probability_third: float = 0.005
    """... where it is a third frame's depth that agrees: another place, but the same model."""
    outlier_probability_unconfirmed: float = 0.05
    """... and where nothing does."""
    least_sigma_px: float = 0.3
    """Floor of σ: depth maps are read between their pixels."""
    fit: FitSettings = field(default_factory=FitSettings)
    """How poses are fitted to tracks."""


@dataclass(frozen=True, kw_only=True)
class _Scene:
    """What a call rests on."""

    clip: Clip
    carried: CarriedDepth
    tracks: PointTracks | None
    objects: Objects | None
    area: ValidArea | None

    @property
    def scale(self) -> float:
        """Full-size pixels in one of a 640 px wide picture."""
        return self.clip.width_px / _REFERENCE_WIDTH_PX


@dataclass(frozen=True, kw_only=True)
class _Pair:
    a: int
    b: int
    xy_a_px: Float64[np.ndarray, "m 2"]
    xy_b_px: Float64[np.ndarray, "m 2"]
    sigma_px: Float64[np.ndarray, "m"]
    outlier_probability: Float64[np.ndarray, "m"]


class ReprojectionExpert(WeightFreeExpert):
    """Expert "reprojection": provides "matches" of what stands still."""

    name: ClassVar[str] = "reprojection"
    version: ClassVar[str] = "2"
    provides: ClassVar[frozenset[str]] = frozenset({"matches"})
    needs: ClassVar[frozenset[str]] = frozenset({"depth", "camera_path"})
    may_use: ClassVar[frozenset[str]] = frozenset({"tracks", "valid_area", "objects"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px"})
    joins: ClassVar[bool] = True

    def __init__(self, settings: ReprojectionSettings | None = None) -> None:
        self.settings = settings or ReprojectionSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"matches": Matches}`, confirmed by 4 or 0; abstains without depth in the unit of a known path."""
        depth, path = signals["depth"], signals["camera_path"]
        if not isinstance(depth, Depth):
            return {"matches": NoEstimate(reason="no depth", detail=getattr(depth, "reason", ""))}
        if not isinstance(path, CameraPath):
            return {"matches": NoEstimate(reason="no camera path", detail=getattr(path, "reason", ""))}
        if path.motion not in ("general", "rotation_only"):
            reason = "camera does not move" if path.motion == "static" else "whether the camera travels is not known"
            return {"matches": NoEstimate(reason=reason)}
        if depth.scale.kind == "per_frame":
            return {"matches": NoEstimate(reason="every frame's depth has its own scale")}
        scene = self._scene(clip, signals, depth, path)
        if scene is None:
            return {"matches": NoEstimate(reason="tracks contradict depth and camera path")}
        frames = self._frames(scene.carried)
        chosen = self._choose_pairs(scene, frames)
        if not chosen:
            return {"matches": NoEstimate(reason="no two frames differ enough and still overlap")}
        xy_a = {a: self._pixels(scene, a) for a in sorted({a for a, _ in chosen})}
        found = [pair for a, b in chosen if (pair := self._match(scene, a, b, xy_a[a], frames)) is not None]
        if not found:
            return {"matches": NoEstimate(reason="depth, camera path and tracks contradict each other")}
        return {"matches": self._joined(found)}

    def _scene(self, clip: Clip, signals: Signals, depth: Depth, path: CameraPath) -> _Scene | None:
        """Learned poses are fitted to the tracks (None where these contradict them, or the depth); measured ones are
        better than any track."""
        tracks, objects, area = (signals.get(name) for name in ("tracks", "objects", "valid_area"))
        tracks = tracks if isinstance(tracks, PointTracks) and len(tracks.xy_px) else None
        fitted = (
            path_by_tracks(tracks, path, self.settings.fit)
            if tracks is not None and depth.outlier_probability
            else None
        )
        if tracks is not None and depth.outlier_probability and _contradicted(depth, path, tracks, fitted):
            return None
        off_px = None if fitted is None else fitted.residual_px * clip.width_px / _REFERENCE_WIDTH_PX
        return _Scene(
            clip=clip,
            carried=CarriedDepth(depth=depth, path=path if fitted is None else fitted.path, pose_sigma_px=off_px),
            tracks=tracks,
            objects=objects if isinstance(objects, Objects) else None,
            area=area if isinstance(area, ValidArea) else None,
        )

    def _frames(self, carried: CarriedDepth) -> list[int]:
        """Frames that have a depth and a pose, spread evenly."""
        path, depth = carried.path, carried.depth
        columns = 3 if path.motion == "rotation_only" else 4
        placed = path.registered & np.isfinite(path.world_from_cam[:, :3, :columns]).all(axis=(1, 2))
        both = np.intersect1d(depth.frames[np.isfinite(depth.z).any(axis=(1, 2))], path.frames[placed])
        at = np.linspace(0, max(len(both) - 1, 0), min(self.settings.frames, len(both))).round()
        return [int(f) for f in both[np.unique(at.astype(int))]]

    def _choose_pairs(self, scene: _Scene, frames: list[int]) -> list[tuple[int, int]]:
        """Pairs that overlap, evenly over small and large displacements."""
        s, grid, shifts = self.settings, pixel_grid(12, 12, scene.carried.path.intrinsics), {}
        for i, a in enumerate(frames):
            for b in frames[i + 1 :]:
                seen = scene.carried.seen(a, b, grid)
                again = np.isfinite(seen.back_px)
                if again.mean() >= s.overlap_share:
                    shift = float(np.median(np.linalg.norm(seen.xy_b_px - grid, axis=1)[again])) / scene.clip.width_px
                    if s.least_shift <= shift <= s.largest_shift:
                        shifts[a, b] = shift
        ordered = sorted(shifts, key=lambda pair: (shifts[pair], pair))
        at = np.linspace(0, len(ordered) - 1, min(s.pairs, len(ordered)))
        return sorted(ordered[k] for k in np.unique(np.round(at).astype(int)))

    def _pixels(self, scene: _Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
        """Pixels of tracks, and of a jittered grid; away from edges and depth borders, where the scene is seen."""
        s, clip, rng = self.settings, scene.clip, np.random.default_rng(frame)
        cell = np.stack(np.meshgrid(np.arange(s.grid), np.arange(s.grid)), axis=-1).reshape(-1, 2)
        xy = (cell + rng.random(cell.shape)) / s.grid * [clip.width_px, clip.height_px]
        if scene.tracks is not None:
            xy = np.concatenate([rng.permutation(followed_pixels(scene.tracks, frame))[: s.tracks], xy])
        xy = xy[inside(clip, xy, s.edge_share)]
        xy = xy[~self._near_border(scene, frame, xy)]
        return xy if scene.area is None else xy[shows_scene(scene.area, clip, xy)]

    def _match(self, scene: _Scene, a: int, b: int, xy: Float64[np.ndarray, "k 2"], frames: list[int]) -> _Pair | None:
        """Pixels that are seen again, and how sure that is; None where too few are, or tracks say otherwise."""
        s, carried = self.settings, scene.carried
        seen = carried.seen(a, b, xy)
        kept = self._agrees(scene, a, b, xy, seen) & inside(scene.clip, seen.xy_b_px, s.edge_share)
        kept[kept] &= ~self._near_border(scene, b, seen.xy_b_px[kept])
        xy_a, xy_b = xy[kept], seen.xy_b_px[kept]
        if len(xy_a) < s.matches:
            return None
        sigma, ends = carried.sigma_px(a, b, xy_a, xy_b), self._ends(scene, a, b, xy_a)
        apart = np.linalg.norm(ends.xy_px - xy_b, axis=1)
        limit = s.sigmas * np.hypot(sigma, ends.sigma_px)
        with np.errstate(invalid="ignore"):
            agrees, contradicted = apart <= limit, apart > limit
        told = agrees.sum() + contradicted.sum()
        if told >= s.least_tracks and contradicted.sum() > s.contradicted_share * told:
            return None
        third = np.where(
            self._third(scene, a, b, xy_a, frames), s.outlier_probability_third, s.outlier_probability_unconfirmed
        )
        doubted = contradicted | self._may_move(scene, a, xy_a) | self._may_move(scene, b, xy_b)
        outlier_probability = np.where(agrees, s.outlier_probability_confirmed, third)
        by_track = agrees & (ends.sigma_px < sigma)
        return _Pair(
            a=a,
            b=b,
            xy_a_px=xy_a,
            xy_b_px=np.where(by_track[:, None], ends.xy_px, xy_b),
            sigma_px=np.maximum(np.where(by_track, ends.sigma_px, sigma), s.least_sigma_px * scene.scale),
            outlier_probability=np.where(doubted, s.outlier_probability_unconfirmed, outlier_probability),
        )

    def _agrees(
        self, scene: _Scene, a: int, b: int, xy: Float64[np.ndarray, "k 2"], seen: SeenAgain
    ) -> Bool[np.ndarray, "k"]:
        """Both depths are one within σ, and the way back ends at the pixel."""
        s, carried = self.settings, scene.carried
        joint = np.hypot(carried.relative_sigma(a, xy), carried.relative_sigma(b, seen.xy_b_px))
        limit = np.clip(s.sigmas * joint, s.least_depth_share, s.depth_share)
        with np.errstate(invalid="ignore"):
            close = np.abs(seen.z_seen / seen.z_expected - 1) <= limit
            return np.asarray(close & (seen.back_px <= s.back_px * scene.scale))

    def _third(
        self, scene: _Scene, a: int, b: int, xy: Float64[np.ndarray, "k 2"], frames: list[int]
    ) -> Bool[np.ndarray, "k"]:
        """Whether a third frame's depth agrees too, and none sees through the place."""
        agrees, through = np.zeros(len(xy), dtype=bool), np.zeros(len(xy), dtype=bool)
        for c in frames:
            if c not in (a, b):
                seen = scene.carried.seen(a, c, xy)
                agrees |= self._agrees(scene, a, c, xy, seen)
                through |= seen.contradicted(self.settings.depth_share)
        return agrees & ~through

    def _ends(self, scene: _Scene, a: int, b: int, xy_a: Float64[np.ndarray, "k 2"]) -> Ends:
        if scene.tracks is None:
            return Ends(xy_px=np.full_like(xy_a, np.nan), sigma_px=np.full(len(xy_a), np.nan))
        return track_ends(scene.tracks, a, b, xy_a, self.settings.track_px * scene.scale)

    def _near_border(self, scene: _Scene, frame: int, xy: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
        z, camera = scene.carried.depth.z[scene.carried.row(frame)], scene.carried.path.intrinsics
        return near_depth_border(z, camera, xy, self.settings.border_px * scene.scale, self.settings.border_ratio)

    def _may_move(self, scene: _Scene, frame: int, xy: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
        near = np.zeros(len(xy), dtype=bool)
        if scene.tracks is not None:
            near |= near_movers(scene.tracks, frame, xy, self.settings.mover_px * scene.scale)
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
            confirmed_by=np.where(sure, _THERE_AND_BACK, 0).astype(np.int32),
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
        )


def _contradicted(depth: Depth, path: CameraPath, tracks: PointTracks, fitted: FittedPath | None) -> bool:
    """What many tracks say of learned depth and poses, as `cross_check` asks them."""
    limits = TrackLimits()
    if not enough_tracks(tracks, limits):
        return False
    if fitted is None:
        return True
    held = compare_depth_with_tracks(depth, tracks, fitted, limits) if path.motion == "general" else None
    return held is not None and contradicts(held, limits)
