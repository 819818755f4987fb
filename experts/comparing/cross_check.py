"""Compares independent estimates of one clip. Disagreement becomes additional σ, or a reason to ask no question."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, TypeVar

import numpy as np

from experts.clip import Clip
from experts.comparing.agreement_depth import (
    DepthError,
    DepthLimits,
    TrackLimits,
    compare_depth_with_points,
    compare_depth_with_tracks,
    compare_depths,
    contradicts,
    enough_tracks,
)
from experts.comparing.agreement_paths import PathError, PathLimits, compare_paths, median_range, scale_between
from experts.comparing.agreement_up import UpLimits, angles_between_ups, floor_tilt, up_in_world
from experts.expert import WeightFreeExpert
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
    """Per signal, the disagreement beyond which two estimates contradict each other."""

    paths: PathLimits = field(default_factory=PathLimits)
    depths: DepthLimits = field(default_factory=DepthLimits)
    tracks: TrackLimits = field(default_factory=TrackLimits)
    fit: FitSettings = field(default_factory=FitSettings)
    """How a path is fitted to tracks before the comparison."""
    fitted_paths: PathLimits = field(
        default_factory=lambda: PathLimits(
            rotation_rad=np.deg2rad(3.0), direction_rad=np.deg2rad(7.0), position_share=0.05
        )
    )
    """Limits between a path and the same path fitted to tracks. They are tighter than between experts: on rendered
    rooms paths with correct σ had direction errors of at most 4°; a path bent by 20°, or a focal length 1.4 times too
    long, gave 9°."""
    ups: UpLimits = field(default_factory=UpLimits)
    focal: float = 0.25
    """Largest |ln| of the ratio of two focal lengths, as between two COLMAP reconstructions (`FocalSettings`)."""


@dataclass(kw_only=True)
class _Findings:
    """Collects the results of the comparisons."""

    compared: list[str] = field(default_factory=list)
    disagreement: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def record(self, what: str, *experts: Provenance) -> None:
        """Records that estimates were compared."""
        self.compared.append(f"{what}: {', '.join(source.expert for source in experts)}")

    def add(self, quantity: str, error: float, *sigmas: float) -> None:
        """Records the part of an error that the estimates' own σ do not explain; the largest one counts."""
        unexplained = np.sqrt(max(error**2 - sum(sigma**2 for sigma in sigmas), 0.0)) if np.isfinite(error) else 0.0
        self.disagreement[quantity] = max(self.disagreement.get(quantity, 0.0), float(unexplained))

    def refuse(self, reason: str, *signals: str) -> None:
        """Records that these signals must not be used."""
        for name in signals:
            self.refused.setdefault(name, reason)


