"""The signals that experts compute: one frozen dataclass each.

Frames are indices in presentation order of the clip's source. Pixels refer to the upright frame at full size; (0, 0) is
the centre of the top-left pixel. Camera axes follow OpenCV (+x right, +y down, +z forward). All signals of a clip share
one world: the camera axes of the first registered frame. Every σ is one standard deviation. NaN means "unknown".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32, Int64

from experts.intrinsics import Intrinsics
from experts.provenance import Provenance

MotionKind = Literal["static", "rotation_only", "unresolved", "general"]


@dataclass(frozen=True, kw_only=True)
class NoEstimate:
    """Returned instead of a signal when an expert cannot estimate it reliably."""

    reason: str
    """Short and stable, so that equal reasons can be counted ("too little parallax"). Numbers belong in `detail`."""
    detail: str = ""
    """The measured value and the required one."""
    remedy: str = ""
    """What the user can do about it, if anything: a flag, or another recording."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Whether lengths are in metres."""

    kind: Literal["metric", "relative", "per_frame"]
    """metric: metres. relative: one unknown scale factor per clip. per_frame: one unknown scale factor per frame."""
    relative_sigma: float | None = None
    """σ of a metre, relative; None where metres are not known."""
    source: str = ""
    """What determines the scale ("data set", "metric model", "known baseline")."""
    metres_per_unit: float | None = None
    """Of depth in the unit of a relative path: its factor to metres. It holds for the whole scene."""


@dataclass(frozen=True, kw_only=True)
class ValidArea:
    """Pixels that show the scene, without constant borders and burnt-in overlays."""

    valid: Bool[np.ndarray, "h w"]
    """True where the scene is visible, at working size (`Clip.working_size`)."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class ImageTracks:
    """Points tracked in the image. Visibility and motion in the world are not judged yet."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    xy_px: Float32[np.ndarray, "t n 2"]
    """Pixel of each track in each frame; NaN where it is not tracked."""
    provenance: Provenance


CENTRE_RELATIVE_SIGMA = 0.016
"""How far a coordinate of the principal point is from the middle of the picture, over the focal length: 1.6 % (root
mean square) with 13 real cameras, at most 4.2 %."""


def _assumed_centre() -> Float64[np.ndarray, "2"]:
    return np.full(2, CENTRE_RELATIVE_SIGMA)


