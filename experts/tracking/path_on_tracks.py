"""Fits a camera path to 2-D tracks: poses, one focal factor and the static points of the tracks in a robust estimate.

Learned poses are accurate to some tenths of a degree, which is several pixels; tracks are accurate to less than one
pixel. Motion in the world is detected from pixels, so it is tested with poses that fit the tracks. The poses stay near
the input poses according to their σ, which also fixes world and unit.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, ImageTracks, PointTracks
from experts.tracking.static_fit import REFERENCE_WIDTH_PX, Observations, fit_consensus, observations


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Settings of the estimate; "px" refer to a picture of 640 px width."""

    tracks: int = 400
    """Largest number of tracks used, the longest first; twice as many test the result."""
    frames: int = 120
    """Largest number of frames, evenly spaced, estimated jointly with the points; the others are estimated from the
    points."""
    rounds_px: tuple[float, ...] = (12.0, 12.0, 12.0, 8.0, 8.0, 5.0, 5.0, 3.0, 3.0, 2.0, 2.0, 1.5, 1.5, 1.5)
    """Residual at which an observation has a quarter of its weight (Geman-McClure), per iteration: large first, so that
    wrong initial poses are not mistaken for moving points (graduated non-convexity)."""
    damping: float = 1e-3
    """Relative increase of the diagonal of the normal equations (Levenberg-Marquardt)."""
    explained_px: float = 6.0
    """A static point explains a track whose residual is at most this in nine of ten frames; a moving one must exceed it
    (`MovingSettings.departure_px`). Trackers at network size err by a few pixels, wrong paths by tens."""
    explained_share: float = 0.5
    """A path that explains a smaller share of the tracks is contradicted, as in `MovingSettings`."""
    focal_sigmas: float = 4.0
    """A path that explains them only at a focal length more than this many σ away is contradicted too ..."""
    min_focal_sigma: float = 0.03
    """... with at least this σ: short translations and far points leave the focal length undetermined."""


@dataclass(frozen=True, kw_only=True)
class FittedPath:
    """A path that explains the tracks."""

    path: CameraPath
    """In the world and unit of the input path, with its σ: tracks do not show slow drift."""
    residual_px: float
    """Remaining σ per axis, at 640 px width."""


@dataclass(frozen=True, kw_only=True)
class _Linear:
    """Residuals in px and their derivatives, multiplied by the square root of each observation's weight."""

    residual: Float64[np.ndarray, "t n 2"]
    by_pose: Float64[np.ndarray, "t n 2 6"]
    """Rotation in camera axes, then translation of the centre."""
    by_focal: Float64[np.ndarray, "t n 2"]
    by_point: Float64[np.ndarray, "t n 2 3"]


def path_by_tracks(tracks: PointTracks, path: CameraPath, settings: FitSettings) -> FittedPath | None:
    """The path fitted to the longest tracks that are not known to move. None if it still explains too few of them, or
    does so only with another focal length."""
    candidates = np.flatnonzero(tracks.motion != 1)
    followed = np.isfinite(tracks.xy_px[candidates, :, 0]).sum(axis=1)
    chosen = candidates[np.argsort(-followed, kind="stable")[: 2 * settings.tracks]]
    xy_px = tracks.xy_px[chosen].astype(np.float32)
    images = ImageTracks(frames=tracks.frames, xy_px=xy_px, provenance=tracks.provenance)
    s = fitted_to_tracks(observations(images, path), path, tracks.frames, settings)
    fit = fit_consensus(s, settings.explained_px)
    near = np.nan_to_num(fit.residual_px, nan=np.inf) < settings.explained_px
    long = s.seen.sum(axis=1) >= 3
    explained = long & (near.sum(axis=1) >= np.maximum(3, 0.9 * s.seen.sum(axis=1)))
    fitted = _as_path(s, path, tracks.frames)
    zoom = abs(np.log(fitted.intrinsics.fx_px / path.intrinsics.fx_px))
    if explained.sum() < settings.explained_share * max(long.sum(), 1):
        return None
    if zoom > settings.focal_sigmas * max(path.focal_relative_sigma, settings.min_focal_sigma):
        return None
    residual = float(np.nanmedian(fit.residual_px[explained])) / 1.18  # median of a Rayleigh distribution
    return FittedPath(path=fitted, residual_px=residual)


def _as_path(s: Observations, path: CameraPath, frames: Int64[np.ndarray, "n"]) -> CameraPath:
    """The path with the fitted poses and focal length, where they exist."""
    world_from_cam = path.world_from_cam.copy()
    _, rows, at = np.intersect1d(path.frames, frames, return_indices=True)
    known = np.isfinite(world_from_cam[rows, 0, 0])
    rows, at = rows[known], at[known]
    world_from_cam[rows, :3, :3] = s.cam_from_world[at].swapaxes(1, 2)
    if not s.rotation_only:
        world_from_cam[rows, :3, 3] = s.centre[at]
    camera = path.intrinsics
    factor = s.focal_px * camera.width_px / REFERENCE_WIDTH_PX / camera.fx_px
    camera = replace(camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor)
    return replace(path, world_from_cam=world_from_cam, intrinsics=camera)


