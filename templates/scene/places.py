"""Where marked points are over time: places of moving points, in the axes of a camera."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from templates.columns import Columns
from templates.scene.correspondence import moved_with_object, objects_at
from templates.scene.marks import Frame, Pixel
from templates.scene.point_motion import tracks_at
from templates.scene.scene import Scene, find_rows


@dataclass(frozen=True, kw_only=True)
class Places(Columns):
    """Places of n points in k frames; NaN where unknown."""

    xyz_cam: Float64[np.ndarray, "n k 3"]
    """In the camera axes of the frame that marks the point, in path units."""
    sigma: Float64[np.ndarray, "n k"]
    """Along the least certain axis, without that of the scale."""


def places_over_time(scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"]) -> Places:
    """The places, in each of `frames` (-1 ends a row), of the points that pixels of `frame` show: by the poses of
    objects where a dataset has them, else by 3-D tracks."""
    world, sigma = _by_tracks(scene, frame, xy_px, frames)
    if scene.exact_objects is not None:
        by_pose, pose_sigma = _by_pose(scene, frame, xy_px, frames)
        listed = np.isfinite(by_pose).all(axis=2)
        world, sigma = np.where(listed[..., None], by_pose, world), np.where(listed, pose_sigma, sigma)
    pose = scene.world_from_cam(frame)
    xyz_cam = np.einsum("nji,nkj->nki", pose[:, :3, :3], world - pose[:, None, :3, 3])
    return Places(xyz_cam=xyz_cam, sigma=np.where(np.isfinite(xyz_cam).all(axis=2), sigma, np.nan))


def _by_tracks(
    scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"]
) -> tuple[Float64[np.ndarray, "n k 3"], Float64[np.ndarray, "n k"]]:
    tracks = scene.tracks
    if tracks is None or tracks.xyz_world is None or tracks.xyz_sigma is None or not len(tracks.xyz_world):
        return np.full((*frames.shape, 3), np.nan), np.full(frames.shape, np.nan)
    track, column = tracks_at(scene, frame, xy_px)[:, None], find_rows(tracks.frames, frames)
    known = (track >= 0) & (column >= 0)
    at = np.maximum(track, 0), np.maximum(column, 0)
    xyz, sigma = tracks.xyz_world[at].astype(np.float64), tracks.xyz_sigma[at].astype(np.float64)
    return np.where(known[..., None], xyz, np.nan), np.where(known, sigma, np.nan)


def _by_pose(
    scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"]
) -> tuple[Float64[np.ndarray, "n k 3"], Float64[np.ndarray, "n k"]]:
    """Of points on listed objects."""
    objects = scene.exact_objects
    assert objects is not None
    seen, pose = scene.surface(frame, xy_px), scene.world_from_cam(frame)
    world = np.einsum("nij,nj->ni", pose[:, :3, :3], seen.xyz_cam) + pose[:, :3, 3]
    there = (find_rows(objects.frames, frames) >= 0) & (objects_at(scene, frame, xy_px) >= 0)[:, None]
    columns = [moved_with_object(scene, frame, xy_px, column, world) for column in frames.T]
    xyz = np.stack(columns, axis=1) if columns else np.empty((*frames.shape, 3))
    sigma = np.broadcast_to((seen.range * seen.range_relative_sigma)[:, None], frames.shape)
    return np.where(there[..., None], xyz, np.nan), np.where(there, sigma, np.nan)
