"""How far two camera paths of one clip are apart, each in its own world and unit."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Depth, SparsePoints

_MOST_FRAMES = 150
"""Frames of which all pairs are compared; more say the same."""


@dataclass(frozen=True, kw_only=True)
class PathLimits:
    """Beyond these two paths show different motions, and neither is believed. Of what is compared, the median counts:
    a few misplaced frames are no matter of the whole path, and each question is measured on both anyway."""

    turn_rad: float = np.deg2rad(5.0)
    """After the best common rotation: as wide as the widest tolerance for a turn (`MaxTolerances`)."""
    direction_rad: float = np.deg2rad(15.0)
    """Between ways from frame to frame: as wide as the widest tolerance for a direction."""
    position_share: float = 0.10
    """After scale and shift, of the median range: twice what joins two maps of COLMAP (`map_signals.PathFloors`)."""
    travel_share: float = 0.05
    """A path whose positions spread over less than this share of the median range does not contradict one that says
    that the camera stays in its place."""
    least_way: float = 0.3
    """Directions are compared over ways of at least this share of the longest one."""
    least_frames: int = 3
    """Fewer frames in common say nothing."""


@dataclass(frozen=True, kw_only=True)
class PathsApart:
    """Differences of two paths; NaN where one of them does not say."""

    turn_rad: float
    """Root mean square per axis of what is left between rotations."""
    direction_rad: float
    """Root mean square per component between directions of ways."""
    position: float
    """Root mean square per axis between positions, in the first path's unit."""
    contradiction: str = ""
    """In few words; empty if the two show the same motion."""


def paths_apart(a: CameraPath, b: CameraPath, median_range: float, limits: PathLimits) -> PathsApart | None:
    """Compares two paths over the frames that both register; None if these are too few.

    The worlds are joined by the cameras' rotations, not by a Sim(3) of their centres: centres on a line leave a turn
    open, and centres in a plane are as well their own mirror image, which a half turn makes fit.
    """
    row_a, row_b = common_rows(a, b)
    if len(row_a) < limits.least_frames:
        return None
    pose_a, pose_b = a.world_from_cam[row_a], b.world_from_cam[row_b]
    joint, turn = _joined_rotations(pose_a[:, :3, :3], pose_b[:, :3, :3], limits.turn_rad)
    turned = float(np.sqrt(np.mean(turn**2) / 3))
    contradiction = "two camera paths disagree" if np.median(turn) > limits.turn_rad else ""
    centre, other = pose_a[:, :3, 3], joint.apply(np.nan_to_num(pose_b[:, :3, 3]))
    travels = [path.motion == "general" for path in (a, b)]
    if not all(travels):
        stays = any(path.motion in ("static", "rotation_only") for path in (a, b))
        spread = _extent(centre if travels[0] else pose_b[:, :3, 3]) if any(travels) else 0.0
        if stays and travels[0] and spread > limits.travel_share * median_range:
            contradiction = "the camera travels in one of two paths"
        return PathsApart(turn_rad=turned, direction_rad=np.nan, position=np.nan, contradiction=contradiction)
    distance = _distances(centre, other)
    angle = _angles(centre, other, limits.least_way)
    if np.median(distance) > limits.position_share * median_range or np.median(angle) > limits.direction_rad:
        contradiction = "two camera paths disagree"
    return PathsApart(
        turn_rad=turned,
        direction_rad=float(np.sqrt(np.mean(angle**2) / 2)),
        position=float(np.sqrt(np.mean(distance**2) / 3)),
        contradiction=contradiction,
    )


def scale_between(a: CameraPath, b: CameraPath) -> float:
    """Units of `a` in one of `b`: median ratio of distances between positions; NaN where either does not travel."""
    row_a, row_b = common_rows(a, b)
    if len(row_a) < 2 or a.motion != "general" or b.motion != "general":
        return np.nan
    return _scale(a.world_from_cam[row_a, :3, 3], b.world_from_cam[row_b, :3, 3])


def common_rows(a: CameraPath, b: CameraPath) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
    """Rows of the frames that both paths register, evenly thinned."""
    _, row_a, row_b = np.intersect1d(a.frames, b.frames, return_indices=True)
    both = a.registered[row_a] & b.registered[row_b]
    row_a, row_b = row_a[both], row_b[both]
    at = np.unique(np.linspace(0, max(len(row_a) - 1, 0), min(_MOST_FRAMES, len(row_a))).round().astype(np.int64))
    return row_a[at], row_b[at]


def median_range(path: CameraPath, depth: Depth | None, points: SparsePoints | None) -> float:
    """Of the scene, in the path's unit: of dense depth, or else of sparse points, or else the extent of the path."""
    if depth is not None and np.isfinite(depth.z).any():
        return float(np.nanmedian(depth.z[:: 1 + len(depth.z) // 12, ::4, ::4]))
    centre = path.world_from_cam[:, :3, 3]
    centre = centre[np.isfinite(centre).all(axis=1)]
    if points is not None and len(points.xyz_world) and len(centre):
        return float(np.median(np.linalg.norm(points.xyz_world - np.median(centre, axis=0), axis=1)))
    return _extent(centre) if len(centre) else np.nan


def _joined_rotations(
    a: Float64[np.ndarray, "k 3 3"], b: Float64[np.ndarray, "k 3 3"], near_rad: float
) -> tuple[Rotation, Float64[np.ndarray, "k"]]:
    """The rotation of b's world that makes the cameras look alike, and what it leaves (radians)."""
    relative = Rotation.from_matrix(a @ b.swapaxes(1, 2))
    medians = [float(np.median((one.inv() * relative).magnitude())) for one in relative]
    middle = relative[int(np.argmin(medians))]
    near = (middle.inv() * relative).magnitude() <= near_rad
    joint = relative[near].mean()
    return joint, np.asarray((joint.inv() * relative).magnitude())


def _scale(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"]) -> float:
    one, other = pdist(a), pdist(b)
    moved = (other > 0.1 * other.max()) & (one > 0)
    return float(np.exp(np.median(np.log(one[moved] / other[moved])))) if moved.any() else np.nan


def _distances(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"]) -> Float64[np.ndarray, "k"]:
    """Between positions after scale and shift; shift by the median, so that a few misplaced frames do not bend it."""
    apart = a - _scale(a, b) * b
    return np.asarray(np.linalg.norm(apart - np.median(apart, axis=0), axis=1))


def _angles(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"], least_way: float) -> Float64[np.ndarray, "m"]:
    """Between the ways from frame to frame, of those that are long in both."""
    first, second = np.triu_indices(len(a), k=1)
    one, other = a[second] - a[first], b[second] - b[first]
    length, other_length = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    long = (length >= least_way * length.max()) & (other_length >= least_way * other_length.max())
    if not long.any():
        return np.array([np.pi])
    cosine = np.sum(one[long] * other[long], axis=1) / (length[long] * other_length[long])
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)))


def _extent(centre: Float64[np.ndarray, "k 3"]) -> float:
    return float(np.linalg.norm(np.ptp(centre, axis=0)))