def fitted_to_tracks(
    s: Observations, path: CameraPath, frames: Int64[np.ndarray, "n"], settings: FitSettings
) -> Observations:
    """The same observations of `frames` under cameras that explain more of them. Frames without a pose stay without."""
    rows = np.argsort(-s.seen.sum(axis=1), kind="stable")[: settings.tracks]
    chosen = s.of(rows[s.seen[rows].sum(axis=1) >= 3])
    xyz = fit_consensus(chosen, settings.rounds_px[0]).xyz_world
    located = np.flatnonzero(np.isfinite(xyz).all(axis=1))
    if not len(located):
        return s
    count = len(frames)
    at = np.unique(np.linspace(0, count - 1, min(settings.frames, count)).round().astype(np.int64))
    inverse_sigma, inverse_focal_sigma = _prior(s, path, frames), 1 / max(path.focal_relative_sigma, 1e-4)
    chosen, xyz = chosen.of(located), xyz[located]
    fitted, xyz = _adjusted(
        _columns(chosen, at), xyz, np.append(inverse_sigma[at].ravel(), inverse_focal_sigma), settings
    )
    factor = fitted.focal_px / s.focal_px
    interpolated = _interpolated(replace(chosen, u=chosen.u / factor, focal_px=fitted.focal_px), at, fitted)
    all_frames = _resected(interpolated, chosen, xyz, inverse_sigma, settings) if len(at) < count else interpolated
    return replace(
        s,
        u=s.u / factor,
        focal_px=fitted.focal_px,
        cam_from_world=all_frames.cam_from_world,
        centre=all_frames.centre,
    )


def _columns(s: Observations, at: Int64[np.ndarray, "k"]) -> Observations:
    """The observations restricted to some frames."""
    return replace(s, u=s.u[:, at], cam_from_world=s.cam_from_world[at], centre=s.centre[at])


def _adjusted(
    start: Observations, xyz: Float64[np.ndarray, "t 3"], inverse_sigma: Float64[np.ndarray, "c"], settings: FitSettings
) -> tuple[Observations, Float64[np.ndarray, "t 3"]]:
    """Bundle adjustment of cameras and points."""
    s = start
    for scale_px in settings.rounds_px:
        linear = _linearised(s, xyz, scale_px)
        deviation = np.append(_deviation(s, start).ravel(), np.log(s.focal_px / start.focal_px))
        step, point_step = _solved(linear, inverse_sigma, deviation, settings.damping)
        xyz, s = xyz + point_step, _stepped(s, step[:-1].reshape(-1, 6), float(np.exp(step[-1])))
    return s, xyz


def _interpolated(s: Observations, at: Int64[np.ndarray, "k"], fitted: Observations) -> Observations:
    """All frames, each corrected like the nearest fitted frame."""
    nearest = np.abs(np.arange(len(s.centre))[:, None] - at).argmin(axis=1)
    rotation = fitted.cam_from_world @ s.cam_from_world[at].swapaxes(1, 2)
    return replace(
        s,
        cam_from_world=rotation[nearest] @ s.cam_from_world,
        centre=s.centre + (fitted.centre - s.centre[at])[nearest],
    )


