"""3-D tracks in the world: position, covariance, occlusion, and displacement in σ.

numpy only. Lengths are full-size pixels and units of the camera path.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.depth.depth_reprojection import sampled, unprojected
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, Depth


@dataclass(frozen=True, kw_only=True)
class PosedDepth:
    """Frames that have both a depth map and a pose."""

    frames: Int64[np.ndarray, "n"]
    """Frame indices, ascending."""
    depth: Depth
    depth_row: Int64[np.ndarray, "n"]
    """Their rows in the depth."""
    path: CameraPath
    path_row: Int64[np.ndarray, "n"]
    """Their rows in the camera path."""

    @property
    def world_from_cam(self) -> Float64[np.ndarray, "n 4 4"]:
        """Poses; a camera without translation stays at the origin."""
        pose = self.path.world_from_cam[self.path_row].copy()
        if self.path.motion != "general":
            pose[:, :3, 3] = 0.0
        return pose

    def z(self, column: int) -> Float32[np.ndarray, "h w"]:
        """Depth map of a frame."""
        return self.depth.z[self.depth_row[column]]

    def of(self, columns: Int64[np.ndarray, "k"]) -> "PosedDepth":
        """Restricted to some of its frames."""
        return PosedDepth(
            frames=self.frames[columns], depth=self.depth, depth_row=self.depth_row[columns],
            path=self.path, path_row=self.path_row[columns],
        )  # fmt: skip


def posed_depth(depth: Depth, path: CameraPath, wanted: Sequence[int]) -> PosedDepth:
    """The frames of `wanted` with a pose and any depth."""
    known = depth.frames[np.isfinite(depth.z).any(axis=(1, 2))]
    frames = np.intersect1d(np.intersect1d(known, path.frames[path.registered]), np.asarray(wanted, dtype=np.int64))
    return PosedDepth(
        frames=frames,
        depth=depth,
        depth_row=np.searchsorted(depth.frames, frames),
        path=path,
        path_row=np.searchsorted(path.frames, frames),
    )


@dataclass(frozen=True, kw_only=True)
class WorldTracks:
    """Points of tracks, frame by frame. NaN where a track is not followed."""

    xyz_world: Float64[np.ndarray, "t n 3"]
    z: Float64[np.ndarray, "t n"]
    """Depth predicted by the tracker."""
    z_seen: Float64[np.ndarray, "t n"]
    """Value of the depth map at the track's pixel; NaN where unknown, or on a border."""
    z_nearest: Float64[np.ndarray, "t n"]
    """Smallest value within one pixel of the map; NaN where unknown."""
    relative_sigma: Float64[np.ndarray, "t n"]
    """σ_z / z of the depth map there (median of the frame, where unknown)."""
    range: Float64[np.ndarray, "t n"]
    """Distance to the camera."""
    covariance: Float64[np.ndarray, "t n 3 3"]
    """Of `xyz_world`: depth along the ray, `sigma_px` across it, position and rotation of the camera. Without the
    scale."""

    @property
    def largest_sigma(self) -> Float64[np.ndarray, "t n"]:
        """σ of `xyz_world` along its least certain axis; NaN where a track is not followed."""
        known = np.isfinite(self.covariance).all(axis=(2, 3))
        variance = np.linalg.eigvalsh(np.where(known[..., None, None], self.covariance, np.eye(3)))[..., -1]
        return np.where(known, np.sqrt(variance), np.nan)

    def hidden(self, sigmas: float, floor: float) -> Bool[np.ndarray, "t n"]:
        """A nearer surface is seen at the track's pixel, by more than `sigmas` and by more than `floor` (relative)."""
        with np.errstate(invalid="ignore"):
            return self.z_nearest < self.z * (1 - np.maximum(floor, sigmas * self.relative_sigma))

    def in_front(self, sigmas: float, floor: float) -> Bool[np.ndarray, "t n"]:
        """The track is in front of the surface at its pixel: one of the two depths is wrong."""
        with np.errstate(invalid="ignore"):
            return self.z_seen > self.z * (1 + np.maximum(floor, sigmas * self.relative_sigma))


