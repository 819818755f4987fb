"""Pixels reprojected from frame to frame: their σ, where they must not be used, and the tracks that pass near them."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float32, Float64
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.depth.depth_reprojection import Reprojection, reprojected, sampled, unprojected
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, Depth, Objects, PointTracks, ValidArea


@dataclass(frozen=True, kw_only=True)
class DepthOnPath:
    """Depth and poses of the same frames. The requested frames must have both."""

    depth: Depth
    path: CameraPath
    """In the unit of the depth. Its motion is "general" or "rotation_only"; the latter has its centre at the origin."""
    pose_sigma_px: float | None = None
    """σ per axis of the reprojection error due to the poses, in full-size pixels, measured by tracks. None: from the σ
    of the path."""

    def row(self, frame: int) -> int:
        """Row of a frame in the depth."""
        return int(np.searchsorted(self.depth.frames, frame))

    def b_from_a(self, a: int, b: int) -> Float64[np.ndarray, "4 4"]:
        """Transforms camera axes of frame a into those of frame b."""
        first, second = self.path.world_from_cam[np.searchsorted(self.path.frames, [a, b])]
        if self.path.motion == "rotation_only":
            first, second = _rotation_only(first), _rotation_only(second)
        return np.asarray(np.linalg.inv(second) @ first)

    def round_trip(self, a: int, b: int, xy_px: Float64[np.ndarray, "k 2"]) -> Reprojection:
        """Reprojects pixels of frame a into frame b and back."""
        z, camera = self.depth.z, self.path.intrinsics
        return reprojected(xy_px, z[self.row(a)], z[self.row(b)], self.b_from_a(a, b), camera, camera)

    def relative_sigma(self, frame: int, xy_px: Float64[np.ndarray, "k 2"]) -> Float64[np.ndarray, "k"]:
        """σ_z / z at pixels; the median of the frame where the pixel's own is unknown."""
        sigma = self.depth.relative_sigma[self.row(frame)]
        return np.nan_to_num(sampled(sigma, self.path.intrinsics, xy_px), nan=float(np.nanmedian(sigma)))

    def sigma_px(
        self, a: int, b: int, xy_a: Float64[np.ndarray, "k 2"], xy_b: Float64[np.ndarray, "k 2"]
    ) -> Float64[np.ndarray, "k"]:
        """σ per axis of the reprojected pixels: depth ⊕ poses ⊕ focal length, to first order."""
        camera, b_from_a = self.path.intrinsics, self.b_from_a(a, b)
        z = sampled(self.depth.z[self.row(a)], camera, xy_a)
        farther = _reprojected(xy_a, z * 1.01, camera, b_from_a)
        by_depth = np.linalg.norm(farther - xy_b, axis=1) / 0.01 * self.relative_sigma(a, xy_a)
        if self.pose_sigma_px is not None:
            return np.hypot(by_depth, self.pose_sigma_px)
        longer = replace(camera, fx_px=camera.fx_px * 1.01, fy_px=camera.fy_px * 1.01)
        zoomed = _reprojected(xy_a, z, longer, b_from_a)
        by_focal = np.linalg.norm(zoomed - xy_b, axis=1) / 0.01 * self.path.focal_relative_sigma
        return np.linalg.norm([by_depth, by_focal, self._pose_sigma_px(a, b, xy_a, z)], axis=0)

    def _pose_sigma_px(
        self, a: int, b: int, xy_a: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"]
    ) -> Float64[np.ndarray, "k"]:
        """σ of the reprojected pixels due to rotation, position and direction of the poses."""
        path, b_from_a = self.path, self.b_from_a(a, b)
        rows = np.searchsorted(path.frames, [a, b])
        rotation = float(path.rotation_sigma_rad[rows].max())
        if path.motion == "rotation_only":
            return np.full(len(z), path.intrinsics.fx_px * rotation)
        z_b = unprojected(xy_a, z, path.intrinsics) @ b_from_a[2, :3] + b_from_a[2, 3]
        by_direction = float(np.linalg.norm(b_from_a[:3, 3])) * path.total_direction_sigma_rad
        position = np.hypot(by_direction, np.linalg.norm(path.position_sigma[rows]))
        return np.asarray(path.intrinsics.fx_px * np.hypot(rotation, position / z_b))


def _reprojected(
    xy_a: Float64[np.ndarray, "k 2"],
    z: Float64[np.ndarray, "k"],
    camera: Intrinsics,
    b_from_a: Float64[np.ndarray, "4 4"],
) -> Float64[np.ndarray, "k 2"]:
    return np.asarray(camera.project(unprojected(xy_a, z, camera) @ b_from_a[:3, :3].T + b_from_a[:3, 3]))


def _rotation_only(world_from_cam: Float64[np.ndarray, "4 4"]) -> Float64[np.ndarray, "4 4"]:
    out = np.eye(4)
    out[:3, :3] = world_from_cam[:3, :3]
    return out


_SIGMA_PER_PX = 0.3
"""Increase of a track's σ, in px per px of distance from the pixel: displacements of neighbours on one surface differ
by up to about a third of their distance."""


