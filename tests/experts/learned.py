"""Simulated output of learned models for a rendered scene: correct up to noise, in its own unit and world.

No model runs here. Known properties of such output are simulated: depth with smooth errors and blurred borders, poses
with drift, small errors of the focal length and of up, tracks that sometimes lose their point. σ equals the true σ.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from jaxtyping import Bool, Float32, Float64
from scipy.ndimage import gaussian_filter, gaussian_filter1d
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.matching.reprojection import ReprojectionExpert
from experts.provenance import Provenance
from experts.signals import Calibration, CameraPath, Depth, Gravity, ImageTracks, Scale, Signal, SparsePoints
from experts.tracking.track_geometry import TrackGeometryExpert
from spatial_engine.rendering import RenderedScene
from spatial_engine.rendering.truth import motion_kind


@dataclass(frozen=True, kw_only=True)
class Noise:
    """σ of the errors of the signals."""

    depth: float = 0.035
    """Relative, smooth over a quarter of the picture and over many frames."""
    depth_in_frame: float = 0.01
    """Relative, smooth over a quarter of the picture, of each frame alone."""
    border_px: float = 1.0
    """σ of the blur of depth borders, in pixels of the depth map."""
    rotation_rad: float = float(np.radians(0.3))
    """Per axis."""
    position: float = 0.02
    """Drift of a position, as a share of its distance from the first one, per axis."""
    up_rad: float = float(np.radians(1.0))
    """Per axis: common to all frames, and a fifth of it per frame."""
    focal: float = 0.03
    """Relative."""
    metre: float = 0.02
    """Relative, of the scale of metric models. It is better than that of real models, as otherwise no question in
    metres is asked."""
    track_px: float = 0.4
    """Per axis, at 640 px width."""
    lost_share: float = 0.01
    """Share of tracks that lose their point."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """Signals of the models for one scene, without those of experts that join them."""

    camera_path: CameraPath
    depth: Depth
    gravity: Gravity
    calibration: Calibration
    image_tracks: ImageTracks


def source(expert: str) -> Provenance:
    """Provenance of a simulated model."""
    return Provenance(expert=expert, version="simulated", sigma="raw")


def simulated(
    scene: RenderedScene,
    clip: Clip,
    rng: np.random.Generator,
    *,
    noise: Noise | None = None,
    metric: bool = False,
    stride: int = 3,
) -> Models:
    """Signals of all models on every `stride`-th frame; camera path and tracks on every frame."""
    noise = noise or Noise()
    frames = clip.frames[::stride]
    unit = float(np.exp(rng.normal(0, noise.metre))) if metric else float(rng.uniform(0.2, 5))
    scale = (
        Scale(kind="metric", relative_sigma=noise.metre, source="metric model") if metric else Scale(kind="relative")
    )
    camera = _other_focal(scene.intrinsics, float(np.exp(rng.normal(0, noise.focal))))
    return Models(
        camera_path=_path(scene, clip, camera, unit, scale, rng, noise),
        depth=_depth(scene, frames, unit, scale, rng, noise),
        gravity=_gravity(scene, frames, rng, noise),
        calibration=Calibration(
            intrinsics=_other_focal(scene.intrinsics, float(np.exp(rng.normal(0, noise.focal)))),
            focal_relative_sigma=noise.focal,
            provenance=source("calibrator"),
        ),
        image_tracks=_tracks(scene, clip, rng, noise),
    )


def with_joining_experts(clip: Clip, models: Models) -> dict[str, Signal]:
    """The models' signals and those of the experts that join them: tracks with motion, matches."""
    signals: dict[str, Signal] = {
        "camera_path": models.camera_path,
        "depth": models.depth,
        "gravity": models.gravity,
        "calibration": models.calibration,
        "image_tracks": models.image_tracks,
    }
    signals |= TrackGeometryExpert()(clip, signals)  # type: ignore[arg-type]
    signals |= ReprojectionExpert()(clip, signals)  # type: ignore[arg-type]
    return signals


def _other_focal(camera: Intrinsics, factor: float) -> Intrinsics:
    return replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor)


def _drift(rng: np.random.Generator, n: int, smooth: float) -> Float64[np.ndarray, "n 3"]:
    """Random values with σ = 1 per axis, smoothed over `smooth` frames."""
    raw = gaussian_filter1d(rng.normal(size=(n, 3)), smooth, axis=0, mode="reflect")
    return np.asarray(raw / max(float(raw.std()), 1e-12))


