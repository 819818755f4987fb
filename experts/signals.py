"""What experts measure: one frozen dataclass per signal. Imports numpy and jaxtyping only.

Frames are indices in presentation order of the clip's source; pixels are those of the upright frame at full
size, (0, 0) at the centre of the top-left pixel. Camera axes are OpenCV's (+x right, +y down, +z forward).
Signals of one clip share one world: the frame of the first registered camera (`templates.scene` levels it).
Every σ is one standard deviation. NaN means "not known", never "zero".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32, Int64

from experts.intrinsics import Intrinsics
from experts.provenance import Provenance

MotionKind = Literal["static", "rotation_only", "unresolved", "general"]


@dataclass(frozen=True, kw_only=True)
class NoEstimate:
    """An expert declines: no signal rather than a doubtful one."""

    reason: str
    """Short, stable and countable ("too little parallax"); numbers go to `detail`."""
    detail: str = ""
    """What was measured and what would have been needed."""
    remedy: str = ""
    """What the user can do about it, if anything (a flag, another recording)."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Whether lengths are metres."""

    kind: Literal["metric", "relative", "per_frame"]
    """metric: metres. relative: one unknown factor for the clip. per_frame: one for every frame."""
    relative_sigma: float | None = None
    """σ of the scale factor, relative; None unless metric."""
    source: str = ""
    """What fixed the scale ("data set", "metric model", "known baseline")."""


@dataclass(frozen=True, kw_only=True)
class ValidArea:
    """Pixels that show the scene: no constant border, no overlay burnt into the picture."""

    valid: Bool[np.ndarray, "h w"]
    """True where the scene is seen, at working size (`Clip.working_size`)."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class ImageTracks:
    """Points followed in the picture alone: no word yet on visibility or motion in the world."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    xy_px: Float32[np.ndarray, "t n 2"]
    """Pixel of each track in each frame; NaN where it is not followed."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class CameraPath:
    """Where the camera was."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """Camera-to-world. All NaN where not registered. The translation column is NaN where only rotation is known."""
    registered: Bool[np.ndarray, "n"]
    """Whether the frame has a rotation (and, for `motion == "general"`, a position)."""
    keyframe: Bool[np.ndarray, "n"]
    """Frames that took part in the joint estimate; the others were added one by one."""
    intrinsics: Intrinsics
    """One camera for the whole clip."""
    focal_relative_sigma: float
    """σ_f / f, systematic part included."""
    motion: MotionKind
    """static: does not move. rotation_only: turns about its centre. unresolved: rotation known, whether and where
    it travels is not. general: rotation and position known (up to `scale`)."""
    rotation_sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the rotation between this frame and any other frame of the path (focal part excluded)."""
    position_sigma: Float64[np.ndarray, "n"]
    """Formal σ per axis of the position, in path units; NaN where there is no position."""
    direction_sigma_rad: float
    """Systematic σ per component of a direction between two positions."""
    scale: Scale
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The camera itself, measured without its path."""

    intrinsics: Intrinsics
    """One camera for the whole clip."""
    focal_relative_sigma: float
    """σ_f / f."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class SparsePoints:
    """Static scene points seen from several frames, with the pixels where they were seen."""

    xyz_world: Float64[np.ndarray, "p 3"]
    """Positions, in the path's units."""
    range_relative_sigma: Float64[np.ndarray, "p"]
    """σ of range / range, from the nearest observing camera: systematic floor ⊕ triangulation."""
    triangulation_angle_rad: Float64[np.ndarray, "p"]
    """Largest angle between two rays to the point."""
    outlier_probability: Float64[np.ndarray, "p"]
    """Probability that the point is plainly wrong (bad matches, moving object)."""
    observation_point: Int64[np.ndarray, "o"]
    """Row of `xyz_world` seen by each observation."""
    observation_frame: Int64[np.ndarray, "o"]
    """Frame index of each observation."""
    observation_xy_px: Float64[np.ndarray, "o 2"]
    """Pixel of each observation."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class PointTracks:
    """Points followed through the clip."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    xy_px: Float64[np.ndarray, "t n 2"]
    """Pixel of each track in each frame; NaN where it is not followed."""
    visible: Bool[np.ndarray, "t n"]
    """Whether the point itself is seen there: by geometry, not by the tracker's own word."""
    sigma_px: Float64[np.ndarray, "t n"]
    """σ per axis of `xy_px`."""
    outlier_probability: Float64[np.ndarray, "t"]
    """Probability that the track slid onto something else."""
    motion: Int32[np.ndarray, "t"]
    """1 moves in the world, 0 does not, -1 cannot be told."""
    residual_px: Float64[np.ndarray, "t"]
    """Median distance to where a static point could be, over `pairs` frame pairs; NaN if not measured."""
    moving_pairs: Int32[np.ndarray, "t"]
    """How many frame pairs show ≥ 6 px (at 640 px width) of motion that no static point can have."""
    parallax_px: Float64[np.ndarray, "t"]
    """How far motion of the point in the world would have shown: the clip's parallax at this point."""
    provenance: Provenance
    xyz_world: Float32[np.ndarray, "t n 3"] | None = None
    """Place of each track in each frame, in the path's world and units; NaN where not known. None: 2-D only."""