@dataclass(frozen=True, kw_only=True)
class TrackEnds:
    """Where nearby tracks place pixels in another frame."""

    xy_px: Float64[np.ndarray, "k 2"]
    """NaN where no track is near."""
    sigma_px: Float64[np.ndarray, "k"]
    """σ per axis."""


def inside(clip: Clip, xy_px: Float64[np.ndarray, "k 2"], edge_share: float) -> Bool[np.ndarray, "k"]:
    """Whether pixels are farther from the frame's edges than this share of its size; False for NaN."""
    size = np.array([clip.width_px, clip.height_px])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.all((xy_px >= edge_share * size) & (xy_px <= (1 - edge_share) * size - 1), axis=1))


def shows_scene(area: ValidArea, clip: Clip, xy_px: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
    """Whether pixels are in the valid area."""
    x, y = np.round(clip.working_from_full(xy_px)).astype(int).T
    height, width = area.valid.shape
    return area.valid[y.clip(0, height - 1), x.clip(0, width - 1)]


def near_depth_border(
    z: Float32[np.ndarray, "h w"], camera: Intrinsics, xy_px: Float64[np.ndarray, "k 2"], radius_px: float, ratio: float
) -> Bool[np.ndarray, "k"]:
    """Whether the depth at this radius differs by more than a factor in any of eight directions, or is unknown in more
    than two of them, or at the pixel itself."""
    angle = np.arange(8) * np.pi / 4
    around = xy_px[:, None] + radius_px * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ring = sampled(z, camera, around.reshape(-1, 2)).reshape(len(xy_px), 8)
    own = sampled(z, camera, xy_px)
    with np.errstate(invalid="ignore"):
        differs = np.abs(np.log(ring / own[:, None])) > np.log(ratio)
    return np.asarray(differs.any(axis=1) | (np.isnan(ring).sum(axis=1) > 2) | np.isnan(own))


def followed_pixels(tracks: PointTracks, frame: int) -> Float64[np.ndarray, "t 2"]:
    """Pixels of the tracks that exist in a frame and are not known to move."""
    column = _column(tracks, frame)
    if column is None:
        return np.empty((0, 2))
    here = tracks.xy_px[tracks.motion != 1, column]
    return here[np.isfinite(here).all(axis=1)]


def track_ends(tracks: PointTracks, a: int, b: int, xy_a_px: Float64[np.ndarray, "k 2"], radius_px: float) -> TrackEnds:
    """Pixels in frame b of static tracks that pass within a radius of pixels of frame a and are visible in both
    frames."""
    none = TrackEnds(xy_px=np.full_like(xy_a_px, np.nan), sigma_px=np.full(len(xy_a_px), np.nan))
    at, to = _column(tracks, a), _column(tracks, b)
    if at is None or to is None:
        return none
    known = np.isfinite(tracks.xy_px[:, [at, to]]).all(axis=(1, 2)) & (tracks.motion != 1)
    known &= tracks.visible[:, at] & tracks.visible[:, to]
    if not known.any():
        return none
    start, end, sigma = tracks.xy_px[known, at], tracks.xy_px[known, to], tracks.sigma_px[known, to]
    distance, nearest = cKDTree(start).query(xy_a_px)
    near = distance <= radius_px
    return TrackEnds(
        xy_px=np.where(near[:, None], end[nearest] + xy_a_px - start[nearest], np.nan),
        sigma_px=np.where(near, np.hypot(sigma[nearest], _SIGMA_PER_PX * distance), np.nan),
    )


def near_moving_tracks(
    tracks: PointTracks, frame: int, xy_px: Float64[np.ndarray, "k 2"], radius_px: float
) -> Bool[np.ndarray, "k"]:
    """Whether pixels are within a radius of a track that moves in the world."""
    column = _column(tracks, frame)
    moving = tracks.xy_px[tracks.motion == 1, column] if column is not None else np.empty((0, 2))
    moving = moving[np.isfinite(moving).all(axis=1)]
    if not len(moving):
        return np.zeros(len(xy_px), dtype=bool)
    return np.asarray(cKDTree(moving).query(xy_px)[0] <= radius_px)


def on_moving_object(
    objects: Objects, clip: Clip, frame: int, xy_px: Float64[np.ndarray, "k 2"]
) -> Bool[np.ndarray, "k"]:
    """Whether pixels are on an object whose pose changes or is unknown in all frames; False where there are no
    masks."""
    rows = np.flatnonzero(objects.frames == frame)
    if not len(rows) or not objects.labels:
        return np.zeros(len(xy_px), dtype=bool)
    poses = objects.world_from_object
    known = np.isfinite(poses)
    low, high = np.where(known, poses, np.inf).min(axis=0), np.where(known, poses, -np.inf).max(axis=0)
    static = np.all((high - low >= 0) & (high - low < 1e-6), axis=(1, 2))
    height, width = objects.ids.shape[1:]
    x, y = np.round((xy_px + 0.5) * [width / clip.width_px, height / clip.height_px] - 0.5).astype(int).T
    item = objects.ids[rows[0]][y.clip(0, height - 1), x.clip(0, width - 1)]
    return np.asarray((item >= 0) & ~static[item])


def _column(tracks: PointTracks, frame: int) -> int | None:
    at = int(np.searchsorted(tracks.frames, frame))
    return at if at < len(tracks.frames) and tracks.frames[at] == frame else None