@dataclass(frozen=True, kw_only=True)
class CameraPath:
    """Camera pose of each frame."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """Camera-to-world; NaN where not registered. The translation column is NaN where only the rotation is known."""
    registered: Bool[np.ndarray, "n"]
    """Whether the frame has a rotation (and, for `motion == "general"`, a position)."""
    keyframe: Bool[np.ndarray, "n"]
    """Frames of the joint estimate (bundle adjustment). The other frames were registered one by one."""
    intrinsics: Intrinsics
    """The camera: of the whole clip, or where the clip zooms, at magnification 1."""
    focal_relative_sigma: float
    """σ_f / f, including the systematic part."""
    motion: MotionKind
    """static: the camera does not move. rotation_only: it rotates about its centre. unresolved: the rotation is known;
    whether the camera translates is not. general: rotation and position are known (up to `scale`)."""
    rotation_sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the rotation between this and any other frame, without the part due to the camera."""
    position_sigma: Float64[np.ndarray, "n"]
    """Formal σ per axis of the position, in path units; NaN without a position."""
    direction_sigma_rad: float
    """Systematic σ per component of a direction between two positions, without the part due to the camera."""
    scale: Scale
    provenance: Provenance
    magnification: Float64[np.ndarray, "n"] | None = None
    """Where the clip zooms: the focal length of each frame over that of `intrinsics`; NaN where not registered. Only a
    `zooming_path` has it."""
    magnification_sigma: Float64[np.ndarray, "n"] | None = None
    """σ of ln magnification between this and any other frame."""
    rotation_per_focal: float = 1.0
    """Relative change of a rotation between frames with a relative change of the focal length: about 1 for
    a camera that only turns, less where points at many distances hold the rotations."""
    travel_relative_sigma: float = 0.0
    """σ of the ratio of a distance between frames to a range, relative to it, as far as it comes from the focal length
    and the principal point. 0: the camera is known, or the expert does not measure it (only `colmap` does)."""
    centre_relative_sigma: Float64[np.ndarray, "2"] = field(default_factory=_assumed_centre)
    """σ of either coordinate of the principal point over the focal length. Where σ_f / f is at most 0.005, the camera
    is the user's, and this counts as 0."""
    turn_sigma_by_centre: float = 0.0
    """σ per axis of a rotation between frames over its angle, as far as it comes from the principal point, which tilts
    its axis. 0 as above."""
    direction_sigma_by_camera_rad: float = 0.0
    """σ per component of a direction between two positions far from each other, as far as it comes from the focal
    length and the principal point. 0 as above."""
    position_by_camera: Float64[np.ndarray, "n 3 3"] | None = None
    """By how much the position of each frame changes, in path units (last axis: x, y, z of the world), where the focal
    length is one σ longer (middle axis: 0), and the principal point one σ to the right (1) and down (2). Only
    differences between frames mean something: where the camera turned at one place, a wrong focal length lets it move.
    None: `direction_sigma_by_camera_rad` says what is known of it."""
    systematic_position_sigma: Float64[np.ndarray, "n"] | None = None
    """σ per axis of each position, in path units, that `position_sigma` does not contain: what shifts a whole picture a
    little, such as a rolling shutter, passes for a step, and what moves in it pulls the camera along. None: not
    measured."""

    @property
    def turn_sigma_by_focal(self) -> float:
        """σ of a rotation between frames over its angle, as far as it comes from the focal length."""
        return self.focal_relative_sigma * self.rotation_per_focal

    @property
    def turn_relative_sigma(self) -> float:
        """σ of a rotation between frames over its angle, as far as it comes from the camera."""
        return float(np.hypot(self.turn_sigma_by_focal, self.turn_sigma_by_centre))

    @property
    def total_direction_sigma_rad(self) -> float:
        """σ per component of a direction between two positions far from each other: systematic ⊕ camera."""
        return float(np.hypot(self.direction_sigma_rad, self.direction_sigma_by_camera_rad))


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Camera intrinsics, estimated without a camera path."""

    intrinsics: Intrinsics
    """One camera for the whole clip."""
    focal_relative_sigma: float
    """σ_f / f."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class SparsePoints:
    """Triangulated points of the static scene, with their observations."""

    xyz_world: Float64[np.ndarray, "p 3"]
    """Positions, in the path's units."""
    range_relative_sigma: Float64[np.ndarray, "p"]
    """σ of range / range, from the nearest observing camera: systematic floor ⊕ triangulation ⊕ camera."""
    triangulation_angle_rad: Float64[np.ndarray, "p"]
    """Largest angle between two rays to the point."""
    outlier_probability: Float64[np.ndarray, "p"]
    """Probability that the point is an outlier (wrong match, moving object)."""
    observation_point: Int64[np.ndarray, "o"]
    """Row of `xyz_world` seen by each observation."""
    observation_frame: Int64[np.ndarray, "o"]
    """Frame index of each observation."""
    observation_xy_px: Float64[np.ndarray, "o 2"]
    """Pixel of each observation."""
    provenance: Provenance
    camera_relative_sigma: Float64[np.ndarray, "p"] | None = None
    """What the focal length and the principal point contribute to `range_relative_sigma`; None: not measured."""

    def with_observations(self, rows: Bool[np.ndarray, "o"]) -> "SparsePoints":
        """The points, with these of their observations."""
        names = ("observation_point", "observation_frame", "observation_xy_px")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


