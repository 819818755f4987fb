"""The signals of a clip in one world frame, and the geometry that templates compute from them.

Methods take frames and pixels, and return quantities in camera axes or path units, so that no answer depends on the
choice of world. Unknown values are NaN.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import (
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    ImageTracks,
    Matches,
    ObjectOrientation,
    Objects,
    Parts,
    PathOnTracks,
    PointTracks,
    Room,
    Signal,
    SparsePoints,
)
from experts.tracking.path_on_tracks import FittedPath
from templates.scene.nearby_tracks import NearbyTracks
from templates.scene.shared_points import with_matches_of_points
from templates.scene.surface import (
    MAX_DISTANCE_PX,
    PATCH_WINDOW_PX,
    DenseSurface,
    OutlierSettings,
    SparseSurface,
    Surface,
)
from templates.scene.suspected_outliers import contradicted_points, near_moving, suspected_outliers
from templates.scene.track_confirmation import confirmed_by_tracks
from templates.world import World

REFERENCE_WIDTH_PX = 640
"""Pixel thresholds are stated for this width, and scale with the frame."""

SURFACE = frozenset({"camera_path", "sparse_points", "depth", "depth_patches", "tracks", "fitted_path"})
"""Signals that `Scene.surface` reads."""

AnySignal = TypeVar("AnySignal", bound=Signal)
Found = TypeVar("Found")
Frames = Sequence[int] | Int64[np.ndarray, "*k"] | int | np.int64
"""Frames by index: a list, an array of any shape, or one."""


@runtime_checkable
class PixelMatcher(Protocol):
    """Finds single pixels in other frames along the epipolar lines of true poses."""

    @property
    def pose_sigma_px(self) -> float:
        """How far matches lie from where the poses bring them, in full-size pixels."""
        ...

    def at(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """Surface points at pixels, each of its frame; NaN where the images do not decide."""
        ...

    def shows(
        self, frames: Int64[np.ndarray, "k 2"], xy_px: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """Whether the second frame of each row shows what the first shows at a pixel, at depth z."""
        ...


_KNOWN_CAMERA = 0.005
"""A camera with at most this σ_f / f was given, with its principal point, and the footage confirms it."""


@dataclass(frozen=True, kw_only=True)
class Scene(World):
    """Signals of one clip in one world frame. Built by `scenes_of`."""

    clip: Clip
    second: "Scene | None" = None
    """The scene of an independent reconstruction of the same clip. Every fact is measured on it too."""
    outliers: OutlierSettings = field(default_factory=OutlierSettings)
    """When a sparse point is a suspected outlier."""
    matched: "PixelMatcher | None" = None
    """Gives surface points where no depth does; only ground truth has it."""

    @property
    def clip_id(self) -> str:
        """Id of the clip."""
        return self.clip.id

    @property
    def footage_licence(self) -> str:
        """Licence of the clip."""
        return self.clip.licence

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """What `compute` gives; computed once for each key, for all templates."""
        if key not in self._found:
            self._found[key] = compute()
        found: Found = self._found[key]
        return found

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def _signal(self, name: str, kind: type[AnySignal]) -> AnySignal | None:
        signal = self.signals.get(name)
        return signal if isinstance(signal, kind) else None

    @property
    def path(self) -> CameraPath | None:
        """The camera path, if there is one."""
        return self._signal("camera_path", CameraPath)

    @property
    def points(self) -> SparsePoints | None:
        """Sparse static points, if there are any."""
        return self._signal("sparse_points", SparsePoints)

    @property
    def depth(self) -> Depth | None:
        """Dense depth, if there is any."""
        return self._signal("depth", Depth)

    @property
    def depth_patches(self) -> Depth | None:
        """Patches of dense depth from several views, if there are any."""
        return self._signal("depth_patches", Depth)

    @property
    def tracks(self) -> PointTracks | None:
        """Point tracks, if there are any."""
        return self._signal("tracks", PointTracks)

    @property
    def image_tracks(self) -> ImageTracks | None:
        """Tracks of which nothing but pixels is known, if there are any."""
        return self._signal("image_tracks", ImageTracks)

    @cached_property
    def matches(self) -> Matches | None:
        """Matches, if there are any; with those of sparse points, of pairs of frames that have none."""
        matches = self._signal("matches", Matches)
        if matches is None or self._sparse_surface is None or self.path is None:
            return matches
        return with_matches_of_points(matches, self._sparse_surface, self.path.intrinsics)

    @property
    def gravity(self) -> Gravity | None:
        """Gravity, if known."""
        return self._signal("gravity", Gravity)

    @property
    def calibration(self) -> Calibration | None:
        """The camera parameters estimated without a path, if there are any."""
        return self._signal("calibration", Calibration)

    @property
    def objects(self) -> Objects | None:
        """Objects with masks and boxes, if there are any."""
        return self._signal("objects", Objects)

    @property
    def exact_objects(self) -> Objects | None:
        """The objects, if their masks and poses are exact: those of a dataset."""
        objects = self.objects
        return objects if objects is not None and objects.centre_sigma is None else None

    @property
    def orientation(self) -> ObjectOrientation | None:
        """The front of each of the objects, if known."""
        return self._signal("object_orientation", ObjectOrientation)

    @property
    def parts(self) -> Parts | None:
        """Parts of the objects, if known."""
        return self._signal("parts", Parts)

    @property
    def room(self) -> Room | None:
        """Floor, walls and free floor, if known."""
        return self._signal("room", Room)

    @property
    def diagonal_px(self) -> float:
        """Diagonal of the frame."""
        return float(np.hypot(self.clip.width_px, self.clip.height_px))

    @property
    def pixel_scale(self) -> float:
        """Factor from thresholds stated at 640 px width to this clip's full-size pixels."""
        return max(self.clip.width_px, self.clip.height_px) / REFERENCE_WIDTH_PX

    def world_from_cam(self, frames: Frames) -> Float64[np.ndarray, "*k 4 4"]:
        """Camera poses of frames; all NaN where the frame is not registered."""
        poses = _at_frames(self.path, "world_from_cam", (4, 4), frames)
        poses[_at_frames(self.path, "registered", (), frames) != 1] = np.nan
        return poses

    def rotation_sigma_rad(self, frames: Frames) -> Float64[np.ndarray, "*k"]:
        """σ per axis of the rotation of frames; NaN where not registered."""
        return _at_frames(self.path, "rotation_sigma_rad", (), frames)

    def relative_rotation_sigma_rad(self, frames: Int64[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
        """σ per axis of the rotations from the first frame of each row to its others: the largest σ of a frame ⊕ the
        camera. A row may end in -1; NaN where a frame is not registered.

        An error of the focal length or of the principal point changes every rotation that is estimated from pixels.
        """
        if self.path is None:
            return np.full(len(frames), np.nan)
        frames = np.where(frames < 0, frames[:, :1], frames)
        rotations = self.world_from_cam(frames)[..., :3, :3]
        angles = angle_between_rad(rotations[:, :1], rotations)
        return np.hypot(self.rotation_sigma_rad(frames).max(axis=1), self.path.turn_relative_sigma * angles.max(axis=1))

    def position_sigma(self, frames: Frames) -> Float64[np.ndarray, "*k"]:
        """Formal σ per axis of the position of frames, in path units."""
        return _at_frames(self.path, "position_sigma", (), frames)

    def offset_sigma(self, frames: Int64[np.ndarray, "*k 2"]) -> Float64[np.ndarray, "*k"]:
        """σ per axis of the offset between the positions of two frames, in path units: of both positions ⊕ the camera ⊕
        systematic."""
        return np.hypot(np.linalg.norm(self.position_sigma(frames), axis=-1), self.systematic_offset_sigma(frames))

    def systematic_offset_sigma(self, frames: Int64[np.ndarray, "*k 2"]) -> Float64[np.ndarray, "*k"]:
        """The part of it that no covariance of positions shows: the camera ⊕ what is systematic in both pictures. 0
        where it is not measured: there the camera is a part of `direction_sigma_rad`."""
        sigma = np.zeros(np.shape(frames)[:-1])
        if self.path is not None and self.path.systematic_position_sigma is not None:
            sigma = np.linalg.norm(_at_frames(self.path, "systematic_position_sigma", (), frames), axis=-1)
        if self.path is not None and self.path.position_by_camera is not None:
            moved = _at_frames(self.path, "position_by_camera", (3, 3), frames)
            by_camera = np.linalg.norm(moved[..., 1, :, :] - moved[..., 0, :, :], axis=(-2, -1)) / np.sqrt(3)
            sigma = np.hypot(sigma, by_camera)
        return sigma

    @property
    def direction_sigma_rad(self) -> float:
        """σ per component of a direction between two positions, `offset_sigma` aside; NaN without a path."""
        if self.path is None:
            return np.nan
        apart = self.path.position_by_camera is not None
        return self.path.direction_sigma_rad if apart else self.path.total_direction_sigma_rad

    @property
    def focal_relative_sigma(self) -> float:
        """σ_f / f of the path; NaN without one."""
        return np.nan if self.path is None else self.path.focal_relative_sigma

    @property
    def centre_relative_sigma(self) -> Float64[np.ndarray, "2"]:
        """σ of either coordinate of the principal point over the focal length; NaN without a path; 0 for the
        user's camera."""
        if self.path is None:
            return np.full(2, np.nan)
        return np.where(self.focal_relative_sigma <= _KNOWN_CAMERA, 0.0, self.path.centre_relative_sigma)

    @property
    def turn_relative_sigma(self) -> float:
        """σ of a rotation between frames over its angle, as far as it comes from the camera; NaN without a path."""
        return np.nan if self.path is None else self.path.turn_relative_sigma

    @property
    def turn_sigma_by_focal(self) -> float:
        """The part of it that comes from the focal length: the rotation is too long or too short."""
        return np.nan if self.path is None else self.path.turn_sigma_by_focal

    @property
    def turn_sigma_by_centre(self) -> float:
        """The part of it that comes from the principal point: the axis of the rotation is tilted."""
        return np.nan if self.path is None else self.path.turn_sigma_by_centre

    @property
    def travel_relative_sigma(self) -> float:
        """σ of the ratio of a distance between frames to a range, as far as it comes from the camera; NaN without a
        path. Metres are known by ranges: a distance between frames in metres has it too."""
        return np.nan if self.path is None else self.path.travel_relative_sigma

    @property
    def length_unit(self) -> str:
        """What evidence calls the unit of the path: "m", or "units" where it is not known in metres."""
        return "units" if np.isnan(self.metre_relative_sigma) else "m"

    @property
    def metre_relative_sigma(self) -> float:
        """Relative σ of a metre in path units; NaN where these are not metres."""
        if self.path is None or self.path.scale.kind != "metric":
            return np.nan
        return self.path.scale.relative_sigma or 0.0

    @property
    def camera(self) -> tuple[Intrinsics | None, float]:
        """The camera and the relative σ of its focal length, from the path or the calibration, whichever has the
        smaller σ; None and NaN where neither exists.

        σ includes the difference between the two.
        """
        known = [(each.intrinsics, each.focal_relative_sigma) for each in (self.path, self.calibration) if each]
        if not known:
            return None, np.nan
        camera, sigma = min(known, key=lambda each: each[1])
        difference = np.ptp([np.log(other.fy_px) for other, _ in known])
        return camera, float(np.hypot(sigma, difference))

    def vfov_rad(self) -> tuple[float, float]:
        """Vertical field of view of `camera` and its σ; NaN where it is unknown."""
        camera, sigma = self.camera
        if camera is None:
            return np.nan, np.nan
        return camera.vfov_rad, float(np.sin(camera.vfov_rad) * sigma)

    def has_depth(self, frame: int) -> bool:
        """Whether a frame has dense depth."""
        if self.path is None or self.depth is None:
            return False
        return bool(find_rows(self.depth.frames, [frame])[0] >= 0)

    @property
    def measured_depth(self) -> Depth | None:
        """Dense depth that counts as ground truth: of a sensor or a renderer, not of a model."""
        return self.depth if self.depth is not None and self.depth.outlier_probability == 0 else None

    @cached_property
    def fitted_path(self) -> FittedPath | None:
        """The path fitted to the tracks, from which they give ranges; None where it explains too few of them."""
        fit, path = self._signal("fitted_path", PathOnTracks), self.path
        if fit is None or path is None:
            return None
        path = replace(path, world_from_cam=fit.world_from_cam, intrinsics=fit.intrinsics)
        return FittedPath(path=path, residual_px=fit.residual_px)

    def surface(self, frames: Frames, xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """Surface points at pixels, each of its frame: from dense depth if the frame has it, else from patches of depth
        and sparse points.

        `frames`: one frame for each pixel, or one for all.
        """
        frames = np.broadcast_to(np.asarray(frames, dtype=np.int64), len(xy_px))
        if self.path is None:
            return Surface.unknown(len(xy_px))
        seen = self._estimated(frames, xy_px)
        lacking = np.isnan(seen.xyz_cam).any(axis=1)
        if self.matched is None or not lacking.any():
            return seen
        return Surface.interleaved(~lacking, seen.take(~lacking), self.matched.at(frames[lacking], xy_px[lacking]))

    def _estimated(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        if self._dense_surface is None:
            return self._sparse_and_patches(frames, xy_px)
        dense = find_rows(self._dense_surface.depth.frames, frames) >= 0
        if dense.all():
            return self._dense(self._dense_surface, frames, xy_px)
        parts = [
            self._dense(self._dense_surface, frames[dense], xy_px[dense]),
            self._sparse_and_patches(frames[~dense], xy_px[~dense]),
        ]
        return Surface.interleaved(dense, *parts)

    def _sparse_and_patches(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """Patches of depth where they are known, sparse points elsewhere. Where the two differ, both may be wrong."""
        sparse = self._sparse(frames, xy_px)
        if self._patches is None:
            return sparse
        seen = self._dense(self._patches, frames, xy_px)
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = np.abs(np.log(seen.range / sparse.range))
        confirmed = np.where(difference <= self.outliers.same_range, sparse.outlier_probability, np.nan)
        seen = replace(seen, outlier_probability=np.fmin(seen.outlier_probability, confirmed))
        suspected = difference > self.outliers.same_range
        known = np.flatnonzero(np.isfinite(seen.range))
        suspected[known] |= self._may_move(frames[known], xy_px[known], seen.range[known])
        return seen.suspected(suspected).or_else(sparse)

    def _may_move(
        self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"], ranges: Float64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """Which surfaces lie near moving tracks, or among points that may move."""
        may_move = np.zeros(len(frames), dtype=bool)
        if self._nearby_tracks is not None:
            may_move |= near_moving(frames, xy_px, self._nearby_tracks, self.outliers)
        if self._sparse_surface is not None:
            may_move |= self._sparse_surface.may_move_around(frames, xy_px, ranges)
        return may_move

    @cached_property
    def _nearby_tracks(self) -> NearbyTracks | None:
        return None if self.tracks is None else NearbyTracks(tracks=self.tracks, pixel_scale=self.pixel_scale)

    def _sparse(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        if self._sparse_surface is None:
            return Surface.unknown(len(xy_px))
        return self._sparse_surface.at(frames, xy_px)

    def _dense(self, dense: DenseSurface, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        assert self.path is not None
        seen = dense.at(self.path.intrinsics, find_rows(dense.depth.frames, frames), xy_px)
        return self._confirmed(seen, frames, xy_px) if dense.depth.outlier_probability else seen

    @cached_property
    def _dense_surface(self) -> DenseSurface | None:
        return None if self.depth is None else DenseSurface(depth=self.depth)

    @cached_property
    def _patches(self) -> DenseSurface | None:
        return None if self.depth_patches is None else DenseSurface(depth=self.depth_patches, window_px=PATCH_WINDOW_PX)

    def _confirmed(self, seen: Surface, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """Estimated depth, held against tracks and an independent reconstruction: learned depth has a low outlier
        probability only where they confirm it.

        Every fact is measured on that reconstruction too, so that here its outlier probabilities suffice.
        """
        known = np.flatnonzero(~np.isnan(seen.outlier_probability))
        if not len(known):
            return seen
        seen_there, frames, xy_px = seen.take(known), frames[known], xy_px[known]
        outlier_probability = seen_there.outlier_probability
        if self._nearby_tracks is not None and self.fitted_path is not None:
            outlier_probability = confirmed_by_tracks(seen_there, self._nearby_tracks, self.fitted_path, frames, xy_px)
        if self.second is not None:
            outlier_probability = np.fmin(outlier_probability, self.second.surface(frames, xy_px).outlier_probability)
        confirmed = seen.outlier_probability.copy()
        confirmed[known] = outlier_probability
        return replace(seen, outlier_probability=confirmed)

    @cached_property
    def _sparse_surface(self) -> SparseSurface | None:
        """The sparse points, ready for the search. Those near moving tracks, or contradicted by patches of depth, count
        as suspected outliers."""
        points = self.points
        if points is None or self.path is None:
            return None
        if self._nearby_tracks is not None:
            points = suspected_outliers(points, self._nearby_tracks, self.outliers)
        if self.depth_patches is not None:
            points = contradicted_points(points, self.depth_patches, self.path, self.outliers)
        return SparseSurface.of(points, self.path, MAX_DISTANCE_PX * self.pixel_scale, self.outliers)

    def up_cam(self, frames: Frames) -> tuple[Float64[np.ndarray, "*k 3"], Float64[np.ndarray, "*k"]]:
        """Unit vectors of up in the frames' camera axes, and their σ per axis in rad; NaN where unknown."""
        up_cam = _at_frames(self.gravity, "up_cam", (3,), frames)
        return up_cam, _at_frames(self.gravity, "sigma_rad", (), frames)

    @cached_property
    def up_world(self) -> Float64[np.ndarray, "3"] | None:
        """Up in the path's world: the median over frames with gravity and rotation; None where no frame has both."""
        if self.gravity is None or self.path is None:
            return None
        rotations = self.world_from_cam(self.gravity.frames)[:, :3, :3]
        ups = np.einsum("nij,nj->ni", rotations, self.gravity.up_cam)
        ups = ups[np.isfinite(ups).all(axis=1)]
        if not len(ups):
            return None
        pooled = np.median(ups, axis=0)
        return pooled / np.linalg.norm(pooled)


def find_rows(frames: Int64[np.ndarray, "n"], wanted: Frames) -> Int64[np.ndarray, "*k"]:
    """Row of each wanted frame in an ascending list of frames; -1 where it is missing."""
    wanted = np.asarray(wanted, dtype=np.int64)
    if not len(frames):
        return np.full(wanted.shape, -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(frames, wanted), len(frames) - 1)
    return np.where(frames[at] == wanted, at, -1).astype(np.int64)


def _at_frames(signal: CameraPath | Gravity | None, column: str, shape: tuple[int, ...], wanted: Frames) -> np.ndarray:
    """What a signal says of wanted frames, of the given shape each; NaN where it lacks the frame."""
    out = np.full((*np.shape(wanted), *shape), np.nan)
    if signal is not None:
        rows = find_rows(signal.frames, wanted)
        out[rows >= 0] = getattr(signal, column)[rows[rows >= 0]]
    return out


def angle_between_rad(a: Float64[np.ndarray, "*n 3 3"], b: Float64[np.ndarray, "*m 3 3"]) -> Float64[np.ndarray, "*k"]:
    """Angle of the rotation from a to b; NaN where either is."""
    chord = np.linalg.norm(a - b, axis=(-2, -1)) / np.sqrt(8)
    return np.asarray(2 * np.arcsin(np.minimum(chord, 1.0)))
