"""Fits one static point to every 2-D track under a known camera path.

Pixels here refer to an undistorted picture of 640 px width ("px"), so that thresholds are independent of the footage.
Tracks are processed in blocks of similar length and start, each in the frames that see it: time grows with the number
of observations.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import CameraPath, ImageTracks

REFERENCE_WIDTH_PX = 640.0
_BLOCK = 64
"""Tracks fitted at a time. In larger blocks the starts of tracks differ more: 512 of a minute's tracks are together in
most of its frames."""
_WINDOWS = ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (0.0, 0.34), (0.33, 0.67), (0.66, 1.0))
_FAR = 1e4  # distance of a point without parallax, in extents of the path
_BEHIND = 1e3  # predicted position of a point behind the camera: it exceeds every threshold
_ALL = slice(None)
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

    def of(self, tracks: Int64[np.ndarray, "k"], frames: slice = _ALL) -> "Observations":
        """Some of the tracks, in some of the frames."""
        return replace(
            self, u=self.u[tracks, frames], cam_from_world=self.cam_from_world[frames], centre=self.centre[frames]
        )

    @cached_property
    def seen(self) -> Bool[np.ndarray, "t n"]:
        """Where a track is followed in a frame that has a pose."""
        return np.isfinite(self.u[..., 0])


@dataclass(frozen=True, kw_only=True)
class StaticFit:
    """The static point of every track, and the residuals of the track."""

    xyz_world: Float64[np.ndarray, "t 3"]
    """Position (a unit direction if the camera only rotates); NaN if the track has too few frames."""
    z: Float64[np.ndarray, "t n"]
    """Depth of that point in every frame; NaN far from the frames that see the track."""
    predicted_u: Float64[np.ndarray, "t n 2"]
    """Its predicted image position, normalised; NaN likewise."""
    departure_px: Float64[np.ndarray, "t n 2"]
    """Residual vector, observed minus predicted; NaN where not observed, very large for points behind the camera."""

    @cached_property
    def residual_px(self) -> Float64[np.ndarray, "t n"]:
        """Length of the residual vector."""
        return np.hypot(self.departure_px[..., 0], self.departure_px[..., 1])

    def of(self, tracks: Int64[np.ndarray, "k"], frames: slice) -> "StaticFit":
        """Some of the tracks, in some of the frames."""
        return StaticFit(
            xyz_world=self.xyz_world[tracks],
            z=self.z[tracks, frames],
            predicted_u=self.predicted_u[tracks, frames],
            departure_px=self.departure_px[tracks, frames],
        )


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
    path = _Extent.of(s)
    return _in_blocks(s, lambda block: _departure(block, _best_point(block, block.seen.astype(float), path)))


def fit_consensus(s: Observations, inlier_px: float) -> StaticFit:
    """The static point that explains most frames: correct for the part of a track before it drifted elsewhere."""
    path = _Extent.of(s)
    return _in_blocks(s, lambda block: _consensus(block, inlier_px, path))


def fit_window(s: Observations, window: tuple[float, float]) -> StaticFit:
    """The best static point of a part of each track (fractions of its frames); NaN in the other frames."""
    return fit_whole(replace(s, u=np.where(_in_window(s, window)[..., None], s.u, np.nan)))


def parallax_rad(s: Observations, fit: StaticFit, used: Bool[np.ndarray, "t n"]) -> Float64[np.ndarray, "t"]:
    """Largest angle between the first, middle and last used rays to the point and any other; 0 without translation."""
    angle = np.zeros(len(used))
    for rows, frames in _blocks(used):
        angle[rows] = _parallax_rad(s.centre[frames], fit.xyz_world[rows], used[rows, frames])
    return angle


def _parallax_rad(
    centre: Float64[np.ndarray, "n 3"], xyz_world: Float64[np.ndarray, "t 3"], used: Bool[np.ndarray, "t n"]
) -> Float64[np.ndarray, "t"]:
    ray = xyz_world[:, None] - centre[None]
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

    Zero where a motion could be invisible, as in front of a camera that moves steadily with it (a car ahead), and for
    tracks that no frame uses.
    """
    if s.rotation_only:
        return np.full(len(s.u), s.focal_px * share / np.sqrt(12))
    shown = np.zeros(len(used))
    for rows, frames in _blocks(used):
        shown[rows] = share * _shown_px(s.of(rows, frames), fit.of(rows, frames), used[rows, frames])
    return shown


