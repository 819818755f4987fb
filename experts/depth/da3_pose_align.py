"""Replaces `depth_anything_3.utils.pose_align`, which imports evo (GPL-3) and fails on two or on collinear cameras.

It has only what upstream's API calls, implemented with pycolmap. Camera centres that do not span a plane leave a
rotation undetermined. In that case the rotation comes from the camera rotations and the scale from the baselines.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Float64
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

_MIN_SINGULAR_RATIO = 1e-2
"""Second over first singular value of the centres below which they are collinear."""
_INLIER_SHARE = 0.1
"""A camera is an inlier if its error is below this share of the median baseline."""
_ROUNDING = 1e-5
"""Baselines below this share of the coordinates are rounding errors (float32)."""
_SEED = 0


def align_poses_umeyama(
    ext_ref: Float[np.ndarray, "n _ 4"],
    ext_est: Float[np.ndarray, "n _ 4"],
    return_aligned: bool = False,
    **ignored: Any,
) -> tuple[Any, ...]:
    """The similarity x_ref = scale · R · x_est + t between two sets of poses of the same cameras.

    Args:
        ext_ref, ext_est: cam_from_world, 3 x 4 or 4 x 4. Name and order are upstream's.
        return_aligned: also return cam_from_world (n 4 4) of `ext_est` in the world of `ext_ref`.
        ignored: sampling options of upstream.

    Returns:
        R (3 3), t (3), scale; and the aligned cameras, if requested. The scale is 1 if all cameras coincide.
    """
    reference, estimate = (_world_from_cam(cameras) for cameras in (ext_ref, ext_est))
    rotation, shift, scale = _similarity(reference, estimate)
    if not return_aligned:
        return rotation, shift, scale
    aligned = np.tile(np.eye(4), (len(estimate), 1, 1))
    aligned[:, :3, :3] = rotation @ estimate[:, :3, :3]
    aligned[:, :3, 3] = scale * estimate[:, :3, 3] @ rotation.T + shift
    return rotation, shift, scale, np.linalg.inv(aligned)


def spans_plane(centres: Float64[np.ndarray, "n 3"]) -> bool:
    """Whether points are not collinear: only then do they determine a similarity."""
    if len(centres) < 3:
        return False
    first, second, _ = np.linalg.svd(centres - centres.mean(axis=0), compute_uv=False)[:3]
    return bool(second > _MIN_SINGULAR_RATIO * first)


def _similarity(
    reference: Float64[np.ndarray, "n 4 4"], estimate: Float64[np.ndarray, "n 4 4"]
) -> tuple[Float64[np.ndarray, "3 3"], Float64[np.ndarray, "3"], float]:
    import pycolmap

    here, there = reference[:, :3, 3], estimate[:, :3, 3]
    if spans_plane(here) and spans_plane(there):
        within = _INLIER_SHARE * float(np.median(pdist(here)))
        options = pycolmap.RANSACOptions(max_error=within, min_num_trials=100, max_num_trials=1000, random_seed=_SEED)
        found = pycolmap.estimate_sim3d_robust(there, here, options)
        if found is not None and (joint := found["tgt_from_src"]).scale > 0:
            return np.asarray(joint.rotation.matrix()), np.asarray(joint.translation), float(joint.scale)
    relative = reference[:, :3, :3] @ estimate[:, :3, :3].swapaxes(1, 2)
    rotation = Rotation.from_matrix(relative).mean().as_matrix()
    scale = _baseline_ratio(here, there)
    return rotation, np.asarray(np.median(here - scale * there @ rotation.T, axis=0)), scale


def _baseline_ratio(here: Float64[np.ndarray, "n 3"], there: Float64[np.ndarray, "n 3"]) -> float:
    """Median ratio of the longer distances between cameras; 1 if all cameras coincide."""
    if len(here) < 2:
        return 1.0
    ours, theirs = pdist(here), pdist(there)
    if theirs.max() <= _ROUNDING * np.abs(there).max() or ours.max() <= _ROUNDING * np.abs(here).max():
        return 1.0
    long = (theirs > 0) & (theirs >= np.median(theirs))
    return float(np.median(ours[long] / theirs[long])) or 1.0


def _world_from_cam(cam_from_world: Float[np.ndarray, "n _ 4"]) -> Float64[np.ndarray, "n 4 4"]:
    whole = np.tile(np.eye(4), (len(cam_from_world), 1, 1))
    whole[:, :3] = cam_from_world[:, :3]
    return np.linalg.inv(whole)
