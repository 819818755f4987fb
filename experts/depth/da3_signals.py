"""Converts aligned windows of Depth Anything 3 to signals: camera path and depth, each with its σ."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.depth.depth_reprojection import ConsistencySettings, confirmed
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.runtime.windows import Joined
from experts.signals import CameraPath, Depth, MotionKind, NoEstimate, Scale, Signal


@dataclass(frozen=True, kw_only=True)
class TrustSettings:
    """Noise floors and thresholds. All are raw: neither weights nor ground truth were available to measure them."""

    rotation_rad: float = np.deg2rad(1.0)
    """Systematic σ of a relative rotation, per axis (ours for COLMAP: 0.7°)."""
    direction_rad: float = np.deg2rad(5.0)
    """Systematic σ of a direction between two positions (COLMAP: 3°)."""
    position_share: float = 0.02
    """Systematic σ of a position per axis, as a share of the median depth (COLMAP: 0.5 %)."""
    focal_relative: float = 0.05
    """Systematic σ of the predicted focal length (COLMAP: the same)."""
    focal_user_relative: float = 0.005
    """Systematic σ of the user's focal length."""
    focal_disagreement: float = 0.25
    """Largest |ln| of the user's over the predicted focal length; beyond it the prediction is not used."""
    metric_relative: float = 0.15
    """σ of the metric scale."""
    general_share: float = 0.05
    """The camera translates if the extent of its positions is at least this share of the median depth: about 2.5
    floors."""
    static_share: float = 0.005
    """The camera is static if the extent is below this share, a quarter of a floor, ..."""
    static_rad: float = np.deg2rad(0.5)
    """... and it rotates by less than this. In between the motion is unresolved: pure rotation cannot be proven
    here."""
    registered_share: float = 0.5
    """Smallest share of the frames with a pose."""
    confirmed_share: float = 0.05
    """Smallest confirmed share of a frame's depth; chance confirms up to 1 % of a wrong depth."""
    outlier_probability_confirmed: float = 0.005
    """Outlier probability of depth that another camera position confirms."""
    outlier_probability_unconfirmed: float = 0.05
    """Outlier probability of depth that no other position could confirm."""
    consistency: ConsistencySettings = field(default_factory=ConsistencySettings)


@dataclass(frozen=True, kw_only=True)
class Camera:
    """The one camera of the clip."""

    intrinsics: Intrinsics
    """Full size."""
    relative_sigma: float
    """σ_f / f."""
    focal_log_ratio: float = 0.0
    """ln of its focal length over the predicted one: 0 if the predicted one is used."""
    source: str = "the predicted focal length"


def camera_of(joined: Joined, clip: Clip, settings: TrustSettings) -> Camera | NoEstimate:
    """The user's camera, or the median of the predictions per frame. Pixels are square."""
    known = np.isfinite(joined.world_from_cam[:, 0, 3])
    height, width = joined.z.shape[1:]
    zoom = np.array([clip.width_px / width, clip.height_px / height])
    focal = joined.k_map[known][:, [0, 1], [0, 1]] * zoom
    middle = np.median((joined.k_map[known][:, :2, 2] + 0.5) * zoom - 0.5, axis=0)
    logs = np.log(focal.mean(axis=1))
    deviation = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    aspect = float(np.abs(np.median(np.log(focal[:, 0] / focal[:, 1])))) / 2
    predicted = float(np.exp(np.median(logs)))
    if (user := clip.options.intrinsics) is None:
        intrinsics = replace(
            Intrinsics.centred(clip.width_px, clip.height_px, predicted), cx_px=float(middle[0]), cy_px=float(middle[1])
        )
        sigma = float(np.linalg.norm([settings.focal_relative, deviation, aspect]))
        return Camera(intrinsics=intrinsics, relative_sigma=sigma)
    intrinsics = user.scaled(clip.width_px, clip.height_px)
    focal_log_ratio = float(np.log((intrinsics.fx_px + intrinsics.fy_px) / 2 / predicted))
    if abs(focal_log_ratio) > settings.focal_disagreement:
        detail = f"predicted: {predicted:.0f} px, --intrinsics: {intrinsics.fx_px:.0f} px"
        reason = "predicted focal length disagrees with --intrinsics"
        return NoEstimate(reason=reason, detail=detail, remedy="check --intrinsics")
    return Camera(
        intrinsics=intrinsics,
        relative_sigma=settings.focal_user_relative,
        focal_log_ratio=focal_log_ratio,
        source="the user's focal length",
    )


def signals_of(
    joined: Joined,
    clip: Clip,
    frames: Int64[np.ndarray, "n"],
    metric: bool,
    settings: TrustSettings,
    provenance: Provenance,
) -> Mapping[str, Signal | NoEstimate]:
    """`camera_path` and `depth`, or the reason why there are none."""
    camera = camera_of(joined, clip, settings)
    if isinstance(camera, NoEstimate):
        return dict.fromkeys(("camera_path", "depth"), camera)
    scale, factor = _scale(joined, camera, metric, settings)
    joined = _anchored(joined, factor)
    path = _path(joined, frames, camera, scale, settings, provenance)
    depth = Depth(
        frames=frames[joined.rows],
        z=joined.z,
        relative_sigma=joined.relative_sigma,
        scale=scale,
        provenance=provenance,
    )
    return {"camera_path": path, "depth": checked_between_frames(depth, path, settings)}


