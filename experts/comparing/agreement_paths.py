"""Error between two camera paths of one clip, each in its own world and unit."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Depth, SparsePoints

_MOST_FRAMES = 150
"""All pairs of at most this many frames are compared; more give the same result."""


@dataclass(frozen=True, kw_only=True)
class PathLimits:
    """Beyond these limits two paths show different motions, and neither is used. The median error is tested: a few
    misplaced frames do not invalidate a path, and each question is measured on both paths anyway."""

    rotation_rad: float = np.deg2rad(5.0)
    """Rotation error after the best common rotation: the widest tolerance of a rotation question (`MaxTolerances`)."""
    direction_rad: float = np.deg2rad(15.0)
    """Angle between translations from frame to frame: the widest tolerance of a direction question."""
    position_share: float = 0.10
    """Position error after scale and shift, as a share of the median range: twice the limit between two COLMAP
    reconstructions (`SystematicSigma`)."""
    translation_share: float = 0.05
    """A path with a smaller extent than this share of the median range does not contradict a path without
    translation."""
    min_translation_share: float = 0.3
    """Directions are compared over translations of at least this share of the longest one."""
    min_frames: int = 3
    """Smallest number of common frames."""


@dataclass(frozen=True, kw_only=True)
class PathError:
    """Differences between two paths; NaN where one of them does not determine the quantity."""

    rotation_rad: float
    """Root mean square per axis of the remaining rotation error."""
    direction_rad: float
    """Root mean square per component of the angle between translation directions."""
    position: float
    """Root mean square per axis of the position error, in the first path's unit."""
    contradiction: str = ""
    """Short reason why the two show different motions; empty if they agree."""


def compare_paths(a: CameraPath, b: CameraPath, median_range: float, limits: PathLimits) -> PathError | None:
    """Compares two paths over the frames that both register. None: too few common frames.

    The worlds are aligned by the camera rotations, not by a Sim(3) of the camera centres: centres on a line leave one
    rotation undetermined, and centres in a plane also fit their own mirror image.
    """
    row_a, row_b = common_rows(a, b)
    if len(row_a) < limits.min_frames:
        return None
    pose_a, pose_b = a.world_from_cam[row_a], b.world_from_cam[row_b]
    aligning, residual = _aligning_rotation(pose_a[:, :3, :3], pose_b[:, :3, :3], limits.rotation_rad)
    rotation_rad = float(np.sqrt(np.mean(residual**2) / 3))
    contradiction = "two camera paths disagree" if np.median(residual) > limits.rotation_rad else ""
    centre, other = pose_a[:, :3, 3], aligning.apply(np.nan_to_num(pose_b[:, :3, 3]))
    translates = [path.motion == "general" for path in (a, b)]
    if not all(translates):
        stays = any(path.motion in ("static", "rotation_only") for path in (a, b))
        extent = _extent(centre if translates[0] else pose_b[:, :3, 3]) if any(translates) else 0.0
        if stays and translates[0] and extent > limits.translation_share * median_range:
            contradiction = "the camera translates in one of two paths"
        return PathError(rotation_rad=rotation_rad, direction_rad=np.nan, position=np.nan, contradiction=contradiction)
    distance = _distances(centre, other)
    angle = _angles(centre, other, limits.min_translation_share)
    if np.median(distance) > limits.position_share * median_range or np.median(angle) > limits.direction_rad:
        contradiction = "two camera paths disagree"
    return PathError(
        rotation_rad=rotation_rad,
        direction_rad=float(np.sqrt(np.mean(angle**2) / 2)),
        position=float(np.sqrt(np.mean(distance**2) / 3)),
        contradiction=contradiction,
    )


def scale_between(a: CameraPath, b: CameraPath) -> float:
    """Units of `a` per unit of `b`: median ratio of distances between positions. NaN where either path has no
    translation."""
    row_a, row_b = common_rows(a, b)
    if len(row_a) < 2 or a.motion != "general" or b.motion != "general":
        return np.nan
    return _scale(a.world_from_cam[row_a, :3, 3], b.world_from_cam[row_b, :3, 3])


def common_rows(a: CameraPath, b: CameraPath) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
    """Rows of the frames that both paths register, evenly subsampled."""
    _, row_a, row_b = np.intersect1d(a.frames, b.frames, return_indices=True)
    both = a.registered[row_a] & b.registered[row_b]
    row_a, row_b = row_a[both], row_b[both]
    at = np.unique(np.linspace(0, max(len(row_a) - 1, 0), min(_MOST_FRAMES, len(row_a))).round().astype(np.int64))
    return row_a[at], row_b[at]


def median_range(path: CameraPath, depth: Depth | None, points: SparsePoints | None) -> float:
    """Median range of the scene in the path's unit: from dense depth, else from sparse points, else the extent of the
    path."""
    if depth is not None and np.isfinite(depth.z).any():
        return float(np.nanmedian(depth.z[:: 1 + len(depth.z) // 12, ::4, ::4]))
    centre = path.world_from_cam[:, :3, 3]
    centre = centre[np.isfinite(centre).all(axis=1)]
    if points is not None and len(points.xyz_world) and len(centre):
        return float(np.median(np.linalg.norm(points.xyz_world - np.median(centre, axis=0), axis=1)))
    return _extent(centre) if len(centre) else np.nan


def _aligning_rotation(
    a: Float64[np.ndarray, "k 3 3"], b: Float64[np.ndarray, "k 3 3"], near_rad: float
) -> tuple[Rotation, Float64[np.ndarray, "k"]]:
    """The rotation of b's world that aligns the camera rotations, and the remaining angles (radians)."""
    relative = Rotation.from_matrix(a @ b.swapaxes(1, 2))
    medians = [float(np.median((one.inv() * relative).magnitude())) for one in relative]
    middle = relative[int(np.argmin(medians))]
    near = (middle.inv() * relative).magnitude() <= near_rad
    aligning = relative[near].mean()
    return aligning, np.asarray((aligning.inv() * relative).magnitude())


def _scale(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"]) -> float:
    one, other = pdist(a), pdist(b)
    moved = (other > 0.1 * other.max()) & (one > 0)
    return float(np.exp(np.median(np.log(one[moved] / other[moved])))) if moved.any() else np.nan


def _distances(a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"]) -> Float64[np.ndarray, "k"]:
    """Distances between positions after scale and shift. The shift is a median, so that a few misplaced frames do not
    bias it."""
    offset = a - _scale(a, b) * b
    return np.asarray(np.linalg.norm(offset - np.median(offset, axis=0), axis=1))


def _angles(
    a: Float64[np.ndarray, "k 3"], b: Float64[np.ndarray, "k 3"], min_translation_share: float
) -> Float64[np.ndarray, "m"]:
    """Angles between the translations from frame to frame, of those that are long in both paths."""
    first, second = np.triu_indices(len(a), k=1)
    one, other = a[second] - a[first], b[second] - b[first]
    length, other_length = np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1)
    long = (length >= min_translation_share * length.max()) & (
        other_length >= min_translation_share * other_length.max()
    )
    if not long.any():
        return np.array([np.pi])
    cosine = np.sum(one[long] * other[long], axis=1) / (length[long] * other_length[long])
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)))


def _extent(centre: Float64[np.ndarray, "k 3"]) -> float:
    return float(np.linalg.norm(np.ptp(centre, axis=0)))
