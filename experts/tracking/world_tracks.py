"""Tracks with depth, in the world: where they are, how sure that is, what hides them, how far they moved in σ.

numpy only. Everything is said in full-size pixels and the camera path's units.
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
    """Frames that have both a depth map and a camera."""

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
        """Poses; a camera that does not travel stays at the origin."""
        pose = self.path.world_from_cam[self.path_row].copy()
        if self.path.motion != "general":
            pose[:, :3, 3] = 0.0
        return pose

    def z(self, column: int) -> Float32[np.ndarray, "h w"]:
        """Depth map of a frame."""
        return self.depth.z[self.depth_row[column]]

    def of(self, columns: Int64[np.ndarray, "k"]) -> "PosedDepth":
        """Fewer frames."""
        return PosedDepth(
            frames=self.frames[columns], depth=self.depth, depth_row=self.depth_row[columns],
            path=self.path, path_row=self.path_row[columns],
        )  # fmt: skip


def posed_depth(depth: Depth, path: CameraPath, wanted: Sequence[int]) -> PosedDepth:
    """The frames of `wanted` with a camera and any depth at all."""
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
    """Depth as the tracker says it."""
    z_seen: Float64[np.ndarray, "t n"]
    """What the depth map has at the track's pixel; NaN where it has nothing, or a border."""
    z_nearest: Float64[np.ndarray, "t n"]
    """The nearest that it has within a pixel of the map around; NaN where it has nothing."""
    relative_sigma: Float64[np.ndarray, "t n"]
    """σ_z / z of the depth map there (of the frame's median, where it has nothing)."""
    range: Float64[np.ndarray, "t n"]
    """Distance to the camera."""
    covariance: Float64[np.ndarray, "t n 3 3"]
    """Of `xyz_world`: depth along the ray, `sigma_px` across it, the camera's own place and turn. Scale excluded."""

    def hidden(self, sigmas: float, floor: float) -> Bool[np.ndarray, "t n"]:
        """Something nearer is seen at the track's pixel, by more than `sigmas` and by more than `floor` (relative)."""
        with np.errstate(invalid="ignore"):
            return self.z_nearest < self.z * (1 - np.maximum(floor, sigmas * self.relative_sigma))

    def afloat(self, sigmas: float, floor: float) -> Bool[np.ndarray, "t n"]:
        """The track lies in front of what is seen at its pixel: one of the two is wrong."""
        with np.errstate(invalid="ignore"):
            return self.z_seen > self.z * (1 + np.maximum(floor, sigmas * self.relative_sigma))


def placed(
    xy_px: Float64[np.ndarray, "t n 2"], z: Float64[np.ndarray, "t n"], known: PosedDepth, sigma_px: float
) -> WorldTracks:
    """Lifts tracks by their own depth."""
    camera, poses = known.path.intrinsics, known.world_from_cam
    place_sigma = np.nan_to_num(known.path.position_sigma[known.path_row])
    turn_sigma = np.nan_to_num(known.path.rotation_sigma_rad[known.path_row])
    tracks, frames = z.shape
    xyz = np.full((tracks, frames, 3), np.nan)
    covariance = np.full((tracks, frames, 3, 3), np.nan)
    z_seen, z_nearest, relative, away = (np.full(z.shape, np.nan) for _ in range(4))
    for n in range(frames):
        relative_map = known.depth.relative_sigma[known.depth_row[n]]
        cam = unprojected(xy_px[:, n], z[:, n], camera)
        z_seen[:, n] = sampled(known.z(n), camera, xy_px[:, n])
        z_nearest[:, n] = _nearest_around(known.z(n), camera, xy_px[:, n])
        at_pixel = sampled(relative_map, camera, xy_px[:, n])
        usual = float(np.nanmedian(relative_map)) if np.isfinite(relative_map).any() else np.nan
        relative[:, n] = np.where(np.isfinite(at_pixel), at_pixel, usual)
        away[:, n] = np.linalg.norm(cam, axis=1)
        along = (relative[:, n] * away[:, n]) ** 2
        across = (z[:, n] * sigma_px / camera.fx_px) ** 2 + (turn_sigma[n] * away[:, n]) ** 2
        ray = cam / away[:, n, None] @ poses[n, :3, :3].T
        covariance[:, n] = (across + place_sigma[n] ** 2)[:, None, None] * np.eye(3)
        covariance[:, n] += (along - across)[:, None, None] * ray[:, :, None] * ray[:, None]
        xyz[:, n] = cam @ poses[n, :3, :3].T + poses[n, :3, 3]
    return WorldTracks(
        xyz_world=xyz, z=z, z_seen=z_seen, z_nearest=z_nearest,
        relative_sigma=relative, range=away, covariance=covariance,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Displacement:
    """How far each track moved between thirds of its life (medians); NaN for short ones.

    σ is that of one frame, however many there are: errors of depth last over many frames.
    """

    in_sigma: Float64[np.ndarray, "t"]
    """The largest of the three steps, each direction by its own σ (Mahalanobis)."""
    blind: Float64[np.ndarray, "t"]
    """σ of a step in the direction in which it is least sure, path units."""
    away: Float64[np.ndarray, "t"]
    """Median distance to the camera, path units."""


def displaced(tracks: WorldTracks, used: Bool[np.ndarray, "t n"], least_frames: int) -> Displacement:
    """Of the `used` frames of each track, at least `least_frames`."""
    in_sigma, blind, away = (np.full(len(used), np.nan) for _ in range(3))
    for row in np.flatnonzero(used.sum(axis=1) >= max(3, least_frames)):
        thirds = np.array_split(np.flatnonzero(used[row]), 3)
        middle = [np.median(tracks.xyz_world[row, at], axis=0) for at in thirds]
        spread = [np.mean(tracks.covariance[row, at], axis=0) for at in thirds]
        steps = [(middle[b] - middle[a], spread[a] + spread[b]) for a, b in combinations(range(3), 2)]
        in_sigma[row] = max(np.sqrt(step @ np.linalg.solve(covariance, step)) for step, covariance in steps)
        blind[row] = np.sqrt(max(np.linalg.eigvalsh(covariance)[-1] for _, covariance in steps))
        away[row] = np.median(tracks.range[row, used[row]])
    return Displacement(in_sigma=in_sigma, blind=blind, away=away)


def _nearest_around(
    z: Float32[np.ndarray, "h w"], camera: Intrinsics, xy_px: Float64[np.ndarray, "k 2"]
) -> Float64[np.ndarray, "k"]:
    """Least depth of the 3 x 3 pixels of the map around full-size pixels."""
    height, width = z.shape
    with np.errstate(invalid="ignore"):
        at = np.floor((xy_px + 0.5) * [width / camera.width_px, height / camera.height_px])
    x, y = np.where(np.isfinite(at), at, 0).astype(np.int64).T
    around = [
        z[np.clip(y + dy, 0, height - 1), np.clip(x + dx, 0, width - 1)] for dy in (-1, 0, 1) for dx in (-1, 0, 1)
    ]
    return np.where(np.isfinite(at[:, 0]), np.fmin.reduce(around), np.nan).astype(np.float64)
