"""What a wrong focal length or principal point does to a reconstruction: to ranges and positions, and to directions,
distances and rotations between keyframes."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.bundle_adjustment import adjusted, one_group, seen_twice
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.reconstruction_checks import ranges

_STEP = 0.02
"""Change of ln focal length, and of the principal point over the focal length, by which their effect is measured."""
_LEAST_TURN_RAD = 1e-3
_FAR = 0.3
"""Least distance between two keyframes whose direction is compared, as a share of the largest one; rotations alike."""


@dataclass(frozen=True, kw_only=True)
class CameraEffect:
    """Derivatives of a reconstruction by the ln of its focal length, and by either coordinate of its principal point
    over the focal length."""

    ln_range: Float64[np.ndarray, "p"]
    """Of the range of each point, relative to the median point; 0 where no keyframe sees it."""
    position: Float64[np.ndarray, "k 3 3"]
    """Of the position of each keyframe, in the unit and the world of the reconstruction, by the focal length and by
    either coordinate of the principal point (middle axis). The median range stays as it is, and so do the cameras'
    rotations on average; only differences between keyframes mean something."""
    direction_rad: float
    """Of the directions between keyframes, per component: the median of the changes over √2."""
    rotation: float
    """Of the rotations between keyframes, over their angles: root mean square. About 1 for a camera that only turns."""
    ln_travel: float
    """Of the distances between keyframes, relative to the median range: root mean square."""
    ln_range_by_centre: Float64[np.ndarray, "p 2"]
    """As `ln_range`, by the principal point."""
    ln_travel_by_centre: Float64[np.ndarray, "2"]
    """As `ln_travel`, by the principal point."""
    direction_by_centre_rad: Float64[np.ndarray, "2"]
    """As `direction_rad`, by the principal point."""
    rotation_by_centre: Float64[np.ndarray, "2"]
    """As `rotation`, by the principal point."""


def camera_effect(sparse: SparseReconstruction, free_lens: bool) -> CameraEffect:
    """Poses and points are adjusted to a camera with a slightly longer focal length, and to two whose principal point
    is displaced.

    `free_lens`: the distortion is adjusted as well, as where it was estimated. It makes up for much of a wrong focal
    length: in four rendered rooms 1 % of the focal length changes rotations by 0.03 to 0.19 % of their angle, with a
    fixed distortion by 0.56 to 1.14 %.
    """
    camera, factor = sparse.camera, np.exp(_STEP)
    shift_px = _STEP * camera.fx_px
    cameras = (
        replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor),
        replace(camera, cx_px=camera.cx_px + shift_px),
        replace(camera, cy_px=camera.cy_px + shift_px),
    )
    longer, *displaced = (_adjusted_to(sparse, each, free_lens) for each in cameras)
    return CameraEffect(
        ln_range=_ln_range(sparse, longer) / _STEP,
        position=np.stack([_position_change(sparse, each) for each in (longer, *displaced)], axis=1) / _STEP,
        direction_rad=_direction_change_rad(sparse, longer) / _STEP,
        rotation=_rotation_change(sparse, longer) / _STEP,
        ln_travel=_ln_travel(sparse, longer) / _STEP,
        ln_range_by_centre=np.stack([_ln_range(sparse, each) for each in displaced], axis=1) / _STEP,
        ln_travel_by_centre=np.array([_ln_travel(sparse, each) for each in displaced]) / _STEP,
        direction_by_centre_rad=np.array([_direction_change_rad(sparse, each) for each in displaced]) / _STEP,
        rotation_by_centre=np.array([_rotation_change(sparse, each) for each in displaced]) / _STEP,
    )


def _adjusted_to(sparse: SparseReconstruction, camera: Intrinsics, free_lens: bool) -> SparseReconstruction:
    """Poses and points that fit the pictures best if they were taken with this camera; `camera` itself is not kept."""
    moved = replace(sparse, camera=camera)
    reconstruction, _ = adjusted(moved, one_group(sparse), "SIMPLE_RADIAL", free_focal=False, free_lens=free_lens)
    cam_from_world, xyz_world = sparse.cam_from_world.copy(), sparse.xyz_world.copy()
    for row, (_, image) in enumerate(sorted(reconstruction.images.items())):
        cam_from_world[row, :3] = image.cam_from_world().matrix()
    xyz_world[seen_twice(sparse)] = [point.xyz for _, point in sorted(reconstruction.points3D.items())]
    return replace(sparse, cam_from_world=cam_from_world, xyz_world=xyz_world)


def _ln_range(before: SparseReconstruction, after: SparseReconstruction) -> Float64[np.ndarray, "p"]:
    """Mean change of the ln range of each point, relative to the median point; 0 where no keyframe sees it."""
    points = len(before.xyz_world)
    observations = np.bincount(before.point, minlength=points)
    ln_ratio = np.log(ranges(after) / ranges(before))
    ln_range = np.bincount(before.point, ln_ratio, points) / np.maximum(observations, 1)
    return np.where(observations > 0, ln_range - np.median(ln_range[observations > 0]), 0.0)


def _position_change(before: SparseReconstruction, after: SparseReconstruction) -> Float64[np.ndarray, "k 3"]:
    """Change of the position of each keyframe, apart from one shift, after the rotation that aligns the cameras and the
    scaling that keeps the median range."""
    old, new = (np.linalg.inv(each.cam_from_world) for each in (before, after))
    aligning = Rotation.from_matrix(old[:, :3, :3] @ new[:, :3, :3].swapaxes(1, 2)).mean()
    scale = np.exp(np.median(np.log(ranges(before) / ranges(after))))
    return np.asarray(scale * aligning.apply(new[:, :3, 3]) - old[:, :3, 3])


def _ln_travel(before: SparseReconstruction, after: SparseReconstruction) -> float:
    """Change of the ln distances between keyframes, relative to the median ln range: root mean square."""
    old, new = (np.linalg.norm(_offsets(each)[_far_pairs(before)], axis=1) for each in (before, after))
    scale = np.median(np.log(ranges(after) / ranges(before)))
    return float(np.sqrt(np.mean((np.log(new / old) - scale) ** 2)))


def _direction_change_rad(before: SparseReconstruction, after: SparseReconstruction) -> float:
    """Change of the directions between keyframes, per component: the median over √2."""
    old, new = (_units(_offsets(each))[_far_pairs(before)] for each in (before, after))
    return float(np.median(np.linalg.norm(new - old, axis=1)) / np.sqrt(2))


def _far_pairs(sparse: SparseReconstruction) -> Bool[np.ndarray, "q"]:
    """Pairs of keyframes that lie far enough from each other for a direction and a distance."""
    length = np.linalg.norm(_offsets(sparse), axis=1)
    return np.asarray(length >= _FAR * length.max())


def _units(offset: Float64[np.ndarray, "q 3"]) -> Float64[np.ndarray, "q 3"]:
    with np.errstate(invalid="ignore"):  # two keyframes at one place are no far pair
        return offset / np.linalg.norm(offset, axis=1, keepdims=True)


def _rotation_change(before: SparseReconstruction, after: SparseReconstruction) -> float:
    """Change of the rotations from each keyframe to each later one, over their angles; 0 where no camera turns."""
    first, second = np.triu_indices(len(before.places), 1)
    old, new = (
        Rotation.from_matrix(each[first] @ each[second].swapaxes(1, 2))
        for each in (before.cam_from_world[:, :3, :3], after.cam_from_world[:, :3, :3])
    )
    angle = old.magnitude()
    far = angle >= max(_FAR * angle.max(), _LEAST_TURN_RAD)
    return float(np.sqrt(np.mean(((old.inv() * new).magnitude()[far] / angle[far]) ** 2))) if far.any() else 0.0


def _offsets(sparse: SparseReconstruction) -> Float64[np.ndarray, "q 3"]:
    """From each keyframe to each later one, in its camera axes."""
    first, second = np.triu_indices(len(sparse.places), 1)
    second_in_first = sparse.cam_from_world[first] @ np.linalg.inv(sparse.cam_from_world)[second]
    return np.asarray(second_in_first[:, :3, 3])