def _resected(
    s: Observations,
    start: Observations,
    xyz: Float64[np.ndarray, "t 3"],
    inverse_sigma: Float64[np.ndarray, "n 6"],
    settings: FitSettings,
) -> Observations:
    """Each camera on its own, with fixed points."""
    for scale_px in settings.rounds_px[len(settings.rounds_px) // 2 :]:
        linear = _linearised(s, xyz, scale_px)
        normal = np.einsum("tnij,tnik->njk", linear.by_pose, linear.by_pose)
        normal[:, np.arange(6), np.arange(6)] += inverse_sigma**2
        moment = np.einsum("tnij,tni->nj", linear.by_pose, linear.residual) + inverse_sigma**2 * _deviation(s, start)
        s = _stepped(s, -np.linalg.solve(normal, moment[..., None])[..., 0])
    return s


def _prior(s: Observations, path: CameraPath, frames: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n 6"]:
    """1/σ of the six pose parameters: rotation in camera axes, translation of the centre."""
    row = np.searchsorted(path.frames, frames).clip(0, len(path.frames) - 1)
    rotation, translation = path.rotation_sigma_rad[row], path.position_sigma[row]
    extent = float(np.ptp(s.centre, axis=0).max()) or 1.0
    rotation = np.where(np.isfinite(rotation), np.maximum(rotation, 1e-4), 1e-4)
    translation = np.where(np.isfinite(translation), np.maximum(translation, 1e-4 * extent), 1e-4 * extent)
    return np.concatenate(
        [np.repeat(1 / rotation[:, None], 3, axis=1), np.repeat(1 / translation[:, None], 3, axis=1)], axis=1
    )


def _linearised(s: Observations, xyz: Float64[np.ndarray, "t 3"], scale_px: float) -> _Linear:
    cam = (s.cam_from_world @ (xyz[:, None] - s.centre[None])[..., None])[..., 0]
    z = cam[..., 2]
    good = s.seen & (z > 1e-9)
    x, y, z = cam[..., 0], cam[..., 1], np.where(good, z, 1.0)
    predicted = np.stack([x / z, y / z], axis=-1)
    residual = np.where(good[..., None], s.u - predicted, 0.0) * s.focal_px
    weight = np.where(good, 1 / (1 + np.sum(residual**2, axis=-1) / scale_px**2), 0.0)[..., None]  # root of GM's
    zero = np.zeros_like(z)
    slope = np.stack([np.stack([1 / z, zero, -x / z**2], -1), np.stack([zero, 1 / z, -y / z**2], -1)], axis=-2)
    slope = -slope * s.focal_px * weight[..., None]
    cross = np.stack([np.stack([zero, z, -y], -1), np.stack([-z, zero, x], -1), np.stack([y, -x, zero], -1)], axis=-2)
    by_point = slope @ s.cam_from_world
    by_centre = np.zeros_like(by_point) if s.rotation_only else -by_point
    return _Linear(
        residual=residual * weight,
        by_pose=np.concatenate([slope @ cross, by_centre], axis=-1),
        by_focal=-predicted * s.focal_px * weight,
        by_point=by_point,
    )


def _solved(
    linear: _Linear, inverse_sigma: Float64[np.ndarray, "c"], deviation: Float64[np.ndarray, "c"], damping: float
) -> tuple[Float64[np.ndarray, "c"], Float64[np.ndarray, "t 3"]]:
    """Steps of cameras (and focal length) and of points: normal equations with the points eliminated (Schur
    complement)."""
    t, n = linear.by_pose.shape[:2]
    a, b, g, r = linear.by_pose, linear.by_point, linear.by_focal, linear.residual
    normal = np.zeros((6 * n + 1, 6 * n + 1))
    for k in range(n):
        at = slice(6 * k, 6 * k + 6)
        rows = a[:, k].reshape(-1, 6)
        normal[at, at] = rows.T @ rows
        normal[at, -1] = normal[-1, at] = rows.T @ g[:, k].ravel()
    normal[-1, -1] = np.sum(g**2)
    moment = np.append(np.einsum("tnij,tni->nj", a, r).ravel(), np.sum(g * r))
    mixed = np.concatenate(
        [(a.swapaxes(2, 3) @ b).transpose(1, 2, 0, 3).reshape(6 * n, 3 * t), _summed(b, g).reshape(1, -1)]
    )
    points = (b.reshape(t, -1, 3).swapaxes(1, 2) @ b.reshape(t, -1, 3)).copy()
    points += (1e-6 * np.trace(points, axis1=1, axis2=2)[:, None, None] + 1e-12) * np.eye(3)
    inverse = np.linalg.inv(points)
    point_moment = _summed(b, r)
    reduced = (mixed.reshape(-1, t, 3).swapaxes(0, 1) @ inverse).swapaxes(0, 1).reshape(-1, 3 * t)
    normal = normal - reduced @ mixed.T + np.diag(inverse_sigma**2)
    normal[np.diag_indices_from(normal)] *= 1 + damping
    step = np.linalg.solve(normal, -(moment - reduced @ point_moment.ravel()) - inverse_sigma**2 * deviation)
    back = point_moment + (step @ mixed).reshape(t, 3)
    return step, -(inverse @ back[..., None])[..., 0]


def _summed(
    by_point: Float64[np.ndarray, "t n 2 3"], with_px: Float64[np.ndarray, "t n 2"]
) -> Float64[np.ndarray, "t 3"]:
    """Sum over the observations of each point."""
    t = len(by_point)
    return (with_px.reshape(t, 1, -1) @ by_point.reshape(t, -1, 3))[:, 0]


def _deviation(s: Observations, start: Observations) -> Float64[np.ndarray, "n 6"]:
    """Difference of the cameras from the initial ones, as a step."""
    rotation = Rotation.from_matrix(s.cam_from_world @ start.cam_from_world.swapaxes(1, 2)).as_rotvec()
    return np.concatenate([rotation, s.centre - start.centre], axis=1)


def _stepped(s: Observations, by_pose: Float64[np.ndarray, "n 6"], factor: float = 1.0) -> Observations:
    rotation = Rotation.from_rotvec(by_pose[:, :3]).as_matrix()
    return replace(
        s,
        u=s.u / factor,
        focal_px=s.focal_px * factor,
        cam_from_world=rotation @ s.cam_from_world,
        centre=s.centre if s.rotation_only else s.centre + by_pose[:, 3:],
    )
