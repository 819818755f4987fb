"""Points: sparse ones, those of depth images, and tracks."""

import numpy as np
import rerun as rr
from jaxtyping import Bool, Int64, UInt8

from experts.clip import Picture
from experts.signals import PointTracks, SparsePoints
from spatial_engine.view.picture_camera import PICTURE, PictureCamera
from spatial_engine.view.timeline import Timeline
from templates.scene.scene import Scene, find_rows

_GREY = (150, 155, 165)
_MOTION = {1: (255, 122, 26), 0: (74, 163, 255), -1: (199, 204, 212)}
"""Colours of tracks that move, do not move, and of which it is not known: those of the report."""


class PointColours:
    """Collects the colours of sparse points from the pictures that observe them."""

    def __init__(self, points: SparsePoints) -> None:
        self._points = points
        self.rgb: UInt8[np.ndarray, "p 3"] = np.tile(np.array(_GREY, dtype=np.uint8), (len(points.xyz_world), 1))
        """Grey for points that no picture shown observes."""

    def look(self, frame: int, picture: Picture) -> None:
        """Takes the colours of the points that a frame observes."""
        here = self._points.observation_frame == frame
        xy = np.round(self._points.observation_xy_px[here]).astype(int)
        x, y = np.clip(xy, 0, np.array(picture.shape[1::-1]) - 1).T
        self.rgb[self._points.observation_point[here]] = picture[y, x]


def show_points(
    line: Timeline,
    points: SparsePoints,
    entity: str,
    most: int,
    rgb: UInt8[np.ndarray, "p 3"] | None = None,
) -> None:
    """At most so many sparse points, with their σ of range and outlier probability."""
    rows = _spread(np.flatnonzero(np.isfinite(points.xyz_world).all(axis=1)), most)
    if not len(rows):
        return
    values = rr.AnyValues(
        range_relative_sigma=points.range_relative_sigma[rows], outlier_probability=points.outlier_probability[rows]
    )
    line.fixed(entity, rr.Points3D(points.xyz_world[rows], colors=_GREY if rgb is None else rgb[rows]), values)


def show_depth(line: Timeline, scene: Scene, frame: int, picture: Picture | None, most: int) -> None:
    """At most so many points of the depth image of a frame, in the colours of its picture.

    Depth of which each frame has a factor of its own has no place among the other frames, and is left out.
    """
    depth, pose = scene.depth, scene.world_from_cam(frame)
    row = -1 if depth is None else int(find_rows(depth.frames, frame))
    if depth is None or scene.path is None or row < 0 or depth.scale.kind == "per_frame":
        return
    pose[:3, 3] = np.nan_to_num(pose[:3, 3])
    z = depth.z[row]
    step = max(1, int(np.ceil(np.sqrt(z.size / max(most, 1)))))
    v, u = (each.ravel() for each in np.mgrid[step // 2 : z.shape[0] : step, step // 2 : z.shape[1] : step])
    known = np.isfinite(z[v, u])
    if not (most and known.any() and np.isfinite(pose).all()):
        return
    u, v = u[known], v[known]
    scale = np.array([scene.clip.width_px / z.shape[1], scene.clip.height_px / z.shape[0]])
    xy = (np.stack([u, v], axis=1) + 0.5) * scale - 0.5
    rays = scene.path.intrinsics.rays(xy)
    xyz = rays / rays[:, 2:] * z[v, u, None] @ pose[:3, :3].T + pose[:3, 3]
    colours = _GREY if picture is None else picture[xy[:, 1].astype(int), xy[:, 0].astype(int)]
    line.log("world/depth", rr.Points3D(xyz, colors=colours))


def show_tracks(line: Timeline, scene: Scene, most: int) -> None:
    """Tracks with known positions: where each is over time, and its whole way."""
    tracks = scene.tracks
    if tracks is None or tracks.xyz_world is None:
        return
    rows = _chosen_tracks(tracks, np.isfinite(tracks.xyz_world).all(axis=2).any(axis=1), most)
    if not len(rows):
        return
    xyz, colours = tracks.xyz_world[rows], _colours(tracks, rows)
    known = np.isfinite(xyz).all(axis=2)
    by_frame = np.argwhere(known.T)
    columns = rr.Points3D.columns(positions=xyz[by_frame[:, 1], by_frame[:, 0]], colors=colours[by_frame[:, 1]])
    line.columns("world/tracks", tracks.frames, columns.partition(known.sum(axis=0)))
    ways = [way[at] for way, at in zip(xyz, known, strict=True)]
    line.fixed("world/tracks/ways", rr.LineStrips3D(ways, colors=colours))


def show_tracked_pixels(line: Timeline, scene: Scene, camera: PictureCamera, frame: int, most: int) -> None:
    """Visible tracks of a frame, drawn into its picture."""
    tracks = scene.tracks
    column = -1 if tracks is None else int(find_rows(tracks.frames, frame))
    if tracks is None or not most:
        return
    rows = _chosen_tracks(tracks, np.ones(len(tracks.motion), dtype=bool), most)
    xy = tracks.xy_px[rows, column]
    seen = tracks.visible[rows, column] & np.isfinite(xy).all(axis=1) & (column >= 0)
    line.log(f"{PICTURE}/tracks", rr.Points2D(camera.pixels(xy[seen]), colors=_colours(tracks, rows[seen])))


def _chosen_tracks(tracks: PointTracks, usable: Bool[np.ndarray, "t"], most: int) -> Int64[np.ndarray, "k"]:
    """At most so many tracks: moving ones first."""
    moving, others = (np.flatnonzero(usable & flag) for flag in (tracks.motion == 1, tracks.motion != 1))
    moving = _spread(moving, most)
    return np.sort(np.concatenate([moving, _spread(others, most - len(moving))]))


def _colours(tracks: PointTracks, rows: Int64[np.ndarray, "k"]) -> UInt8[np.ndarray, "k 3"]:
    return np.array([_MOTION[int(kind)] for kind in tracks.motion[rows]], dtype=np.uint8).reshape(-1, 3)


def _spread(rows: Int64[np.ndarray, "n"], most: int) -> Int64[np.ndarray, "k"]:
    """At most so many of the rows, evenly spread."""
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)] if most else rows[:0]
