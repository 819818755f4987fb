"""What a wrong focal length does to a reconstruction: ranges, and directions and rotations between keyframes."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.mapping.bundle_adjustment import adjusted, one_group, seen_twice
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.reconstruction_checks import ranges

_STEP = 0.02
"""Change of ln focal length by which its effect is measured."""
_LEAST_TURN_RAD = 1e-3
_FAR = 0.3
"""Least distance between two keyframes whose direction is compared, as a share of the largest one; least rotation."""


@dataclass(frozen=True, kw_only=True)
class FocalEffect:
    """Derivatives of a reconstruction by the ln of its focal length."""

    ln_range: Float64[np.ndarray, "p"]
    """Of the range of each point, relative to the median point; 0 where no keyframe sees it."""
    direction_rad: float
    """Of the directions between keyframes: median of their absolute values."""
    rotation: float
    """Of the rotations between keyframes, over their angles: root mean square. About 1 for a camera that only turns."""


def focal_effect(sparse: SparseReconstruction) -> FocalEffect:
    """Poses and points are adjusted to a camera with a slightly longer focal length."""
    camera, factor = sparse.camera, np.exp(_STEP)
    longer = replace(sparse, camera=replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor))
    reconstruction, _ = adjusted(longer, one_group(sparse), "SIMPLE_RADIAL", free_focal=False)
    cam_from_world, xyz_world = sparse.cam_from_world.copy(), sparse.xyz_world.copy()
    for row, (_, image) in enumerate(sorted(reconstruction.images.items())):
        cam_from_world[row, :3] = image.cam_from_world().matrix()
    xyz_world[seen_twice(sparse)] = [point.xyz for _, point in sorted(reconstruction.points3D.items())]
    there = replace(sparse, cam_from_world=cam_from_world, xyz_world=xyz_world)
    ln_ratio = np.log(ranges(there) / ranges(sparse))
    observations = np.bincount(sparse.point, minlength=len(xyz_world))
    ln_range = np.bincount(sparse.point, ln_ratio, len(xyz_world)) / np.maximum(observations, 1)
    ln_range = np.where(observations > 0, ln_range - np.median(ln_range[observations > 0]), 0.0)
    before, after = _offsets(sparse), _offsets(there)
    length, new_length = (np.linalg.norm(offset, axis=1) for offset in (before, after))
    far = length >= _FAR * length.max()
    turned = np.linalg.norm((after / new_length[:, None] - before / length[:, None])[far], axis=1)
    return FocalEffect(
        ln_range=ln_range / _STEP,
        direction_rad=float(np.median(turned)) / _STEP,
        rotation=_rotation_change(sparse, there) / _STEP,
    )


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
