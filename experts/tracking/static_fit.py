"""Fits one static point to every 2-D track under a known camera path.

Pixels here refer to an undistorted picture of 640 px width ("px"), so that thresholds are independent of the footage.
Tracks are processed in blocks: memory is bounded by block × frames.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import CameraPath, ImageTracks

REFERENCE_WIDTH_PX = 640.0
_BLOCK = 512
_WINDOWS = ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.0, 0.34), (0.33, 0.67), (0.66, 1.0))
_FAR = 1e4  # distance of a point without parallax, in extents of the path
_BEHIND = 1e3  # predicted position of a point behind the camera: it exceeds every threshold
_ARRAYS = ("xyz_world", "z", "predicted_u", "departure_px")


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Tracks as normalised image coordinates, with the camera of each frame."""

    u: Float64[np.ndarray, "t n 2"]
    """x/z, y/z without distortion; NaN where the track is not followed or the frame has no pose."""
    cam_from_world: Float64[np.ndarray, "n 3 3"]
    """Rotations, or homographies of the background; identity where the frame has no pose."""
    centre: Float64[np.ndarray, "n 3"]
    """Camera positions; zero where unknown, and everywhere if `rotation_only`."""
    focal_px: float
    """Focal length for a picture of 640 px width."""
    rotation_only: bool
    """The camera does not translate: a static point is a direction."""

    def of(self, tracks: slice | Int64[np.ndarray, "k"]) -> "Observations":
        """The same cameras with fewer tracks."""
        return replace(self, u=self.u[tracks])

    @property
    def seen(self) -> Bool[np.ndarray, "t n"]:
        """Where a track is followed in a frame that has a pose."""
        return np.isfinite(self.u[..., 0])


@dataclass(frozen=True, kw_only=True)
class StaticFit:
    """The static point of every track, and the residuals of the track."""

    xyz_world: Float64[np.ndarray, "t 3"]
    """Position (a unit direction if the camera only rotates); NaN if the track has too few frames."""
    z: Float64[np.ndarray, "t n"]
    """Depth of that point in every frame."""
    predicted_u: Float64[np.ndarray, "t n 2"]
    """Its predicted image position, normalised."""
    departure_px: Float64[np.ndarray, "t n 2"]
    """Residual vector, observed minus predicted; NaN where not observed, very large for points behind the camera."""

    @property
    def residual_px(self) -> Float64[np.ndarray, "t n"]:
        """Length of the residual vector."""
        return np.linalg.norm(self.departure_px, axis=-1)


def observations(tracks: ImageTracks, path: CameraPath) -> Observations:
    """Combines tracks and camera path, frame by frame. Frames without a pose count as not observed."""
    rotation_only = path.motion != "general"
    row = {int(f): i for i, f in enumerate(path.frames)}
    pose = np.full((len(tracks.frames), 4, 4), np.nan)
    for i, frame in enumerate(tracks.frames):
        if int(frame) in row and path.registered[row[int(frame)]]:
            pose[i] = path.world_from_cam[row[int(frame)]]
    known = np.isfinite(pose[:, :3, : 3 if rotation_only else 4]).all(axis=(1, 2))
    ray = path.intrinsics.rays(tracks.xy_px.astype(np.float64))
    u = ray[..., :2] / ray[..., 2:]
    u[:, ~known] = np.nan
    centre = np.zeros((len(pose), 3)) if rotation_only else np.where(known[:, None], pose[:, :3, 3], 0.0)
    return Observations(
        u=u,
        cam_from_world=np.where(known[:, None, None], pose[:, :3, :3].transpose(0, 2, 1), np.eye(3)),
        centre=centre,
        focal_px=path.intrinsics.fx_px * REFERENCE_WIDTH_PX / path.intrinsics.width_px,
        rotation_only=rotation_only,
    )


def fit_whole(s: Observations) -> StaticFit:
    """The static point with the smallest squared residuals over all frames of a track; a moving track is compared with
    it."""
    return _in_blocks(s, lambda block: _departure(block, _best_point(block, block.seen.astype(float))))


def fit_consensus(s: Observations, inlier_px: float) -> StaticFit:
    """The static point that explains most frames: correct for the part of a track before it drifted elsewhere."""
    return _in_blocks(s, lambda block: _consensus(block, inlier_px))


