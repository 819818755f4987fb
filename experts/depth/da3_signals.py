"""Joined windows of Depth Anything 3 as signals: camera, path, depth, each with its σ."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.depth.depth_consistency import ConsistencySettings, confirmed
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.runtime.windows import Joined
from experts.signals import CameraPath, Depth, MotionKind, NoEstimate, Scale, Signal


@dataclass(frozen=True, kw_only=True)
class TrustSettings:
    """Floors and thresholds. All raw: no weights and no truth were at hand to measure them."""

    rotation_rad: float = np.deg2rad(1.0)
    """Systematic σ of a relative rotation, per axis (COLMAP's here: 0.7°)."""
    direction_rad: float = np.deg2rad(5.0)
    """... of a direction between two positions (COLMAP's: 3°)."""
    position_share: float = 0.02
    """... of a position, per axis, as a share of the median depth (COLMAP's: 0.5 %)."""
    focal_relative: float = 0.05
    """... of the focal length that the model says (COLMAP's the same)."""
    focal_given_relative: float = 0.005
    """... of the user's own."""
    focal_disagreement: float = 0.25
    """Largest |ln| of the given over the model's own focal length: beyond, the model saw another scene."""
    metric_relative: float = 0.15
    """... of the metric scale."""
    general_share: float = 0.05
    """The camera travels if its positions spread over this share of the median depth: some 2.5 floors."""
    static_share: float = 0.005
    """It stands still if they spread over less than this, a quarter of a floor, ..."""
    static_rad: float = np.deg2rad(0.5)
    """... and it turns by less than this. Between, nothing is said: turning alone cannot be proven from this."""
    registered_share: float = 0.5
    """Fewer of the frames joined: no path."""
    confirmed_share: float = 0.05
    """A frame of which less is confirmed has no depth: chance confirms up to 1 % of a wrong one."""
    outlier_probability_confirmed: float = 0.005
    """Probability of a plainly wrong depth where another place of the camera confirms it (DESIGN §6) ..."""
    outlier_probability_unconfirmed: float = 0.05
    """... and where none could."""
    consistency: ConsistencySettings = field(default_factory=ConsistencySettings)


@dataclass(frozen=True, kw_only=True)
class Camera:
    """The clip's one camera."""

    intrinsics: Intrinsics
    """Full size."""
    relative_sigma: float
    """σ_f / f."""
    departure: float = 0.0
    """ln of its focal length over that with which the model saw: 0 where the model's is taken."""
    source: str = "the model's focal length"


def camera_of(joined: Joined, clip: Clip, settings: TrustSettings) -> Camera | NoEstimate:
    """The user's camera, or the median of what the model says of each frame; pixels are square."""
    known = np.isfinite(joined.world_from_cam[:, 0, 3])
    height, width = joined.z.shape[1:]
    zoom = np.array([clip.width_px / width, clip.height_px / height])
    focal = joined.k_map[known][:, [0, 1], [0, 1]] * zoom
    middle = np.median((joined.k_map[known][:, :2, 2] + 0.5) * zoom - 0.5, axis=0)
    logs = np.log(focal.mean(axis=1))
    spread = 1.4826 * float(np.median(np.abs(logs - np.median(logs))))
    oblong = float(np.abs(np.median(np.log(focal[:, 0] / focal[:, 1])))) / 2
    said = float(np.exp(np.median(logs)))
    if (given := clip.options.intrinsics) is None:
        intrinsics = replace(
            Intrinsics.centred(clip.width_px, clip.height_px, said), cx_px=float(middle[0]), cy_px=float(middle[1])
        )
        sigma = float(np.linalg.norm([settings.focal_relative, spread, oblong]))
        return Camera(intrinsics=intrinsics, relative_sigma=sigma)
    intrinsics = given.scaled(clip.width_px, clip.height_px)
    departure = float(np.log((intrinsics.fx_px + intrinsics.fy_px) / 2 / said))
    if abs(departure) > settings.focal_disagreement:
        detail = f"the model sees {said:.0f} px, given are {intrinsics.fx_px:.0f}"
        return NoEstimate(
            reason="focal length disagrees with the given one", detail=detail, remedy="check --intrinsics"
        )
    return Camera(
        intrinsics=intrinsics,
        relative_sigma=settings.focal_given_relative,
        departure=departure,
        source="the given focal length",
    )


def signals_of(
    joined: Joined,
    clip: Clip,
    frames: Int64[np.ndarray, "n"],
    metric: bool,
    settings: TrustSettings,
    provenance: Provenance,
) -> Mapping[str, Signal | NoEstimate]:
    """`camera_path` and `depth`, or the reason why not."""
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
    return {"camera_path": path, "depth": held_against_itself(depth, path, settings)}


def held_against_itself(depth: Depth, path: CameraPath, settings: TrustSettings) -> Depth | NoEstimate:
    """Where the camera travels: only what another frame's depth confirms. Else all of it, doubted."""
    if path.motion != "general":
        return replace(depth, outlier_probability=settings.outlier_probability_unconfirmed)
    world_from_cam = path.world_from_cam[np.searchsorted(path.frames, depth.frames)]
    keep = confirmed(depth.z, world_from_cam, path.intrinsics, settings.consistency)
    keep &= keep.mean(axis=(1, 2), keepdims=True) >= settings.confirmed_share
    if not keep.any():
        return NoEstimate(reason="depth is not confirmed", detail="frames contradict each other, or share no view")
    nan = np.float32(np.nan)
    return replace(
        depth,
        z=np.where(keep, depth.z, nan),
        relative_sigma=np.where(keep, depth.relative_sigma, nan),
        outlier_probability=settings.outlier_probability_confirmed,
    )


def motion_of(world_from_cam: Float64[np.ndarray, "n 4 4"], median_depth: float, settings: TrustSettings) -> MotionKind:
    """What can be said of registered cameras, σ considered."""
    spread = float(np.linalg.norm(np.ptp(world_from_cam[:, :3, 3], axis=0))) / median_depth
    turns = world_from_cam[0, :3, :3].T @ world_from_cam[:, :3, :3]
    if spread >= settings.general_share:
        return "general"
    still = spread <= settings.static_share and Rotation.from_matrix(turns).magnitude().max() <= settings.static_rad
    return "static" if still else "unresolved"


def _scale(joined: Joined, camera: Camera, metric: bool, settings: TrustSettings) -> tuple[Scale, float]:
    """What the common unit is, and the factor that makes it so: each window has an opinion of the metre."""
    if not metric:
        return Scale(kind="relative"), 1.0
    opinions = -np.log(joined.scales)
    sigma = float(np.linalg.norm([settings.metric_relative, np.std(opinions), camera.relative_sigma]))
    scale = Scale(kind="metric", relative_sigma=sigma, source=f"metric model at {camera.source}")
    return scale, float(np.exp(np.median(opinions) + camera.departure))


def _anchored(joined: Joined, factor: float) -> Joined:
    """In the frame of the first registered camera, all lengths times `factor`."""
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
    """σ = floors ⊕ residuals of the joins ⊕ what a focal length other than the model's does to turns and ways."""
    world_from_cam, median_depth = joined.world_from_cam.copy(), float(np.nanmedian(joined.z))
    registered = np.isfinite(world_from_cam[:, 0, 3])
    motion = motion_of(world_from_cam[registered], median_depth, settings)
    turned, gone = np.full(len(frames), np.nan), np.linalg.norm(world_from_cam[:, :3, 3], axis=1)
    turned[registered] = Rotation.from_matrix(world_from_cam[registered][:, :3, :3]).magnitude()
    rotation = np.hypot(joined.joined_rotation_rad, camera.departure * turned) / np.sqrt(3)
    position = np.hypot(joined.joined_residual, camera.departure * gone) / np.sqrt(3)
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