@dataclass(frozen=True, kw_only=True)
class Matches:
    """The same scene point in two frames, found by descriptors and held against a second, independent way."""

    pairs: Int64[np.ndarray, "k 2"]
    """Frame indices (a, b) of each matched pair of frames."""
    pair: Int64[np.ndarray, "m"]
    """Row of `pairs` of each match."""
    xy_a_px: Float64[np.ndarray, "m 2"]
    """Pixel in frame a."""
    xy_b_px: Float64[np.ndarray, "m 2"]
    """Pixel in frame b."""
    sigma_px: Float64[np.ndarray, "m"]
    """σ per axis of `xy_b_px`."""
    outlier_probability: Float64[np.ndarray, "m"]
    """Probability that it is another point: < 0.005 only where two independent ways agree."""
    confirmed_by: Int32[np.ndarray, "m"]
    """0 nothing, 1 track, 2 reprojection of the 3-D point, 3 homography of a turning camera, 4 there and back again
    over the depth of both frames."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Gravity:
    """Which way is up, per frame. A level camera has up_cam = (0, -1, 0)."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    up_cam: Float64[np.ndarray, "n 3"]
    """Unit vector towards the sky in camera axes; NaN where not known."""
    sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of the direction."""
    decided_by: str
    """What says which axis is up: "data set", an expert's name, or "--upright"."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Depth:
    """Dense depth along the viewing axis (z, not range)."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    z: Float32[np.ndarray, "n h w"]
    """Depth in the path's units; NaN where unknown. May be smaller than the frame (pixel centres at integers)."""
    relative_sigma: Float32[np.ndarray, "n h w"]
    """σ_z / z of each pixel, scale excluded; NaN where z is."""
    scale: Scale
    provenance: Provenance
    outlier_probability: float = 0.0
    """Probability that a pixel's depth is plainly wrong (another surface, an invented one); 0 for measured depth."""


@dataclass(frozen=True, kw_only=True)
class Objects:
    """Things, where they are in the picture and how they stand in the world."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    labels: tuple[str, ...]
    """Name of object k."""
    ids: Int32[np.ndarray, "n h w"]
    """Object per pixel, -1 for none. May be smaller than the frame."""
    world_from_object: Float64[np.ndarray, "n k 4 4"]
    """Pose of object k in frame n: the middle and axes of its box; NaN where unknown. A thing that stands still has
    one pose in all frames."""
    provenance: Provenance
    size: Float64[np.ndarray, "k 3"] | None = None
    """Sides of the box along its axes, in path units; NaN where unknown."""
    centre_sigma: Float64[np.ndarray, "k"] | None = None
    """σ per axis of the middle of the box, in path units; NaN where unknown."""
    size_sigma: Float64[np.ndarray, "k 3"] | None = None
    """σ of each side, in path units; NaN where unknown. A side that is seen from one end only has inf."""
    score: Float32[np.ndarray, "n k"] | None = None
    """The detector's own confidence, 0 to 1; NaN where it does not see the thing."""


@dataclass(frozen=True, kw_only=True)
class ObjectOrientation:
    """Which way things face. Angles are those of Orient Anything, seen along the ray to the object's middle."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending: a subset of the objects' frames."""
    azimuth_rad: Float64[np.ndarray, "n k"]
    """0 faces the camera, π/2 the front points to the picture's left, π away, 3π/2 right; NaN where unknown."""
    polar_rad: Float64[np.ndarray, "n k"]
    """> 0: the camera is above the object."""
    rotation_rad: Float64[np.ndarray, "n k"]
    """> 0: the object is turned counter-clockwise in the picture."""
    sigma_rad: Float64[np.ndarray, "n k 3"]
    """σ of azimuth, polar and rotation."""
    cam_from_object: Float64[np.ndarray, "n k 3 3"]
    """Turns object axes (x front, y left, z up) into camera axes (OpenCV); NaN where unknown."""
    fronts: Int32[np.ndarray, "n k"]
    """Number of fronts: 1; 2 or 4 where it looks alike after a half or a quarter turn; 0 none (a ball); -1 unknown."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far independent estimates of one clip are apart: what two experts say of the same signal."""

    compared: tuple[str, ...]
    """What was held against what ("camera_path: depth_anything_3, colmap")."""
    spread: dict[str, float]
    """σ to add, by quantity: "rotation_rad", "direction_rad", "position_share" (of the scene's median range),
    "depth_relative", "up_rad", "focal_relative"."""
    refused: dict[str, str]
    """Signals on which nothing may rest, and why, in few words."""
    provenance: Provenance


Signal = (
    ValidArea
    | ImageTracks
    | CameraPath
    | Calibration
    | SparsePoints
    | PointTracks
    | Matches
    | Gravity
    | Depth
    | Objects
    | ObjectOrientation
    | Agreement
)
Signals = Mapping[str, Signal | NoEstimate]

_TYPES: dict[str, type] = {
    "valid_area": ValidArea,
    "image_tracks": ImageTracks,
    "camera_path": CameraPath,
    "calibration": Calibration,
    "sparse_points": SparsePoints,
    "tracks": PointTracks,
    "matches": Matches,
    "gravity": Gravity,
    "depth": Depth,
    "objects": Objects,
    "object_orientation": ObjectOrientation,
    "agreement": Agreement,
}
CHECKED = ("camera_path", "sparse_points", "depth", "gravity")
"""Signals of which a second, independent estimate may be at hand, called `<name>_check`: a label must hold on both."""
WORLD_BOUND = frozenset({"camera_path", "sparse_points", "depth", "objects"})
"""Signals that hold positions: those of one scene must share a world and a unit."""
SIGNAL_TYPES = _TYPES | {f"{name}_check": _TYPES[name] for name in CHECKED}
"""Every signal by name."""
