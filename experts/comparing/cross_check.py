"""Holds independent estimates of one clip against each other: disagreement becomes σ, or a reason to ask nothing."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, TypeVar

import numpy as np

from experts.clip import Clip
from experts.comparing.agreement_depth import DepthLimits, DepthsApart, depth_and_points, depths_apart
from experts.comparing.agreement_paths import PathLimits, PathsApart, median_range, paths_apart, scale_between
from experts.comparing.agreement_tracks import TrackLimits, contradicts, depth_and_tracks, enough_tracks
from experts.comparing.agreement_up import UpLimits, floor_tilt, up_in_world, ups_apart
from experts.provenance import Provenance
from experts.signals import (
    CHECKED,
    Agreement,
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    NoEstimate,
    PointTracks,
    Signal,
    Signals,
    SparsePoints,
)
from experts.tracking.path_on_tracks import FitSettings, FittedPath, path_by_tracks

Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class CrossCheckSettings:
    """When a disagreement is a contradiction, signal by signal."""

    paths: PathLimits = field(default_factory=PathLimits)
    depths: DepthLimits = field(default_factory=DepthLimits)
    tracks: TrackLimits = field(default_factory=TrackLimits)
    fit: FitSettings = field(default_factory=FitSettings)
    """How a path is fitted to tracks before they are compared."""
    fitted: PathLimits = field(
        default_factory=lambda: PathLimits(turn_rad=np.deg2rad(3.0), direction_rad=np.deg2rad(7.0), position_share=0.05)
    )
    """Between a path and the same fitted to tracks. Closer than between experts: on rendered rooms honest noise left
    directions 4° apart at most, a path bent by 20° or seen through a focal length 1.4 times too long 9°."""
    ups: UpLimits = field(default_factory=UpLimits)
    focal: float = 0.25
    """Largest |ln| of the ratio of two focal lengths: as between two maps of COLMAP (`FocalSettings`)."""


@dataclass(kw_only=True)
class _Findings:
    """What is found, comparison by comparison."""

    compared: list[str] = field(default_factory=list)
    spread: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def held(self, what: str, *makers: Provenance) -> None:
        """Two estimates were compared."""
        self.compared.append(f"{what}: {', '.join(maker.expert for maker in makers)}")

    def add(self, quantity: str, apart: float, *sigmas: float) -> None:
        """What the estimates' own σ do not explain of a difference is σ to add; the largest of several counts."""
        unexplained = np.sqrt(max(apart**2 - sum(sigma**2 for sigma in sigmas), 0.0)) if np.isfinite(apart) else 0.0
        self.spread[quantity] = max(self.spread.get(quantity, 0.0), float(unexplained))

    def refuse(self, reason: str, *signals: str) -> None:
        """Nothing may rest on these."""
        for name in signals:
            self.refused.setdefault(name, reason)