def tracks_in_world(
    xy_px: Float64[np.ndarray, "t n 2"], z: Float64[np.ndarray, "t n"], known: PosedDepth, sigma_px: float
) -> WorldTracks:
    """Unprojects tracks by their own depth."""
    camera, poses = known.path.intrinsics, known.world_from_cam
    position_sigma = np.nan_to_num(known.path.position_sigma[known.path_row])
    rotation_sigma = np.nan_to_num(known.path.rotation_sigma_rad[known.path_row])
    tracks, frames = z.shape
    xyz = np.full((tracks, frames, 3), np.nan)
    covariance = np.full((tracks, frames, 3, 3), np.nan)
    z_seen, z_nearest, relative, distance = (np.full(z.shape, np.nan) for _ in range(4))
    for n in range(frames):
        relative_map = known.depth.relative_sigma[known.depth_row[n]]
        cam = unprojected(xy_px[:, n], z[:, n], camera)
        z_seen[:, n] = sampled(known.z(n), camera, xy_px[:, n])
        z_nearest[:, n] = _nearest_around(known.z(n), camera, xy_px[:, n])
        at_pixel = sampled(relative_map, camera, xy_px[:, n])
        usual = float(np.nanmedian(relative_map)) if np.isfinite(relative_map).any() else np.nan
        relative[:, n] = np.where(np.isfinite(at_pixel), at_pixel, usual)
        distance[:, n] = np.linalg.norm(cam, axis=1)
        along = (relative[:, n] * distance[:, n]) ** 2
        across = (z[:, n] * sigma_px / camera.fx_px) ** 2 + (rotation_sigma[n] * distance[:, n]) ** 2
        ray = cam / distance[:, n, None] @ poses[n, :3, :3].T
        covariance[:, n] = (across + position_sigma[n] ** 2)[:, None, None] * np.eye(3)
        covariance[:, n] += (along - across)[:, None, None] * ray[:, :, None] * ray[:, None]
        xyz[:, n] = cam @ poses[n, :3, :3].T + poses[n, :3, 3]
    return WorldTracks(
        xyz_world=xyz, z=z, z_seen=z_seen, z_nearest=z_nearest,
        relative_sigma=relative, range=distance, covariance=covariance,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Displacement:
    """Displacement of each track between the thirds of its frames (medians); NaN for short tracks.

    σ is that of a single frame, as depth errors persist over many frames.
    """

    in_sigma: Float64[np.ndarray, "t"]
    """The largest of the three displacements in σ (Mahalanobis distance)."""
    max_sigma: Float64[np.ndarray, "t"]
    """σ of a displacement in its least certain direction, in path units."""
    distance: Float64[np.ndarray, "t"]
    """Median distance to the camera, in path units."""


def displaced(tracks: WorldTracks, used: Bool[np.ndarray, "t n"], min_frames: int) -> Displacement:
    """Displacement over the `used` frames of each track, of which there are at least `min_frames`."""
    in_sigma, max_sigma, distance = (np.full(len(used), np.nan) for _ in range(3))
    for row in np.flatnonzero(used.sum(axis=1) >= max(3, min_frames)):
        thirds = np.array_split(np.flatnonzero(used[row]), 3)
        middle = [np.median(tracks.xyz_world[row, at], axis=0) for at in thirds]
        covariances = [np.mean(tracks.covariance[row, at], axis=0) for at in thirds]
        steps = [(middle[b] - middle[a], covariances[a] + covariances[b]) for a, b in combinations(range(3), 2)]
        in_sigma[row] = max(np.sqrt(step @ np.linalg.solve(covariance, step)) for step, covariance in steps)
        max_sigma[row] = np.sqrt(max(np.linalg.eigvalsh(covariance)[-1] for _, covariance in steps))
        distance[row] = np.median(tracks.range[row, used[row]])
    return Displacement(in_sigma=in_sigma, max_sigma=max_sigma, distance=distance)


def _nearest_around(
    z: Float32[np.ndarray, "h w"], camera: Intrinsics, xy_px: Float64[np.ndarray, "k 2"]
) -> Float64[np.ndarray, "k"]:
    """Smallest depth of the 3 x 3 map pixels around full-size pixels."""
    height, width = z.shape
    with np.errstate(invalid="ignore"):
        at = np.floor((xy_px + 0.5) * [width / camera.width_px, height / camera.height_px])
    x, y = np.where(np.isfinite(at), at, 0).astype(np.int64).T
    around = [
        z[np.clip(y + dy, 0, height - 1), np.clip(x + dx, 0, width - 1)] for dy in (-1, 0, 1) for dx in (-1, 0, 1)
    ]
    return np.where(np.isfinite(at[:, 0]), np.fmin.reduce(around), np.nan).astype(np.float64)