@dataclass(frozen=True, kw_only=True)
class PointTracks:
    """Points tracked through the clip, with visibility and motion."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    xy_px: Float64[np.ndarray, "t n 2"]
    """Pixel of each track in each frame; NaN where it is not tracked."""
    visible: Bool[np.ndarray, "t n"]
    """Whether the point itself is visible in the frame. Geometry decides this, not the tracker."""
    sigma_px: Float64[np.ndarray, "t n"]
    """σ per axis of `xy_px`."""
    outlier_probability: Float64[np.ndarray, "t"]
    """Probability that the track drifted to another point."""
    motion: Int32[np.ndarray, "t"]
    """1: moves in the world; 0: static; -1: undecided."""
    residual_px: Float64[np.ndarray, "t"]
    """Median distance to the nearest position that a static point could have, over frame pairs; NaN if not measured."""
    moving_pairs: Int32[np.ndarray, "t"]
    """Number of frame pairs with ≥ 6 px (at 640 px width) of motion that no static point can have."""
    parallax_px: Float64[np.ndarray, "t"]
    """Parallax of the clip at this point. The larger it is, the better a motion of the point is visible."""
    provenance: Provenance
    xyz_world: Float32[np.ndarray, "t n 3"] | None = None
    """Position of each track in each frame, in path units; NaN where unknown. None: the tracks are 2-D only."""
    xyz_sigma: Float32[np.ndarray, "t n"] | None = None
    """σ of `xyz_world` along its least certain axis, without that of the scale."""


@dataclass(frozen=True, kw_only=True)
class PathOnTracks:
    """The camera path that explains the static tracks best: from it, they give ranges."""

    frames: Int64[np.ndarray, "n"]
    """Those of the camera path that is fitted."""
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """In its world and unit; NaN where it is."""
    intrinsics: Intrinsics
    residual_px: float
    """Remaining σ per axis of the tracks, at 640 px width."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Pixels of the same scene point in two frames, found by descriptors or depth and confirmed independently. Where a
    pixel or a σ is NaN, the match is not used."""

    pairs: Int64[np.ndarray, "k 2"]
    """Frame indices (a, b) of each matched pair of frames."""
    pair: Int64[np.ndarray, "m"]
    """Row of `pairs` that each match belongs to."""
    xy_a_px: Float64[np.ndarray, "m 2"]
    """Pixel in frame a."""
    xy_b_px: Float64[np.ndarray, "m 2"]
    """Pixel in frame b."""
    sigma_px: Float64[np.ndarray, "m"]
    """σ per axis of `xy_b_px`."""
    outlier_probability: Float64[np.ndarray, "m"]
    """Probability that the two pixels show different points. It is < 0.005 only where two independent methods agree."""
    confirmed_by: Int32[np.ndarray, "m"]
    """0: nothing; 1: a track; 2: reprojection of a 3-D point; 3: homography of a rotating camera; 4: forward-backward
    reprojection through the depth of both frames."""
    provenance: Provenance

    def take(self, rows: Bool[np.ndarray, "m"]) -> "Matches":
        """These matches."""
        names = ("pair", "xy_a_px", "xy_b_px", "sigma_px", "outlier_probability", "confirmed_by")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def swapped(self) -> "Matches":
        """The matches from b to a. A pixel of b is as uncertain in a."""
        return replace(self, pairs=self.pairs[:, ::-1], xy_a_px=self.xy_b_px, xy_b_px=self.xy_a_px)

    def and_also(self, others: "Matches") -> "Matches":
        """These matches and others."""
        names = ("pairs", "xy_a_px", "xy_b_px", "sigma_px", "outlier_probability", "confirmed_by")
        both: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in names}
        return replace(self, **both, pair=np.concatenate([self.pair, others.pair + len(self.pairs)]))


@dataclass(frozen=True, kw_only=True)
class Gravity:
    """The up direction in each frame. A level camera has up_cam = (0, -1, 0)."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    up_cam: Float64[np.ndarray, "n 3"]
    """Unit vector towards the sky, in camera axes; NaN where unknown."""
    sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the direction."""
    decided_by: str
    """What determines which axis is up: "data set", the name of an expert, or "--upright"."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Depth:
    """Dense depth along the viewing axis (z, not range)."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    z: Float32[np.ndarray, "n h w"]
    """Depth in path units; NaN where unknown. The map may be smaller than the frame (pixel centres at integers)."""
    relative_sigma: Float32[np.ndarray, "n h w"]
    """σ_z / z of each pixel, without the scale; NaN where `z` is."""
    scale: Scale
    provenance: Provenance
    outlier_probability: float = 0.0
    """Probability that the depth of a pixel is an outlier (another surface, or invented). 0 for measured depth."""


@dataclass(frozen=True, kw_only=True)
class Objects:
    """Objects: their masks in the image and their oriented boxes in the world."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    labels: tuple[str, ...]
    """Name of object k."""
    ids: Int32[np.ndarray, "n h w"]
    """Object index of each pixel, -1 for none. The map may be smaller than the frame."""
    world_from_object: Float64[np.ndarray, "n k 4 4"]
    """Pose of object k in frame n: centre and axes of its box; NaN where unknown. A static object has one pose."""
    provenance: Provenance
    size: Float64[np.ndarray, "k 3"] | None = None
    """Side lengths of the box along its axes, in path units; NaN where unknown."""
    centre_sigma: Float64[np.ndarray, "k"] | None = None
    """σ per axis of the box centre, in path units; NaN where unknown."""
    size_sigma: Float64[np.ndarray, "k 3"] | None = None
    """σ of each side length, in path units; NaN where unknown; inf for a side of which only one end is visible."""
    box_px: Float64[np.ndarray, "n k 2 2"] | None = None
    """Left upper and right lower corner of what is visible of object k in frame n, in full-size pixels, where boxes are
    detected but no masks; NaN where it is not detected."""
    score: Float32[np.ndarray, "n k"] | None = None
    """Confidence of the detector, 0 to 1; NaN where the object is not detected."""
    outlier_probability: Float64[np.ndarray, "k"] | None = None
    """Probability that place or mask are those of another object; None: 0, for ground truth."""
    name_outlier_probability: Float64[np.ndarray, "k"] | None = None
    """Probability that people call it something else; None: 0, for ground truth."""
    complete: tuple[str, ...] = ()
    """Names of which every object in the frames is listed; "*": every name."""