def checked_between_frames(depth: Depth, path: CameraPath, settings: TrustSettings) -> Depth | NoEstimate:
    """Where the camera translates: only depth that another frame confirms. Otherwise all depth, with a larger outlier
    probability."""
    if path.motion != "general":
        return replace(depth, outlier_probability=settings.outlier_probability_unconfirmed)
    world_from_cam = path.world_from_cam[np.searchsorted(path.frames, depth.frames)]
    keep = confirmed(depth.z, world_from_cam, path.intrinsics, settings.consistency)
    keep &= keep.mean(axis=(1, 2), keepdims=True) >= settings.confirmed_share
    if not keep.any():
        return NoEstimate(reason="depth is not confirmed", detail="the frames disagree, or do not overlap")
    nan = np.float32(np.nan)
    return replace(
        depth,
        z=np.where(keep, depth.z, nan),
        relative_sigma=np.where(keep, depth.relative_sigma, nan),
        outlier_probability=settings.outlier_probability_confirmed,
    )


def motion_of(world_from_cam: Float64[np.ndarray, "n 4 4"], median_depth: float, settings: TrustSettings) -> MotionKind:
    """Kind of motion of registered cameras, given the noise floors."""
    extent = float(np.linalg.norm(np.ptp(world_from_cam[:, :3, 3], axis=0))) / median_depth
    if extent >= settings.general_share:
        return "general"
    angles = Rotation.from_matrix(world_from_cam[0, :3, :3].T @ world_from_cam[:, :3, :3]).magnitude()
    still = extent <= settings.static_share and angles.max() <= settings.static_rad
    return "static" if still else "unresolved"


def _scale(joined: Joined, camera: Camera, metric: bool, settings: TrustSettings) -> tuple[Scale, float]:
    """The kind of the common unit, and the factor that converts to it. Each window has its own estimate of the
    metre."""
    if not metric:
        return Scale(kind="relative"), 1.0
    log_scales = -np.log(joined.scales)
    sigma = float(np.linalg.norm([settings.metric_relative, np.std(log_scales), camera.relative_sigma]))
    scale = Scale(kind="metric", relative_sigma=sigma, source=f"metric model at {camera.source}")
    return scale, float(np.exp(np.median(log_scales) + camera.focal_log_ratio))


def _anchored(joined: Joined, factor: float) -> Joined:
    """In the camera axes of the first registered frame, with all lengths multiplied by `factor`."""
    registered = np.isfinite(joined.world_from_cam[:, 0, 3])
    world_from_cam = np.linalg.inv(joined.world_from_cam[registered][0]) @ joined.world_from_cam
    world_from_cam[:, :3, 3] *= factor
    return replace(
        joined,
        world_from_cam=world_from_cam,
        joined_residual=joined.joined_residual * factor,
        z=joined.z * np.float32(factor),
    )


def _path(
    joined: Joined,
    frames: Int64[np.ndarray, "n"],
    camera: Camera,
    scale: Scale,
    settings: TrustSettings,
    provenance: Provenance,
) -> CameraPath:
    """σ = floors ⊕ residuals of the alignments ⊕ effect of a focal length other than the predicted one."""
    world_from_cam, median_depth = joined.world_from_cam.copy(), float(np.nanmedian(joined.z))
    registered = np.isfinite(world_from_cam[:, 0, 3])
    motion = motion_of(world_from_cam[registered], median_depth, settings)
    rotation_rad, distance = np.full(len(frames), np.nan), np.linalg.norm(world_from_cam[:, :3, 3], axis=1)
    rotation_rad[registered] = Rotation.from_matrix(world_from_cam[registered][:, :3, :3]).magnitude()
    rotation = np.hypot(joined.joined_rotation_rad, camera.focal_log_ratio * rotation_rad) / np.sqrt(3)
    position = np.hypot(joined.joined_residual, camera.focal_log_ratio * distance) / np.sqrt(3)
    if motion == "static":
        world_from_cam = np.where(registered[:, None, None], np.eye(4), np.nan)
    elif motion == "unresolved":
        world_from_cam[:, :3, 3] = np.nan
    floor = np.where(registered, 1.0, np.nan)
    moves = motion == "general"
    return CameraPath(
        frames=frames,
        world_from_cam=world_from_cam,
        registered=registered,
        keyframe=registered,
        intrinsics=camera.intrinsics,
        focal_relative_sigma=camera.relative_sigma,
        motion=motion,
        rotation_sigma_rad=np.hypot(rotation, settings.rotation_rad * floor),
        position_sigma=np.hypot(position, settings.position_share * median_depth * floor) if moves else np.nan * floor,
        direction_sigma_rad=settings.direction_rad,
        scale=scale,
        provenance=provenance,
    )