def fit_window(s: Observations, window: tuple[float, float]) -> StaticFit:
    """The best static point of a part of each track (fractions of its frames); NaN in the other frames."""
    return fit_whole(replace(s, u=np.where(_in_window(s, window)[..., None], s.u, np.nan)))


def parallax_rad(s: Observations, fit: StaticFit, used: Bool[np.ndarray, "t n"]) -> Float64[np.ndarray, "t"]:
    """Largest angle between the first, middle and last used rays to the point and any other; 0 without translation."""
    ray = fit.xyz_world[:, None] - s.centre[None]
    ray /= np.linalg.norm(ray, axis=-1, keepdims=True) + 1e-300
    ray[~used] = np.nan
    order = np.argsort(~used, axis=1, kind="stable")
    count = np.maximum(used.sum(axis=1), 1)
    angle = np.zeros(len(ray))
    for share in (0.0, 0.5, 1.0):
        column = order[np.arange(len(ray)), np.round(share * (count - 1)).astype(int)]
        chord = np.linalg.norm(ray - ray[np.arange(len(ray)), column][:, None], axis=-1)
        angle = np.fmax(angle, 2 * np.arcsin(np.clip(np.nan_to_num(chord).max(axis=1) / 2, 0, 1)))
    return angle


def shown_px(s: Observations, fit: StaticFit, used: Bool[np.ndarray, "t n"], share: float) -> Float64[np.ndarray, "t"]:
    """RMS residual of a steady motion by `share` of the range, in the direction in which it is least visible.

    Zero where a motion could be invisible, as in front of a camera that moves steadily with it (a car ahead).
    """
    if s.rotation_only:
        return np.full(len(s.u), s.focal_px * share / np.sqrt(12))
    x = np.arange(s.u.shape[1])[None]
    first, last = np.argmax(used, axis=1), s.u.shape[1] - 1 - np.argmax(used[:, ::-1], axis=1)
    tau = (x - first[:, None]) / np.maximum(last - first, 1)[:, None] - 0.5
    weight = np.where(used, 1 / np.maximum(fit.z, 1e-9) ** 2, 0)
    n00, n01, n11 = (_normal(s, fit.predicted_u, weight * tau**power)[0] for power in (0, 1, 2))
    ridge = 1e-9 * np.trace(n00, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 1e-30 * np.eye(3)
    reduced = n11 - np.swapaxes(n01, 1, 2) @ np.linalg.solve(n00 + ridge, n01)
    weakest = np.maximum(np.linalg.eigvalsh(reduced)[:, 0], 0)
    rms = s.focal_px * np.sqrt(weakest / np.maximum(used.sum(axis=1), 1))
    depth = np.where(used, fit.z, 0).sum(axis=1) / np.maximum(used.sum(axis=1), 1)
    return rms * share * depth


def _in_window(s: Observations, window: tuple[float, float]) -> Bool[np.ndarray, "t n"]:
    rank = np.cumsum(s.seen, axis=1) - 1
    part = rank / np.maximum(rank[:, -1:], 1)
    return s.seen & (part >= window[0]) & (part <= window[1])


def _consensus(s: Observations, inlier_px: float) -> StaticFit:
    best: StaticFit | None = None
    for window in _WINDOWS:
        xyz = _best_point(s, _in_window(s, window).astype(float))
        for _ in range(2):
            residual = np.nan_to_num(_departure(s, xyz).residual_px, nan=np.inf)
            refined = _best_point(s, 1 / (1 + (residual / inlier_px) ** 2) ** 2)
            xyz = np.where(np.isfinite(refined), refined, xyz)
        best = _better(best, _departure(s, xyz), inlier_px)
    assert best is not None
    return best


def _better(a: StaticFit | None, b: StaticFit, inlier_px: float) -> StaticFit:
    if a is None:
        return b
    take = _cost(b, inlier_px) < _cost(a, inlier_px)
    return StaticFit(
        **{
            name: np.where(take.reshape(-1, *[1] * (getattr(a, name).ndim - 1)), getattr(b, name), getattr(a, name))
            for name in _ARRAYS
        }
    )


def _cost(fit: StaticFit, inlier_px: float) -> Float64[np.ndarray, "t"]:
    share = np.minimum(fit.residual_px / inlier_px, 1) ** 2
    return np.where(np.isfinite(share), share, 0).sum(axis=1)


def _best_point(s: Observations, weight: Float64[np.ndarray, "t n"]) -> Float64[np.ndarray, "t 3"]:
    """Weighted least squares in the image, to first order; a point at infinity where the result is behind the
    camera."""
    towards = _direction(s, weight)
    if s.rotation_only:
        return towards
    middle = s.centre.mean(axis=0)
    extent = np.linalg.norm(s.centre - middle, axis=1).max() + 1e-9
    far = middle + towards * extent * _FAR
    xyz, z = far, np.ones(weight.shape)
    for _ in range(3):
        normal, moment = _normal(s, np.nan_to_num(s.u), np.where(s.seen, weight, 0) / z**2, middle)
        normal += (1e-12 * np.trace(normal, axis1=1, axis2=2)[:, None, None] + 1e-30) * np.eye(3)
        xyz = middle + np.linalg.solve(normal, moment[..., None])[..., 0]
        z = np.maximum(_along(s, xyz, 2), 1e-3 * extent)
    behind = np.any((weight > 0) & (_along(s, xyz, 2) <= 0), axis=1, keepdims=True)
    enough = np.sum(weight > 0, axis=1, keepdims=True) >= 3
    return np.where(enough, np.where(behind, far, xyz), np.nan)


def _normal(
    s: Observations,
    u: Float64[np.ndarray, "t n 2"],
    weight: Float64[np.ndarray, "t n"],
    origin: Float64[np.ndarray, "3"] | None = None,
) -> tuple[Float64[np.ndarray, "t 3 3"], Float64[np.ndarray, "t 3"]]:
    """Normal matrix and moment (about `origin`) of the rows R_k - u_k·R_z, k = x, y, of all frames.

    They are linear in (1, u_x, u_y, u²), so that one matrix product per clip computes them for all tracks.
    """
    outer = s.cam_from_world[:, :, None, :, None] * s.cam_from_world[:, None, :, None, :]  # of rows i and j
    xz, yz = outer[:, 0, 2] + outer[:, 2, 0], outer[:, 1, 2] + outer[:, 2, 1]
    parts = np.stack([outer[:, 0, 0] + outer[:, 1, 1], -xz, -yz, outer[:, 2, 2]])
    offset = s.centre - (np.zeros(3) if origin is None else origin)
    moments = np.einsum("pnij,nj->pni", parts, offset)
    factors = np.stack([weight, weight * u[..., 0], weight * u[..., 1], weight * (u**2).sum(axis=-1)], axis=1)
    flat = factors.reshape(len(u), 4 * len(s.centre))
    return (flat @ parts.reshape(-1, 9)).reshape(-1, 3, 3), flat @ moments.reshape(-1, 3)


def _direction(s: Observations, weight: Float64[np.ndarray, "t n"]) -> Float64[np.ndarray, "t 3"]:
    ray = np.concatenate([s.u, np.ones_like(s.u[..., :1])], axis=-1)
    ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
    weighted = np.nan_to_num(ray) * np.where(s.seen, weight, 0)[..., None]
    world_from_cam = np.linalg.inv(s.cam_from_world).swapaxes(1, 2)
    mean = weighted.reshape(len(weighted), 3 * len(s.centre)) @ world_from_cam.reshape(-1, 3)
    with np.errstate(invalid="ignore"):
        return mean / np.linalg.norm(mean, axis=-1, keepdims=True)


def _along(s: Observations, xyz: Float64[np.ndarray, "t 3"], axis: int) -> Float64[np.ndarray, "t n"]:
    row = s.cam_from_world[:, axis]
    return xyz @ row.T - np.einsum("ni,ni->n", row, s.centre)


def _departure(s: Observations, xyz: Float64[np.ndarray, "t 3"]) -> StaticFit:
    x, y, z = (_along(s, xyz, axis) for axis in range(3))
    in_front = np.where(z > 0, z, 1.0)
    u = np.where((z > 0)[..., None], np.stack([x / in_front, y / in_front], axis=-1), _BEHIND)
    return StaticFit(xyz_world=xyz, z=z, predicted_u=u, departure_px=(s.u - u) * s.focal_px)


def _in_blocks(s: Observations, fit: Callable[[Observations], StaticFit]) -> StaticFit:
    parts = [fit(s.of(slice(i, i + _BLOCK))) for i in range(0, max(len(s.u), 1), _BLOCK)]
    return StaticFit(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS})