class CrossCheckExpert:
    """Expert "cross_check": provides "agreement" where there is anything to compare."""

    name: ClassVar[str] = "cross_check"
    version: ClassVar[str] = "2"
    provides: ClassVar[frozenset[str]] = frozenset({"agreement"})
    needs: ClassVar[frozenset[str]] = frozenset()
    may_use: ClassVar[frozenset[str]] = frozenset(
        {*CHECKED, *(f"{name}_check" for name in CHECKED), "calibration", "tracks"}
    )
    options: ClassVar[frozenset[str]] = frozenset()
    joins: ClassVar[bool] = True
    compares: ClassVar[tuple[frozenset[str], ...]] = (
        frozenset({"camera_path", "calibration", "tracks"}),
        frozenset({"camera_path", "tracks", "depth"}),
        frozenset({"gravity", "camera_path", "depth"}),
    )
    """Signals that say something of each other without a second expert for any of them: focal length; tracks;
    the floor."""

    def __init__(self, settings: CrossCheckSettings | None = None) -> None:
        self.settings = settings or CrossCheckSettings()

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"agreement": Agreement}`; abstains where no quantity has two estimates."""
        found = _Findings()
        self._compare_paths(signals, found)
        self._compare_focal(signals, found)
        self._compare_tracks(signals, found)
        self._compare_depth(signals, found)
        self._compare_up(signals, found)
        if not found.compared:
            return {"agreement": NoEstimate(reason="nothing to compare")}
        agreement = Agreement(
            compared=tuple(found.compared),
            spread=found.spread,
            refused=found.refused,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
        )
        return {"agreement": agreement}

    def _compare_paths(self, signals: Signals, found: _Findings) -> None:
        path, check = _two(signals, "camera_path", CameraPath)
        if path is None or check is None:
            return
        scene = median_range(path, _one(signals, "depth", Depth), _one(signals, "sparse_points", SparsePoints))
        apart = paths_apart(path, check, scene, self.settings.paths)
        if apart is None:
            return
        found.held("camera_path", path.provenance, check.provenance)
        self._judge_paths(apart, path, check, scene, found)

    def _judge_paths(
        self, apart: PathsApart, path: CameraPath, other: CameraPath | None, scene: float, found: _Findings
    ) -> None:
        """`other` brings its own σ; None: it has none worth naming."""
        if apart.contradiction:
            found.refuse(apart.contradiction, "camera_path")
        paths = [path] if other is None else [path, other]
        units = [1.0] if other is None else [1.0, float(np.nan_to_num(scale_between(path, other)))]
        found.add("rotation_rad", apart.turn_rad, *(_typical(p.rotation_sigma_rad) for p in paths))
        found.add("direction_rad", apart.direction_rad, *(p.direction_sigma_rad for p in paths))
        formal = [unit * _typical(p.position_sigma) / scene for unit, p in zip(units, paths, strict=True)]
        found.add("position_share", apart.position / scene, *formal)

    def _compare_focal(self, signals: Signals, found: _Findings) -> None:
        path, check = _two(signals, "camera_path", CameraPath)
        calibration = _one(signals, "calibration", Calibration)
        for other, blamed in ((check, "camera_path"), (calibration, "calibration")):
            if path is None or other is None or other.provenance.expert == path.provenance.expert:
                continue
            apart = abs(np.log(path.intrinsics.fy_px / other.intrinsics.fy_px))
            found.held("focal length", path.provenance, other.provenance)
            found.add("focal_relative", apart, path.focal_relative_sigma, other.focal_relative_sigma)
            if apart > self.settings.focal:
                found.refuse("two focal lengths disagree", blamed)

    def _compare_tracks(self, signals: Signals, found: _Findings) -> None:
        """Learned path and depth against what tracks of the picture say; nothing learned, nothing to ask."""
        path, depth = _one(signals, "camera_path", CameraPath), _one(signals, "depth", Depth)
        tracks, s = _one(signals, "tracks", PointTracks), self.settings
        if (
            path is None
            or depth is None
            or tracks is None
            or not depth.outlier_probability
            or path.motion == "unresolved"
        ):
            return
        if not enough_tracks(tracks, s.tracks):
            return
        found.held("camera_path and tracks", path.provenance, tracks.provenance)
        fitted = path_by_tracks(tracks, path, s.fit)
        if fitted is None:
            found.refuse("tracks contradict the camera path", "camera_path")
            return
        scene = median_range(path, depth, None)
        apart = paths_apart(path, fitted.path, scene, s.fitted)
        if apart is not None:
            contradiction = "tracks contradict the camera path" if apart.contradiction else ""
            self._judge_paths(replace(apart, contradiction=contradiction), path, None, scene, found)
        if path.motion == "general" and depth.scale.kind != "per_frame":
            self._compare_ranges(depth, tracks, fitted, path, found)

    def _compare_ranges(
        self, depth: Depth, tracks: PointTracks, fitted: FittedPath, path: CameraPath, found: _Findings
    ) -> None:
        """Ranges of tracks rest on the path: where they contradict depth, one model's path is as doubtful."""
        limits, held = self.settings.tracks, depth_and_tracks(depth, tracks, fitted, self.settings.tracks)
        if held is None:
            return
        found.held("depth and tracks", depth.provenance, tracks.provenance)
        own = _typical(depth.relative_sigma[:, ::4, ::4])
        found.add("depth_relative", held.relative, own)
        found.add("depth_relative", held.factor, own)
        if contradicts(held, limits):
            found.refuse("tracks contradict the depth", "depth")
            if depth.provenance.expert == path.provenance.expert:
                found.refuse("tracks contradict depth and path", "camera_path")

    def _compare_depth(self, signals: Signals, found: _Findings) -> None:
        limits = self.settings.depths
        depth, check = _two(signals, "depth", Depth)
        path, other = _two(signals, "camera_path", CameraPath)
        points = _one(signals, "sparse_points_check", SparsePoints)
        if depth is None or path is None:
            return
        own = _typical(depth.relative_sigma[:, ::4, ::4])
        if check is not None and (apart := depths_apart(depth, check, path, limits)) is not None:
            found.held("depth", depth.provenance, check.provenance)
            self._judge_depth(apart, (own, _typical(check.relative_sigma[:, ::4, ::4])), found)
        if points is None or other is None:
            return
        if (apart := depth_and_points(depth, points, other, limits)) is not None:
            found.held("depth and points", depth.provenance, points.provenance)
            self._judge_depth(apart, (own, _typical(points.range_relative_sigma)), found)
            unit = abs(np.log(apart.factor / scale_between(path, other)))
            found.add("depth_relative", unit, own, _typical(points.range_relative_sigma))
            if unit > limits.factor:
                found.refuse("depth and camera path differ in scale", "depth")

    def _judge_depth(self, apart: DepthsApart, sigmas: tuple[float, float], found: _Findings) -> None:
        found.add("depth_relative", apart.relative, *sigmas)
        if apart.relative > self.settings.depths.relative:
            found.refuse("two depths disagree", "depth")

    def _compare_up(self, signals: Signals, found: _Findings) -> None:
        limits = self.settings.ups
        gravity, check = _two(signals, "gravity", Gravity)
        path, depth = _one(signals, "camera_path", CameraPath), _one(signals, "depth", Depth)
        if gravity is None:
            return
        own = _typical(gravity.sigma_rad)
        apart = None if check is None else ups_apart(gravity, check, path)
        if check is not None and apart is not None:
            found.held("gravity", gravity.provenance, check.provenance)
            found.add("up_rad", float(np.sqrt(np.mean(apart**2) / 2)), own, _typical(check.sigma_rad))
            if np.median(apart) > limits.up_rad:
                found.refuse("two ups disagree", "gravity")
        if depth is None or path is None or depth.scale.kind == "per_frame" or apart is not None:
            return
        up = up_in_world(gravity, path)
        tilt = None if up is None else floor_tilt(depth, path, up, limits)
        if tilt is not None:
            found.held("gravity and floor", gravity.provenance, depth.provenance)
            found.add("up_rad", tilt / np.sqrt(2), own, limits.floor_sigma_rad)
            if tilt > limits.up_rad + limits.floor_sigma_rad:
                found.refuse("the floor is tilted against gravity", "gravity")


def _one(signals: Signals, name: str, kind: type[Kind]) -> Kind | None:
    signal = signals.get(name)
    return signal if isinstance(signal, kind) else None


def _two(signals: Signals, name: str, kind: type[Kind]) -> tuple[Kind | None, Kind | None]:
    """A signal and its check."""
    return _one(signals, name, kind), _one(signals, f"{name}_check", kind)


def _typical(sigma: np.ndarray) -> float:
    """Median of the known ones; 0 where none is known."""
    known = sigma[np.isfinite(sigma)]
    return float(np.median(known)) if len(known) else 0.0
