"""Poses of the frames between keyframes: tracks are triangulated, and PnP registers each frame to their points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.intrinsics import Intrinsics
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.pose_covariance import pixels_by_pose


@dataclass(frozen=True, kw_only=True)
class RegistrationSettings:
    """Pixels are those of the working size."""

    min_angle_rad: float = np.deg2rad(1.5)
    """Smallest triangulation angle of a track; below it the depth is noise (COLMAP's own filter)."""
    track_error_px: float = 2.0
    """Largest reprojection error of a track in any keyframe: tracks drift 0.3 px in 30 frames."""
    ransac_px: float = 3.0
    """PnP's inlier threshold."""
    min_inliers: int = 20
    """Smallest number of PnP inliers."""
    min_inlier_share: float = 0.6
    """Smallest inlier share of a frame's tracks: the others would have to move."""
    min_residual_px: float = 0.3
    """Floor of the pixel noise behind the formal σ: no tracker is more accurate over a clip."""


@dataclass(frozen=True, kw_only=True)
class FramePoses:
    """Camera poses of all frames of a clip, in the world of a reconstruction."""

    cam_from_world: Float64[np.ndarray, "n 4 4"]
    """NaN where not registered."""
    rotation_sigma_rad: Float64[np.ndarray, "n"]
    """Formal, per axis, largest axis; points taken as exact."""
    position_sigma: Float64[np.ndarray, "n"]
    """Likewise, in the unit of the reconstruction."""


def register_frames(
    sparse: SparseReconstruction,
    keyframes: Int64[np.ndarray, "k"],
    xy_px: Float32[np.ndarray, "t n 2"],
    settings: RegistrationSettings,
) -> FramePoses:
    """Poses of the keyframes (`keyframes`: column of each place) and, by PnP on tracks, of all other frames."""
    count = xy_px.shape[1]
    columns = keyframes[sparse.places]
    poses = np.full((count, 4, 4), np.nan)
    sigmas = np.full((count, 2), np.nan)
    poses[columns] = sparse.cam_from_world
    for place, column in zip(sparse.places, columns, strict=True):
        seen = sparse.place == place
        sigmas[column] = pose_sigmas(
            sparse.camera, poses[column], sparse.xyz_world[sparse.point[seen]], sparse.xy_px[seen], settings
        )
    xyz = triangulate_tracks(sparse, xy_px[:, columns].astype(np.float64), settings)
    for column in np.setdiff1d(np.arange(count), columns):
        usable = np.isfinite(xyz[:, 0]) & np.isfinite(xy_px[:, column, 0])
        registered = _register(sparse.camera, xy_px[usable, column].astype(np.float64), xyz[usable], settings)
        if registered is not None:
            poses[column], inlier = registered
            seen_xyz, seen_xy = xyz[usable][inlier], xy_px[usable, column][inlier].astype(np.float64)
            sigmas[column] = pose_sigmas(sparse.camera, poses[column], seen_xyz, seen_xy, settings)
    return FramePoses(cam_from_world=poses, rotation_sigma_rad=sigmas[:, 0], position_sigma=sigmas[:, 1])


def triangulate_tracks(
    sparse: SparseReconstruction, xy_px: Float64[np.ndarray, "t k 2"], settings: RegistrationSettings
) -> Float64[np.ndarray, "t 3"]:
    """Points of tracks seen in the keyframes: least squares over rays; NaN unless all rays meet."""
    seen = np.isfinite(xy_px[..., 0])
    world_from_cam = np.linalg.inv(sparse.cam_from_world)
    ray = np.einsum("kij,tkj->tki", world_from_cam[:, :3, :3], sparse.camera.rays(np.nan_to_num(xy_px)))
    centre = world_from_cam[:, :3, 3]
    across = (np.eye(3) - ray[..., :, None] * ray[..., None, :]) * seen[..., None, None]
    weight = np.ones(seen.shape)
    for _ in range(2):  # the second pass weighs by 1/range², so that pixels count, not metres
        normal = np.einsum("tk,tkij->tij", weight, across)
        normal += (1e-9 * np.trace(normal, axis1=1, axis2=2) + 1e-12)[:, None, None] * np.eye(3)  # never singular
        side = np.einsum("tk,tkij,kj->ti", weight, across, centre)
        xyz = np.linalg.solve(normal, side[..., None])[..., 0]
        away = np.sum((xyz[:, None] - centre) ** 2, axis=-1)
        weight = 1 / np.maximum(away / away.mean(axis=1, keepdims=True), 1e-6)
    in_cam = np.einsum("kij,tkj->tki", sparse.cam_from_world[:, :3, :3], xyz[:, None] - centre)
    error = np.linalg.norm(sparse.camera.project(in_cam) - xy_px, axis=-1)
    good = np.all(~seen | (error < settings.track_error_px), axis=1) & (seen.sum(axis=1) >= 2)
    good &= widest_angle(np.where(seen[..., None], ray, np.nan)) >= settings.min_angle_rad
    return np.where(good[:, None], xyz, np.nan)


def widest_angle(ray: Float64[np.ndarray, "t k 3"]) -> Float64[np.ndarray, "t"]:
    """Largest angle between two unit rays of each row; NaN rays do not count."""
    cosine = np.einsum("tki,tli->tkl", ray, ray)
    least = np.min(np.where(np.isnan(cosine), 1.0, cosine), axis=(1, 2))
    return np.asarray(np.arccos(np.clip(least, -1, 1)))


def _register(
    camera: Intrinsics, xy: Float64[np.ndarray, "m 2"], xyz: Float64[np.ndarray, "m 3"], settings: RegistrationSettings
) -> tuple[Float64[np.ndarray, "4 4"], Bool[np.ndarray, "m"]] | None:
    import pycolmap

    if len(xy) < settings.min_inliers:
        return None
    ransac = {"max_error": settings.ransac_px, "random_seed": 0, "num_threads": 1}
    found = pycolmap.estimate_and_refine_absolute_pose(xy + 0.5, xyz, colmap_camera(camera), {"ransac": ransac})
    if found is None:
        return None
    inlier = np.asarray(found["inlier_mask"], dtype=bool)
    if inlier.sum() < settings.min_inliers or inlier.mean() < settings.min_inlier_share:
        return None
    pose = np.eye(4)
    pose[:3] = found["cam_from_world"].matrix()
    return pose, inlier


def colmap_camera(camera: Intrinsics) -> Any:
    """The same camera in COLMAP's convention (pixel centres at 0.5)."""
    import pycolmap

    params = [camera.fx_px, camera.fy_px, camera.cx_px + 0.5, camera.cy_px + 0.5, camera.k1, 0.0, 0.0, 0.0]
    return pycolmap.Camera(model="OPENCV", width=camera.width_px, height=camera.height_px, params=params)


def pose_sigmas(
    camera: Intrinsics,
    cam_from_world: Float64[np.ndarray, "4 4"],
    xyz_world: Float64[np.ndarray, "m 3"],
    xy_px: Float64[np.ndarray, "m 2"],
    settings: RegistrationSettings,
) -> tuple[float, float]:
    """(rotation in radians, position): formal σ of the worst axis, from the residuals of known points."""
    in_cam = xyz_world @ cam_from_world[:3, :3].T + cam_from_world[:3, 3]
    residual = camera.project(in_cam) - xy_px
    noise = max(settings.min_residual_px, 1.4826 * float(np.nanmedian(np.abs(residual))))
    jacobian = pixels_by_pose(camera, in_cam[in_cam[:, 2] > 1e-9]).reshape(-1, 6)
    covariance = noise**2 * np.linalg.pinv(jacobian.T @ jacobian)
    rotation, position = (np.linalg.eigvalsh(covariance[k : k + 3, k : k + 3])[-1] for k in (0, 3))
    return float(np.sqrt(max(rotation, 0.0))), float(np.sqrt(max(position, 0.0)))