@dataclass(frozen=True, kw_only=True)
class ObjectOrientation:
    """The facing direction of objects. As in Orient Anything, angles are relative to the ray to the object's centre."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending; a subset of the frames of `Objects`."""
    azimuth_rad: Float64[np.ndarray, "n k"]
    """0: faces the camera; π/2: faces the left of the picture; π: away; 3π/2: right. NaN where unknown."""
    polar_rad: Float64[np.ndarray, "n k"]
    """> 0: the camera is above the object."""
    rotation_rad: Float64[np.ndarray, "n k"]
    """> 0: the object is rotated counter-clockwise in the picture."""
    sigma_rad: Float64[np.ndarray, "n k 3"]
    """σ of azimuth, polar and rotation."""
    cam_from_object: Float64[np.ndarray, "n k 3 3"]
    """Rotates object axes (x front, y left, z up) into camera axes (OpenCV); NaN where unknown."""
    fronts: Int32[np.ndarray, "n k"]
    """1; 2 or 4 if the object looks the same after a half or quarter rotation; 0: none (a ball); -1: unknown."""
    provenance: Provenance
    outlier_probability: Float64[np.ndarray, "n k"] | None = None
    """Probability that the front is really another side; None: 0, for ground truth."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Parts of objects, and what a person can do with them."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending; a subset of the frames of `Objects`."""
    names: tuple[str, ...]
    """Name of part p: "handle"."""
    object: Int64[np.ndarray, "p"]
    """Index in `Objects` of the object that it belongs to."""
    affords: tuple[tuple[str, ...], ...]
    """What each part is for: ("pull", "open"); none if that is not known."""
    ids: Int32[np.ndarray, "n h w"]
    """Part of each pixel, -1 for none. The map may be smaller than the frame."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Room:
    """Floor, walls and free floor of the place that a clip shows, in the world and the units of the camera path."""

    world_from_floor: Float64[np.ndarray, "4 4"]
    """Frame of the floor: its origin lies on the floor, z is up. Places on the plan are its x and y."""
    floor_sigma: float
    """σ of the height of the floor."""
    outline: Float64[np.ndarray, "m 2"]
    """Corners of the walls on the plan, anticlockwise from above; none if the walls are not known."""
    wall_sigma: Float64[np.ndarray, "m"]
    """σ, across it, of the wall from corner k to the next; inf where no wall was seen."""
    height: float
    """Of the ceiling above the floor; NaN where unknown."""
    height_sigma: float
    """NaN where unknown."""
    doorways: Float64[np.ndarray, "d 2 2"]
    """Ends of each doorway on the plan."""
    cells: Int32[np.ndarray, "h w"]
    """The plan in square cells, rows along y: 1 free floor, 2 something stands there, 0 not seen."""
    cell: float
    """Side of a cell."""
    cells_from: Float64[np.ndarray, "2"]
    """x, y of the corner of cell [0, 0]."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class EffectorPath:
    """Pose and opening of a robot's gripper or a person's hand in each frame."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    base_from_view: Float64[np.ndarray, "n 4 4"]
    """Pose of the wrist, with OpenCV axes (forward along the fingers, as `action_mapping.view_path` gives it), in the
    frame of the robot's base or of the data set; NaN where unknown."""
    opening: Float64[np.ndarray, "n"]
    """0: closed; 1: open; NaN where unknown."""
    rotation_sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the rotation."""
    position_sigma: Float64[np.ndarray, "n"]
    """σ per axis of the position, in the units of the path."""
    effector: Literal["gripper", "hand"]
    scale: Scale
    cam_from_base: Float64[np.ndarray, "n 4 4"] | None = None
    """Pose of the base in the axes of the camera of each frame, in the units of the path; its error is part of the two
    σ. None, or NaN in a frame: not known."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is done in a clip, in the words of those who recorded it."""

    instruction: str
    """The whole task: "put the cup on the plate"."""
    step_texts: tuple[str, ...]
    """The steps in their order; none if they are not known."""
    step_frames: Int64[np.ndarray, "s"]
    """First frame of each step."""
    success: bool | None
    """Whether the task is done at the end; None: not known."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Disagreement between independent estimates of the same signals of one clip."""

    compared: tuple[str, ...]
    """The estimates that were compared ("camera_path: depth_anything_3, colmap")."""
    disagreement: dict[str, float]
    """σ to add, by quantity: "rotation_rad", "direction_rad", "position_share" (share of the scene's median range),
    "depth_relative", "up_rad", "focal_relative"."""
    refused: dict[str, str]
    """Signals that must not be used, each with a short reason."""
    provenance: Provenance