def _path(
    scene: RenderedScene,
    clip: Clip,
    camera: Intrinsics,
    unit: float,
    scale: Scale,
    rng: np.random.Generator,
    noise: Noise,
) -> CameraPath:
    true = np.linalg.inv(scene.world_from_cam[clip.frames[0]]) @ scene.world_from_cam[clip.frames]
    n = len(true)
    reach = np.linalg.norm(true[:, :3, 3], axis=1)
    poses = true.copy()
    poses[:, :3, :3] = true[:, :3, :3] @ Rotation.from_rotvec(noise.rotation_rad * _drift(rng, n, 4)).as_matrix()
    poses[:, :3, 3] += noise.position * reach[:, None] * _drift(rng, n, 8)
    poses = np.linalg.inv(poses[0]) @ poses
    poses[:, :3, 3] *= unit
    return CameraPath(
        frames=clip.frames,
        world_from_cam=poses,
        registered=np.ones(n, dtype=bool),
        keyframe=np.ones(n, dtype=bool),
        intrinsics=camera,
        focal_relative_sigma=noise.focal,
        motion=motion_kind(true),
        rotation_sigma_rad=np.full(n, np.sqrt(2) * noise.rotation_rad),
        position_sigma=unit * noise.position * np.sqrt(reach**2 + (0.1 * reach.max()) ** 2),
        direction_sigma_rad=float(np.hypot(noise.rotation_rad, noise.position)),
        scale=scale,
        provenance=source("any-view model"),
    )


def _depth(
    scene: RenderedScene, frames: np.ndarray, unit: float, scale: Scale, rng: np.random.Generator, noise: Noise
) -> Depth:
    shared = None
    maps = []
    for frame in frames:
        z = scene.depth(int(frame)).astype(np.float64)
        height, width = z.shape[0] // 2, z.shape[1] // 2
        z = z[1::2, 1::2][:height, :width]
        if shared is None:
            shared = _smooth_field(rng, z.shape)
        shared = 0.95 * shared + np.sqrt(1 - 0.95**2) * _smooth_field(rng, z.shape)
        error = noise.depth * shared + noise.depth_in_frame * _smooth_field(rng, z.shape)
        maps.append(with_blurred_borders(z, noise.border_px) * np.exp(error) * unit)
    z = np.stack(maps).astype(np.float32)
    sigma = np.full_like(z, np.hypot(noise.depth, noise.depth_in_frame))
    return Depth(
        frames=frames,
        z=z,
        relative_sigma=np.where(np.isfinite(z), sigma, np.float32("nan")),
        scale=scale,
        provenance=source("any-view model"),
        outlier_probability=0.02,
    )


def _smooth_field(rng: np.random.Generator, shape: tuple[int, ...]) -> Float64[np.ndarray, "h w"]:
    """A random field with σ = 1, smooth over about a quarter of the picture."""
    field = gaussian_filter(rng.normal(size=shape), shape[1] / 8, mode="reflect")
    return np.asarray((field - field.mean()) / max(float(field.std()), 1e-12))


def with_blurred_borders(z: Float64[np.ndarray, "h w"], border_px: float) -> Float64[np.ndarray, "h w"]:
    """Depth with borders blurred, as by networks; NaN in the steepest pixels, as by experts."""
    soft = cv2.GaussianBlur(z, (0, 0), border_px) if border_px else z
    steep = cv2.dilate(soft, np.ones((3, 3))) > 1.15 * cv2.erode(soft, np.ones((3, 3)))
    return np.where(steep, np.nan, soft)


def _gravity(scene: RenderedScene, frames: np.ndarray, rng: np.random.Generator, noise: Noise) -> Gravity:
    up_cam = scene.world_from_cam[frames, 2, :3]
    bias = noise.up_rad * np.array([rng.normal(), 0.0, rng.normal()])
    each = bias + 0.2 * noise.up_rad * rng.normal(size=(len(frames), 3))
    return Gravity(
        frames=frames,
        up_cam=np.ascontiguousarray(Rotation.from_rotvec(each).apply(up_cam)),
        sigma_rad=np.full(len(frames), 1.02 * noise.up_rad),
        decided_by="calibrator",
        provenance=source("calibrator"),
    )


def _tracks(scene: RenderedScene, clip: Clip, rng: np.random.Generator, noise: Noise) -> ImageTracks:
    """Points of a grid in four frames, tracked through the clip while they are visible."""
    starts = np.unique(np.linspace(0, len(clip.frames) - 1, 4).round().astype(int))
    xy = np.concatenate([_followed(scene, clip, int(row), rng) for row in starts])
    xy += rng.normal(0, noise.track_px * clip.width_px / 640, xy.shape) * np.isfinite(xy)
    lost = rng.random(len(xy)) < noise.lost_share
    late = np.arange(xy.shape[1]) > rng.integers(0, xy.shape[1], len(xy))[:, None]
    xy = np.where((lost[:, None] & late)[..., None], xy + rng.normal(0, 8, (len(xy), 1, 2)), xy)
    return ImageTracks(frames=clip.frames, xy_px=xy.astype(np.float32), provenance=source("tracker"))


