"""A clip's signals in one world, and what a template may ask of them.

Every method takes and returns media terms (frames, pixels) or camera axes, or lengths whose unit cancels: no
answer depends on the choice of world. What is not known is NaN, and σ says how well the rest is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import (
    CHECKED,
    Agreement,
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    Matches,
    NoEstimate,
    Objects,
    PointTracks,
    Signal,
    Signals,
    SparsePoints,
)
from experts.tracking.path_on_tracks import FitSettings, FittedPath, path_by_tracks
from templates.scene.agreed import agreed, second_opinion
from templates.scene.second_look import confirmed_by_tracks
from templates.scene.surface import DoubtSettings, Surface, dense_surface, sparse_surface
from templates.scene.suspected_outliers import suspected_outliers

REFERENCE_WIDTH_PX = 640
"""Pixel thresholds are stated for this width and scale with the frame."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Signals that hold together. Built by `scenes_of`."""

    clip: Clip
    signals: Mapping[str, Signal]
    """What was measured, by signal name."""
    no_estimates: Mapping[str, NoEstimate]
    """What was not, and why."""
    second: "Scene | None" = None
    """What an independent expert's map says of the same clip: every fact is measured on it too."""
    doubts: DoubtSettings = field(default_factory=DoubtSettings)
    """When a sparse point is too doubtful to ask about."""
    judged_by: Mapping[str, Provenance] = field(default_factory=dict)
    """Makers of the signals that decided which signals count and how large their σ is, by signal name."""

    @property
    def path(self) -> CameraPath | None:
        """The camera path, if there is one."""
        path = self.signals.get("camera_path")
        return path if isinstance(path, CameraPath) else None

    @property
    def points(self) -> SparsePoints | None:
        """Sparse static points, if there are any."""
        points = self.signals.get("sparse_points")
        return points if isinstance(points, SparsePoints) else None

    @property
    def depth(self) -> Depth | None:
        """Dense depth, if there is any."""
        depth = self.signals.get("depth")
        return depth if isinstance(depth, Depth) else None

    @property
    def tracks(self) -> PointTracks | None:
        """Point tracks, if there are any."""
        tracks = self.signals.get("tracks")
        return tracks if isinstance(tracks, PointTracks) else None

    @property
    def matches(self) -> Matches | None:
        """Matches, if there are any."""
        matches = self.signals.get("matches")
        return matches if isinstance(matches, Matches) else None

    @property
    def gravity(self) -> Gravity | None:
        """Gravity, if known."""
        gravity = self.signals.get("gravity")
        return gravity if isinstance(gravity, Gravity) else None

    @property
    def calibration(self) -> Calibration | None:
        """The camera as measured without a path, if it was."""
        calibration = self.signals.get("calibration")
        return calibration if isinstance(calibration, Calibration) else None

    @property
    def objects(self) -> Objects | None:
        """Objects whose masks and poses a data set knows exactly, if there are any."""
        objects = self.signals.get("objects")
        return objects if isinstance(objects, Objects) and objects.centre_sigma is None else None

    @property
    def diagonal_px(self) -> float:
        """Diagonal of the frame."""
        return float(np.hypot(self.clip.width_px, self.clip.height_px))

    @property
    def pixel_scale(self) -> float:
        """Factor from thresholds stated at 640 px width to this clip's full-size pixels."""
        return max(self.clip.width_px, self.clip.height_px) / REFERENCE_WIDTH_PX

    def world_from_cam(self, frames: Sequence[int]) -> Float64[np.ndarray, "k 4 4"]:
        """Camera poses of frames; all NaN where the frame is not registered."""
        out = np.full((len(frames), 4, 4), np.nan)
        if self.path is not None:
            rows = find_rows(self.path.frames, frames)
            known = (rows >= 0) & self.path.registered[rows]
            out[known] = self.path.world_from_cam[rows[known]]
        return out

    def rotation_sigma_rad(self, frames: Sequence[int]) -> Float64[np.ndarray, "k"]:
        """σ per axis of the rotation of frames; NaN where not registered."""
        return self._of_path("rotation_sigma_rad", frames)

    def turn_sigma_rad(self, frames: Sequence[int]) -> float:
        """σ per axis of the largest rotation among frames: each frame's own ⊕ what a wrong focal does to the turn."""
        rotations = self.world_from_cam(frames)[:, :3, :3]
        if self.path is None or not np.isfinite(rotations).all():
            return np.nan
        turns = Rotation.from_matrix(rotations[0].T @ rotations).magnitude()
        return float(np.hypot(self.rotation_sigma_rad(frames).max(), self.path.focal_relative_sigma * turns.max()))

    def position_sigma(self, frames: Sequence[int]) -> Float64[np.ndarray, "k"]:
        """Formal σ per axis of the position of frames, in path units."""
        return self._of_path("position_sigma", frames)

    def _of_path(self, field: str, frames: Sequence[int]) -> Float64[np.ndarray, "k"]:
        out = np.full(len(frames), np.nan)
        if self.path is not None:
            rows = find_rows(self.path.frames, frames)
            out[rows >= 0] = getattr(self.path, field)[rows[rows >= 0]]
        return out

    def vfov_rad(self) -> tuple[float, float]:
        """Vertical field of view and its σ, by the tighter of path and calibration; where both know it, their
        difference is in σ. NaN where neither does."""
        known = [(each.intrinsics, each.focal_relative_sigma) for each in (self.path, self.calibration) if each]
        if not known:
            return np.nan, np.nan
        camera, sigma = min(known, key=lambda each: each[1])
        apart = np.ptp([np.log(other.fy_px) for other, _ in known])
        return camera.vfov_rad, float(np.sin(camera.vfov_rad) * np.hypot(sigma, apart))

    def has_depth(self, frame: int) -> bool:
        """Whether dense depth of a frame is known."""
        if self.path is None or self.depth is None:
            return False
        return bool(find_rows(self.depth.frames, [frame])[0] >= 0)

    @property
    def measured_depth(self) -> Depth | None:
        """Dense depth that counts as the truth: a sensor's or a renderer's, not a model's."""
        return self.depth if self.depth is not None and self.depth.outlier_probability == 0 else None

    @cached_property
    def fitted_path(self) -> FittedPath | None:
        """The path fitted to the tracks, by which they tell ranges; None where it explains too few of them."""
        if self.tracks is None or self.path is None or self.path.motion != "general":
            return None
        return path_by_tracks(self.tracks, self.path, FitSettings())

    def surface(self, frame: int, xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """What is seen at pixels of a frame: positions in camera axes with σ. Dense depth first, else sparse points."""
        if self.path is not None and self.depth is not None and self.has_depth(frame):
            seen = dense_surface(self.depth, self.path.intrinsics, frame, xy_px)
            return seen if self.measured_depth is not None else self._looked_at_again(seen, frame, xy_px)
        if self.path is not None and self.points is not None:
            (world_from_cam,) = self.world_from_cam([frame])
            radius_px = 1.5 * self.pixel_scale
            return sparse_surface(self._suspected_outliers, world_from_cam, frame, xy_px, radius_px, self.doubts)
        return Surface.unknown(len(xy_px))

    def _looked_at_again(self, seen: Surface, frame: int, xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """Learned depth is sure only where a second, independent way says the same: tracks, or another expert's map,
        on which every fact is measured too, so that here only its doubts count."""
        outlier_probability = seen.outlier_probability
        if self.tracks is not None and self.fitted_path is not None:
            outlier_probability = confirmed_by_tracks(
                seen, self.tracks, self.fitted_path, frame, xy_px, self.pixel_scale
            )
        if self.second is not None:
            outlier_probability = np.fmin(outlier_probability, self.second.surface(frame, xy_px).outlier_probability)
        return replace(
            seen, outlier_probability=np.where(np.isnan(seen.outlier_probability), np.nan, outlier_probability)
        )

    @cached_property
    def _suspected_outliers(self) -> SparsePoints:
        """The sparse points, with doubt in those that tracks cannot vouch for."""
        assert self.points is not None
        if self.tracks is None:
            return self.points
        return suspected_outliers(self.points, self.tracks, self.pixel_scale, self.doubts)

    def up_cam(self, frame: int) -> tuple[Float64[np.ndarray, "3"], float]:
        """Direction of up in a frame's camera axes, and its σ per axis in radians; NaN where unknown."""
        if self.gravity is None or (row := find_rows(self.gravity.frames, [frame])[0]) < 0:
            return np.full(3, np.nan), np.nan
        return self.gravity.up_cam[row], float(self.gravity.sigma_rad[row])

    @cached_property
    def up_world(self) -> Float64[np.ndarray, "3"] | None:
        """Up in the path's world, pooled over the frames where gravity and rotation are known; None otherwise."""
        if self.gravity is None or self.path is None:
            return None
        rotations = self.world_from_cam(self.gravity.frames.tolist())[:, :3, :3]
        ups = np.einsum("nij,nj->ni", rotations, self.gravity.up_cam)
        ups = ups[np.isfinite(ups).all(axis=1)]
        if not len(ups):
            return None
        pooled = np.median(ups, axis=0)
        return pooled / np.linalg.norm(pooled)


def scenes_of(clip: Clip, signals: Signals) -> tuple[Scene, ...]:
    """The scene to propose on, and the check scene that every label must also hold on, if the experts made one.

    A camera path that travels but whose second map was tried in vain counts as not known: nothing may rest on one map
    alone. Where experts disagree (`Agreement`), signals are left out, or their σ grows.
    """
    main = {name: s for name, s in signals.items() if not name.endswith("_check")}
    path, check = main.get("camera_path"), signals.get("camera_path_check")
    if isinstance(check, NoEstimate) and isinstance(path, CameraPath) and path.motion == "general":
        refusal = NoEstimate(reason="no second map to hold the first against", detail=check.reason)
        main |= {name: refusal for name in ("camera_path", "sparse_points") if name in main}
    agreement = signals.get("agreement")
    agreement = agreement if isinstance(agreement, Agreement) else None
    judges = _judges(signals, agreement)
    first = _scene(clip, agreed(main, agreement), judges)
    if not isinstance(check, CameraPath):
        return (first if _vouched_for(first) else _scene(clip, {**main, "camera_path": _ALONE}, judges),)
    second = _scene(clip, agreed(second_opinion(main, signals, check), agreement), judges)
    return (replace(first, second=second) if _independent(first, second) else first, second)


_ALONE = NoEstimate(
    reason="nothing confirms the model's camera path",
    detail="a path whose σ nobody has calibrated counts only where point tracks or a second map bear it out",
    remedy="add tracks (klt or tapir) or a second map (colmap) to --experts",
)
"""On imitated models, broken on purpose, a path alone gave up to 109 wrong answers in 4 rooms; with tracks, none."""


def _vouched_for(scene: Scene) -> bool:
    """Whether a travelling path is calibrated, or explains the tracks."""
    path = scene.path
    raw = path is not None and path.motion == "general" and path.provenance.sigma == "raw"
    return not raw or scene.fitted_path is not None


def _judges(signals: Signals, agreement: Agreement | None) -> dict[str, Provenance]:
    """What an agreement compared, and the tracks that a path of an uncalibrated model needs."""
    path = signals.get("camera_path")
    names = {"tracks"} if isinstance(path, CameraPath) and path.provenance.sigma == "raw" else set()
    if agreement is not None:
        names |= {*CHECKED, *(f"{name}_check" for name in CHECKED), "calibration", "tracks"}
    found = {name: signals[name] for name in sorted(names & signals.keys())}
    return {name: signal.provenance for name, signal in found.items() if not isinstance(signal, NoEstimate)}


def _independent(first: Scene, second: Scene) -> bool:
    """Whether different experts made the two maps: two maps of one expert share its wrong matches."""
    if first.path is None or second.path is None:
        return False
    return first.path.provenance.expert != second.path.provenance.expert


def _scene(clip: Clip, signals: Signals, judges: Mapping[str, Provenance]) -> Scene:
    return Scene(
        clip=clip,
        signals={name: s for name, s in signals.items() if not isinstance(s, NoEstimate)},
        no_estimates={name: s for name, s in signals.items() if isinstance(s, NoEstimate)},
        judged_by=judges,
    )


def find_rows(frames: Int64[np.ndarray, "n"], wanted: Sequence[int]) -> Int64[np.ndarray, "k"]:
    """Row of each wanted frame in an ascending list of frames; -1 where it is not there."""
    if not len(frames):
        return np.full(len(wanted), -1, dtype=np.int64)
    at = np.clip(np.searchsorted(frames, wanted), 0, len(frames) - 1)
    return np.where(frames[at] == np.asarray(wanted), at, -1).astype(np.int64)


def inside(clip: Clip, xy_px: Float64[np.ndarray, "*n 2"], border: float) -> Bool[np.ndarray, "*n"]:
    """Whether pixels keep `border` (a fraction of the frame's size) away from the frame's edges."""
    size = np.array([clip.width_px, clip.height_px])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.all((xy_px >= border * size) & (xy_px <= (1 - border) * size - 1), axis=-1))