Signal = (
    ValidArea
    | ImageTracks
    | CameraPath
    | Calibration
    | SparsePoints
    | PointTracks
    | PathOnTracks
    | Matches
    | Gravity
    | Depth
    | Objects
    | ObjectOrientation
    | Parts
    | Room
    | EffectorPath
    | Task
    | Agreement
)
Signals = Mapping[str, Signal | NoEstimate]

_TYPES: dict[str, type] = {
    "valid_area": ValidArea,
    "image_tracks": ImageTracks,
    "camera_path": CameraPath,
    "zooming_path": CameraPath,
    "calibration": Calibration,
    "sparse_points": SparsePoints,
    "tracks": PointTracks,
    "fitted_path": PathOnTracks,
    "matches": Matches,
    "gravity": Gravity,
    "depth": Depth,
    "depth_patches": Depth,
    "objects": Objects,
    "object_orientation": ObjectOrientation,
    "parts": Parts,
    "room": Room,
    "effector_path": EffectorPath,
    "task": Task,
    "agreement": Agreement,
}
CHECKED = ("camera_path", "sparse_points", "depth", "gravity")
"""Signals that may have an independent second estimate, called `<name>_check`. A label must hold under both."""
WORLD_BOUND = frozenset({"camera_path", "fitted_path", "sparse_points", "depth", "depth_patches", "objects", "room"})
"""Signals with positions. Those of one scene must share a world and a unit."""
MADE_ON_BOTH_PATHS = ("fitted_path", "depth_patches")
"""Signals of one expert that has them for the camera path and, as `<name>_check`, for its check."""
SIGNAL_TYPES = _TYPES | {f"{name}_check": _TYPES[name] for name in (*CHECKED, *MADE_ON_BOTH_PATHS)}
"""The type of every signal, by name. `depth_patches` is depth in patches that several views confirm: it gives ranges,
no edges and no extents. Its unit is that of `camera_path`; that of `depth_patches_check` is that of
`camera_path_check`. `zooming_path` is the camera path of a clip whose focal length changes: what takes one camera for
the whole clip cannot take it for a `camera_path`."""