def _followed(scene: RenderedScene, clip: Clip, row: int, rng: np.random.Generator) -> Float64[np.ndarray, "t n 2"]:
    camera, first = scene.intrinsics, int(clip.frames[row])
    step = max(8, camera.width_px // 28)
    grid = np.mgrid[step // 2 : camera.width_px - 4 : step, step // 2 : camera.height_px - 4 : step]
    xy = grid.reshape(2, -1).T + rng.uniform(-3, 3, (grid.size // 2, 2))
    at = np.clip(np.round(xy).astype(int), 0, [camera.width_px - 1, camera.height_px - 1])
    z, item = scene.depth(first)[at[:, 1], at[:, 0]], scene.ids(first)[at[:, 1], at[:, 0]]
    rays = camera.rays(at.astype(float))
    world = _transformed(scene.world_from_cam[first], rays * (z / rays[:, 2])[:, None])
    out = np.full((len(at), len(clip.frames), 2), np.nan)
    for n, frame in enumerate(clip.frames):
        there = _at_frame(scene, world, item, first, int(frame))
        cam = _transformed(np.linalg.inv(scene.world_from_cam[frame]), there)
        out[:, n] = np.where(_is_seen(scene, int(frame), cam)[:, None], camera.project(cam), np.nan)
    return _until_lost(out, row)


def _transformed(to_from: Float64[np.ndarray, "4 4"], xyz: Float64[np.ndarray, "t 3"]) -> Float64[np.ndarray, "t 3"]:
    return np.asarray(xyz @ to_from[:3, :3].T + to_from[:3, 3])


def _at_frame(
    scene: RenderedScene, world: Float64[np.ndarray, "t 3"], item: np.ndarray, a: int, b: int
) -> Float64[np.ndarray, "t 3"]:
    """Positions at frame b of points on objects, given at frame a."""
    from_a, from_b = scene.world_from_boxes(a), scene.world_from_boxes(b)
    out = world.copy()
    for k in np.unique(item[item >= 0]):
        out[item == k] = _transformed(from_b[k] @ np.linalg.inv(from_a[k]), world[item == k])
    return out


def _is_seen(scene: RenderedScene, frame: int, cam: Float64[np.ndarray, "t 3"]) -> Bool[np.ndarray, "t"]:
    camera = scene.intrinsics
    xy = camera.project(cam)
    inside = camera.contains(xy)
    at = np.round(np.where(inside[:, None], xy, 0)).astype(int)
    z: Float32[np.ndarray, "h w"] = scene.depth(frame)
    return np.asarray(inside & (np.abs(z[at[:, 1], at[:, 0]] / cam[:, 2] - 1) < 0.02))


def _until_lost(xy: Float64[np.ndarray, "t n 2"], start: int) -> Float64[np.ndarray, "t n 2"]:
    """Ends each track where its point is first hidden, forwards and backwards from its start."""
    seen = np.isfinite(xy[..., 0])
    kept = np.ones_like(seen)
    kept[:, start:] = np.logical_and.accumulate(seen[:, start:], axis=1)
    kept[:, : start + 1] = np.logical_and.accumulate(seen[:, start::-1], axis=1)[:, ::-1]
    return np.where(kept[..., None], xy, np.nan)


FAULTS = ("scale drift", "depth inverted", "path mirrored", "path bent", "gravity sideways", "focal length")
"""Severe errors of a model."""


def broken(models: Models, how: str) -> Models:
    """The same models, one of them with a severe error."""
    path, depth, gravity = models.camera_path, models.depth, models.gravity
    poses = path.world_from_cam.copy()
    n = len(poses)
    match how:
        case "scale drift":  # depth and translations grow together, by half over the clip
            grown = np.exp(0.4 * np.linspace(0, 1, n))
            steps = np.diff(poses[:, :3, 3], axis=0) * grown[1:, None]
            poses[1:, :3, 3] = poses[0, :3, 3] + np.cumsum(steps, axis=0)
            at = np.searchsorted(path.frames, depth.frames)
            depth = replace(depth, z=(depth.z * grown[at, None, None]).astype(np.float32))
        case "depth inverted":
            low, high = np.nanpercentile(depth.z, [2, 98])
            depth = replace(depth, z=np.clip(low * high / depth.z, low / 2, 2 * high).astype(np.float32))
        case "path mirrored":
            flip = np.diag([-1.0, 1, 1, 1])
            poses = flip @ poses @ flip
        case "path bent":  # 20 degrees over the clip
            bend = Rotation.from_rotvec(np.outer(np.linspace(0, np.radians(20), n), [0, 1, 0])).as_matrix()
            poses[:, :3, :3] = bend @ poses[:, :3, :3]
            poses[1:, :3, 3] = np.cumsum(np.einsum("nij,nj->ni", bend[1:], np.diff(poses[:, :3, 3], axis=0)), axis=0)
        case "gravity sideways":
            up = Rotation.from_rotvec([0, 0, np.pi / 2]).apply(gravity.up_cam)
            gravity = replace(gravity, up_cam=np.ascontiguousarray(up))
        case "focal length":
            path = replace(path, intrinsics=_other_focal(path.intrinsics, 1.4))
    return replace(models, camera_path=replace(path, world_from_cam=poses), depth=depth, gravity=gravity)


def second_reconstruction(
    scene: RenderedScene, clip: Clip, models: Models, rng: np.random.Generator
) -> dict[str, Signal]:
    """Simulated structure from motion of the same clip: path and sparse points in another world."""
    true, unit = np.linalg.inv(scene.world_from_cam[clip.frames[0]]) @ scene.world_from_cam[clip.frames], 0.37
    n, motion = len(true), motion_kind(true)
    reach = float(np.nanmedian(scene.depth(int(clip.frames[0]))))
    poses = true.copy()
    poses[:, :3, :3] = true[:, :3, :3] @ Rotation.from_rotvec(np.radians(0.2) * _drift(rng, n, 6)).as_matrix()
    poses[:, :3, 3] += 0.003 * reach * _drift(rng, n, 8)
    poses = np.linalg.inv(poses[0]) @ poses
    poses[:, :3, 3] *= unit if motion == "general" else np.nan
    path = replace(
        models.camera_path,
        world_from_cam=poses,
        intrinsics=_other_focal(scene.intrinsics, float(np.exp(rng.normal(0, 0.02)))),
        focal_relative_sigma=0.05,
        motion=motion,
        rotation_sigma_rad=np.full(n, np.radians(0.7)),
        position_sigma=np.full(n, 0.005 * reach * unit if motion == "general" else np.nan),
        direction_sigma_rad=float(np.radians(3.0)),
        scale=Scale(kind="relative"),
        provenance=source("structure from motion"),
    )
    if motion != "general":
        return {"camera_path_check": path}
    return {"camera_path_check": path, "sparse_points_check": _points(scene, clip, models, poses, unit, rng)}


def _points(
    scene: RenderedScene, clip: Clip, models: Models, poses: np.ndarray, unit: float, rng: np.random.Generator
) -> SparsePoints:
    """Points of tracks on static objects, with errors of 2 %, and one outlier in a hundred."""
    tracks = models.image_tracks.xy_px.astype(np.float64)
    xyz, rows, frames, pixels = [], [], [], []
    maps: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for track in tracks[:: max(1, len(tracks) // 800)]:
        seen = np.flatnonzero(np.isfinite(track[:, 0]))
        if len(seen) < 4:
            continue
        first = int(seen[len(seen) // 2])
        frame = int(clip.frames[first])
        x, y = np.round(track[first]).astype(int).clip(0, [clip.width_px - 1, clip.height_px - 1])
        if frame not in maps:
            maps[frame] = scene.depth(frame), scene.ids(frame)
        depth, ids = maps[frame]
        if ids[y, x] >= len(scene.boxes):
            continue
        ray = scene.intrinsics.rays(track[first][None])[0]
        z = float(depth[y, x]) * np.exp(rng.normal(0, 0.02)) * unit
        z *= 1.0 if rng.random() > 0.01 else rng.uniform(0.5, 2)
        xyz.append(poses[first, :3, :3] @ (ray / ray[2] * z) + poses[first, :3, 3])
        shown = seen[:: max(1, len(seen) // 8)]
        rows += [len(xyz) - 1] * len(shown)
        frames += clip.frames[shown].tolist()
        pixels += track[shown].tolist()
    return SparsePoints(
        xyz_world=np.array(xyz),
        range_relative_sigma=np.full(len(xyz), 0.03),
        triangulation_angle_rad=np.full(len(xyz), 0.1),
        outlier_probability=np.full(len(xyz), 0.003),
        observation_point=np.array(rows),
        observation_frame=np.array(frames),
        observation_xy_px=np.array(pixels),
        provenance=source("structure from motion"),
    )


def second_gravity(models: Models, scene: RenderedScene, rng: np.random.Generator) -> dict[str, Signal]:
    """Simulated gravity from vanishing points on the same frames, with an error of about 1.5°."""
    up = scene.world_from_cam[models.gravity.frames, 2, :3]
    rotated = Rotation.from_rotvec(np.radians(1.0) * rng.normal(size=3)).apply(up)
    sigma = np.full(len(up), np.radians(1.5))
    return {
        "gravity_check": replace(
            models.gravity, up_cam=np.ascontiguousarray(rotated), sigma_rad=sigma, provenance=source("vanishing points")
        )
    }