def _shown_px(s: Observations, fit: StaticFit, used: Bool[np.ndarray, "t n"]) -> Float64[np.ndarray, "t"]:
    """The same for a motion by the whole range."""
    x = np.arange(used.shape[1])[None]
    first, last = _span(used)
    tau = (x - first[:, None]) / np.maximum(last - first, 1)[:, None] - 0.5
    weight = np.where(used, 1 / np.maximum(fit.z, 1e-9) ** 2, 0)
    predicted = np.where(used[..., None], fit.predicted_u, 0)
    n00, n01, n11 = (_normal(s, predicted, weight * tau**power)[0] for power in (0, 1, 2))
    ridge = 1e-9 * np.trace(n00, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 1e-30 * np.eye(3)
    reduced = n11 - np.swapaxes(n01, 1, 2) @ np.linalg.solve(n00 + ridge, n01)
    weakest = np.maximum(np.linalg.eigvalsh(reduced)[:, 0], 0)
    rms = s.focal_px * np.sqrt(weakest / np.maximum(used.sum(axis=1), 1))
    return rms * np.where(used, fit.z, 0).sum(axis=1) / np.maximum(used.sum(axis=1), 1)


def _in_window(s: Observations, window: tuple[float, float]) -> Bool[np.ndarray, "t n"]:
    rank = np.cumsum(s.seen, axis=1) - 1
    part = rank / np.maximum(rank[:, -1:], 1)
    return s.seen & (part >= window[0]) & (part <= window[1])


@dataclass(frozen=True, kw_only=True)
class _Extent:
    """Where the camera of a whole clip is: the origin of the equations, and the unit of small and large distances."""

    middle: Float64[np.ndarray, "3"]
    radius: float

    @classmethod
    def of(cls, s: Observations) -> "_Extent":
        middle = s.centre.mean(axis=0)
        return cls(middle=middle, radius=float(np.linalg.norm(s.centre - middle, axis=1).max()) + 1e-9)


def _consensus(s: Observations, inlier_px: float, path: _Extent) -> StaticFit:
    best: StaticFit | None = None
    for window in _WINDOWS:
        xyz = _best_point(s, _in_window(s, window).astype(float), path)
        for _ in range(2):
            residual = np.nan_to_num(_departure(s, xyz).residual_px, nan=np.inf)
            refined = _best_point(s, 1 / (1 + (residual / inlier_px) ** 2) ** 2, path)
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


def _best_point(s: Observations, weight: Float64[np.ndarray, "t n"], path: _Extent) -> Float64[np.ndarray, "t 3"]:
    """Weighted least squares in the image, to first order; a point at infinity where the result is behind the
    camera."""
    if s.rotation_only:
        return _direction(s, weight)
    xyz, z = np.zeros((len(weight), 3)), np.ones(weight.shape)
    u, seen_weight = np.nan_to_num(s.u), np.where(s.seen, weight, 0)
    for _ in range(3):
        normal, moment = _normal(s, u, seen_weight / z**2, path.middle)
        normal += (1e-12 * np.trace(normal, axis1=1, axis2=2)[:, None, None] + 1e-30) * np.eye(3)
        xyz = path.middle + np.linalg.solve(normal, moment[..., None])[..., 0]
        z = np.maximum(_along(s, xyz, 2), 1e-3 * path.radius)
    behind = np.flatnonzero(np.any((weight > 0) & (_along(s, xyz, 2) <= 0), axis=1))
    xyz[behind] = path.middle + _direction(s.of(behind), weight[behind]) * path.radius * _FAR
    return np.where(np.sum(weight > 0, axis=1, keepdims=True) >= 3, xyz, np.nan)


def _normal(
    s: Observations,
    u: Float64[np.ndarray, "t n 2"],
    weight: Float64[np.ndarray, "t n"],
    origin: Float64[np.ndarray, "3"] | None = None,
) -> tuple[Float64[np.ndarray, "t 3 3"], Float64[np.ndarray, "t 3"]]:
    """Normal matrix and moment (about `origin`) of the rows R_k - u_k·R_z, k = x, y, of all frames.

    They are linear in (1, u_x, u_y, u²), so that one matrix product computes them for all tracks.
    """
    outer = s.cam_from_world[:, :, None, :, None] * s.cam_from_world[:, None, :, None, :]  # of rows i and j
    xz, yz = outer[:, 0, 2] + outer[:, 2, 0], outer[:, 1, 2] + outer[:, 2, 1]
    parts = np.stack([outer[:, 0, 0] + outer[:, 1, 1], -xz, -yz, outer[:, 2, 2]])
    offset = s.centre - (np.zeros(3) if origin is None else origin)
    moments = np.einsum("pnij,nj->pni", parts, offset)
    x, y = u[..., 0], u[..., 1]
    factors = np.stack([weight, weight * x, weight * y, weight * (x**2 + y**2)], axis=1)
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
    tracks, frames = s.seen.shape
    found = StaticFit(
        xyz_world=np.full((tracks, 3), np.nan),
        z=np.full((tracks, frames), np.nan),
        predicted_u=np.full((tracks, frames, 2), np.nan),
        departure_px=np.full((tracks, frames, 2), np.nan),
    )
    for rows, columns in _blocks(s.seen):
        part = fit(s.of(rows, columns))
        found.xyz_world[rows] = part.xyz_world
        for name in ("z", "predicted_u", "departure_px"):
            getattr(found, name)[rows, columns] = getattr(part, name)
    return found


def _blocks(seen: Bool[np.ndarray, "t n"]) -> Iterator[tuple[Int64[np.ndarray, "k"], slice]]:
    """Tracks of similar length and start, without those that are never seen, and the frames that see any of them."""
    first, last = _span(seen)
    doublings = np.ceil(np.log2(last + 1 - first))
    order = np.lexsort((first, doublings))
    order = order[seen.any(axis=1)[order]]  # type: ignore[index]  # one value per track
    for at in range(0, len(order), _BLOCK):
        rows = order[at : at + _BLOCK]
        yield rows, slice(int(first[rows].min()), int(last[rows].max()) + 1)


def _span(seen: Bool[np.ndarray, "t n"]) -> tuple[Int64[np.ndarray, "t"], Int64[np.ndarray, "t"]]:
    """First and last frame that sees each track; all of them for one that is never seen."""
    return np.argmax(seen, axis=1), seen.shape[1] - 1 - np.argmax(seen[:, ::-1], axis=1)