class CrossCheckExpert(WeightFreeExpert):
    """Expert "cross_check": provides "agreement" if at least two estimates can be compared."""

    name: ClassVar[str] = "cross_check"
    version: ClassVar[str] = "5"
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
    """Sets of signals that can be compared even if each has one expert only: focal lengths; path and depth with tracks;
    up with the floor."""

    def __init__(self, settings: CrossCheckSettings | None = None) -> None:
        self.settings = settings or CrossCheckSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"agreement": Agreement}`, or `NoEstimate` where no quantity has two estimates."""
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
            disagreement=found.disagreement,
            refused=found.refused,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
        )
        return {"agreement": agreement}

    def _compare_paths(self, signals: Signals, found: _Findings) -> None:
        path, check = _two(signals, "camera_path", CameraPath)
        if path is None or check is None:
            return
        scene = median_range(path, _one(signals, "depth", Depth), _one(signals, "sparse_points", SparsePoints))
        error = compare_paths(path, check, scene, self.settings.paths)
        if error is None:
            return
        found.record("camera_path", path.provenance, check.provenance)
        self._add_paths(error, path, check, scene, found)

    def _add_paths(
        self, error: PathError, path: CameraPath, other: CameraPath | None, scene: float, found: _Findings
    ) -> None:
        """`other`: the path whose σ count too; None: no further σ."""
        if error.contradiction:
            found.refuse(error.contradiction, "camera_path")
        paths = [path] if other is None else [path, other]
        units = [1.0] if other is None else [1.0, float(np.nan_to_num(scale_between(path, other)))]
        found.add("rotation_rad", error.rotation_rad, *(_typical(p.rotation_sigma_rad) for p in paths))
        found.add("direction_rad", error.direction_rad, *(p.total_direction_sigma_rad for p in paths))
        formal = [unit * _typical(p.position_sigma) / scene for unit, p in zip(units, paths, strict=True)]
        found.add("position_share", error.position / scene, *formal)

    def _compare_focal(self, signals: Signals, found: _Findings) -> None:
        path, check = _two(signals, "camera_path", CameraPath)
        calibration = _one(signals, "calibration", Calibration)
        for other, refused in ((check, "camera_path"), (calibration, "calibration")):
            if path is None or other is None or other.provenance.expert == path.provenance.expert:
                continue
            error = abs(np.log(path.intrinsics.fy_px / other.intrinsics.fy_px))
            found.record("focal length", path.provenance, other.provenance)
            found.add("focal_relative", error, path.focal_relative_sigma, other.focal_relative_sigma)
            if error > self.settings.focal:
                found.refuse("two focal lengths disagree", refused)

    def _compare_tracks(self, signals: Signals, found: _Findings) -> None:
        """Compares a learned path and depth with image tracks. A reconstruction fits its tracks by construction."""
        path, depth = _one(signals, "camera_path", CameraPath), _one(signals, "depth", Depth)
        tracks, s = _one(signals, "tracks", PointTracks), self.settings
        if path is None or depth is None or tracks is None or not enough_tracks(tracks, s.tracks):
            return
        if not depth.outlier_probability or path.motion == "unresolved":  # only learned depth has outliers
            return
        found.record("camera_path and tracks", path.provenance, tracks.provenance)
        fitted = path_by_tracks(tracks, path, s.fit)
        if fitted is None:
            found.refuse("tracks contradict the camera path", "camera_path")
            return
        scene = median_range(path, depth, None)
        error = compare_paths(path, fitted.path, scene, s.fitted_paths)
        if error is not None:
            contradiction = "tracks contradict the camera path" if error.contradiction else ""
            self._add_paths(replace(error, contradiction=contradiction), path, None, scene, found)
        if path.motion == "general" and depth.scale.kind != "per_frame":
            self._compare_ranges(depth, tracks, fitted, path, found)

    def _compare_ranges(
        self, depth: Depth, tracks: PointTracks, fitted: FittedPath, path: CameraPath, found: _Findings
    ) -> None:
        """Ranges from tracks depend on the path. If they contradict depth of the same model, path and depth are both
        suspect."""
        limits = self.settings.tracks
        error = compare_depth_with_tracks(depth, tracks, fitted, limits)
        if error is None:
            return
        found.record("depth and tracks", depth.provenance, tracks.provenance)
        own = _typical(depth.relative_sigma[:, ::4, ::4])
        found.add("depth_relative", error.relative, own)
        found.add("depth_relative", error.factor, own)
        if contradicts(error, limits):
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
        if check is not None and (error := compare_depths(depth, check, path, limits)) is not None:
            found.record("depth", depth.provenance, check.provenance)
            self._add_depth(error, (own, _typical(check.relative_sigma[:, ::4, ::4])), found)
        if points is None or other is None:
            return
        if (error := compare_depth_with_points(depth, points, other, limits)) is not None:
            found.record("depth and points", depth.provenance, points.provenance)
            self._add_depth(error, (own, _typical(points.range_relative_sigma)), found)
            unit = abs(np.log(error.factor / scale_between(path, other)))
            found.add("depth_relative", unit, own, _typical(points.range_relative_sigma))
            if unit > limits.factor:
                found.refuse("depth and camera path differ in scale", "depth")

    def _add_depth(self, error: DepthError, sigmas: tuple[float, float], found: _Findings) -> None:
        found.add("depth_relative", error.relative, *sigmas)
        if error.relative > self.settings.depths.relative:
            found.refuse("two depths disagree", "depth")

    def _compare_up(self, signals: Signals, found: _Findings) -> None:
        limits = self.settings.ups
        gravity, check = _two(signals, "gravity", Gravity)
        path, depth = _one(signals, "camera_path", CameraPath), _one(signals, "depth", Depth)
        if gravity is None:
            return
        own = _typical(gravity.sigma_rad)
        error = None if check is None else angles_between_ups(gravity, check, path)
        if check is not None and error is not None:
            found.record("gravity", gravity.provenance, check.provenance)
            found.add("up_rad", float(np.sqrt(np.mean(error**2) / 2)), own, _typical(check.sigma_rad))
            if np.median(error) > limits.up_rad:
                found.refuse("two up directions disagree", "gravity")
        if depth is None or path is None or depth.scale.kind == "per_frame" or error is not None:
            return
        up = up_in_world(gravity, path)
        tilt = None if up is None else floor_tilt(depth, path, up, limits)
        if tilt is not None:
            found.record("gravity and floor", gravity.provenance, depth.provenance)
            found.add("up_rad", tilt / np.sqrt(2), own, limits.floor_sigma_rad)
            if tilt > limits.up_rad + limits.floor_sigma_rad:
                found.refuse("the floor is not perpendicular to gravity", "gravity")


def _one(signals: Signals, name: str, kind: type[Kind]) -> Kind | None:
    signal = signals.get(name)
    return signal if isinstance(signal, kind) else None


def _two(signals: Signals, name: str, kind: type[Kind]) -> tuple[Kind | None, Kind | None]:
    """A signal and its check."""
    return _one(signals, name, kind), _one(signals, f"{name}_check", kind)


def _typical(sigma: np.ndarray) -> float:
    """Median of the known values; 0 if none is known."""
    known = sigma[np.isfinite(sigma)]
    return float(np.median(known)) if len(known) else 0.0
