"""The pixels on which a mark may be drawn."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.clip import Clip
from templates.scene.scene import Scene, find_rows

Pixels = tuple[Int64[np.ndarray, "k"], Float64[np.ndarray, "k 2"]]
"""Frames, and a full-size pixel of each, rounded to 0.1."""
Frame = Int64[np.ndarray, "n"]
"""The frames of n points that are asked about, ..."""
Pixel = Float64[np.ndarray, "n 2"]
"""... and their full-size pixels."""
MAX_OUTLIER_PROBABILITY = 0.01
"""Points with a larger outlier probability cannot pass the gate, and are not proposed."""
_BORDER = 0.06
"""Least distance of a mark from the frame's edges, as a share of the frame's size: mark and letter stay inside."""
_MAX_TRACKS = 300
"""Most tracks of a frame whose pixels are candidates."""
_GRID = 24
"""Dense depth is sampled on a grid of this many cells per side."""
_MATCHED_GRID = 6
"""The same of single pixels that are matched, each of which takes some hundredths of a second."""


def inside(clip: Clip, xy_px: Float64[np.ndarray, "*n 2"]) -> Bool[np.ndarray, "*n"]:
    """Whether pixels lie at least `_BORDER` inside the frame's edges."""
    size = np.array([clip.width_px, clip.height_px])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.all((xy_px >= _BORDER * size) & (xy_px <= (1 - _BORDER) * size - 1), axis=-1))


def markable(scene: Scene, frames: Iterable[int]) -> Pixels:
    """Pixels of the frames, away from their edges, whose surface point is unlikely to be an outlier. Those of a frame
    are looked for once, for all templates."""
    frames = [int(frame) for frame in frames]
    known = scene.once("markable", dict[int, Float64[np.ndarray, "k 2"]])
    if new := [frame for frame in dict.fromkeys(frames) if frame not in known]:
        found = [candidate_pixels(scene, frame) for frame in new]
        at = np.repeat(new, [len(each) for each in found])
        rows, xy = filter_markable(scene, at, np.concatenate(found))
        known |= {frame: xy[at[rows] == frame] for frame in new}
    count = [len(known[frame]) for frame in frames]
    xy_px = np.concatenate([np.empty((0, 2)), *(known[frame] for frame in frames)])
    return np.repeat(np.array(frames, dtype=np.int64), count), xy_px


def filter_markable(
    scene: Scene, frames: Frame, xy_px: Pixel
) -> tuple[Int64[np.ndarray, "k"], Float64[np.ndarray, "k 2"]]:
    """Which of the given pixels can be marked, by index, and these pixels, rounded to 0.1."""
    rows = np.flatnonzero(inside(scene.clip, xy_px))
    xy_px = np.round(xy_px[rows], 1)
    with np.errstate(invalid="ignore"):
        sure = scene.surface(frames[rows], xy_px).outlier_probability < MAX_OUTLIER_PROBABILITY
    return rows[sure], xy_px[sure]


def known_pixels(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    """Pixels of a frame with a surface point of any quality: a grid on dense depth, or the sparse points and a grid on
    patches of depth. A coarser grid where ground truth matches single pixels. Looked for once per frame."""
    return scene.once(("known pixels", int(frame)), lambda: _known_pixels(scene, frame))


def _known_pixels(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    if scene.has_depth(frame):
        return grid_px(scene.clip, _GRID)
    if scene.matched is not None:
        return grid_px(scene.clip, _MATCHED_GRID)
    sparse = np.empty((0, 2))
    if scene.points is not None:
        sparse = scene.points.observation_xy_px[scene.points.observation_frame == frame]
    patches = scene.depth_patches
    if patches is None or (row := int(find_rows(patches.frames, [frame])[0])) < 0:
        return sparse
    size = np.array(patches.z.shape[:0:-1])
    grid = grid_px(scene.clip, _GRID)
    column, line = np.round((grid + 0.5) * size / [scene.clip.width_px, scene.clip.height_px] - 0.5).astype(int).T
    return np.concatenate([sparse, grid[np.isfinite(patches.z[row, line, column])]])


def grid_px(clip: Clip, cells: int) -> Float64[np.ndarray, "k 2"]:
    """The centres of equal cells of the frame, `cells` per side."""
    return _grid_px(clip.width_px, clip.height_px, cells)


@cache
def _grid_px(width_px: int, height_px: int, cells: int) -> Float64[np.ndarray, "k 2"]:
    x, y = ((np.arange(cells) + 0.5) / cells * side for side in (width_px, height_px))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    grid.flags.writeable = False
    return grid


def candidate_pixels(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    """Pixels of a frame that may be markable. For learned depth, pixels with an independent range come first."""
    if not scene.has_depth(frame) or scene.measured_depth is not None:
        return known_pixels(scene, frame)
    second, tracks = scene.second, scene.tracks
    if second is not None and second.points is not None and not second.has_depth(frame):
        return known_pixels(second, frame)
    if tracks is None or (column := int(find_rows(tracks.frames, [frame])[0])) < 0:
        return known_pixels(scene, frame)
    followed = tracks.xy_px[tracks.visible[:, column] & (tracks.motion != 1), column]
    followed = followed[np.isfinite(followed).all(axis=1)]
    return np.concatenate([followed[:: 1 + len(followed) // _MAX_TRACKS], known_pixels(scene, frame)])


def frames_with_surface(scene: Scene) -> np.ndarray:
    """Registered frames with surface points."""
    if scene.path is None:
        return np.empty(0, dtype=np.int64)
    registered = scene.path.frames[scene.path.registered]
    if scene.depth is not None:
        return np.intersect1d(scene.depth.frames, registered)
    points, patches = scene.points, scene.depth_patches
    sparse = np.empty(0, dtype=np.int64) if points is None else points.observation_frame
    return np.intersect1d(sparse if patches is None else np.union1d(sparse, patches.frames), registered)


def spread_frames(frames: np.ndarray, count: int) -> list[int]:
    """At most `count` evenly spaced frames, the first and the last among them."""
    if len(frames) <= count:
        return [int(f) for f in frames]
    return [int(f) for f in frames[np.linspace(0, len(frames) - 1, count).round().astype(int)]]


def spaced(
    rows: Int64[np.ndarray, "m"], xy_px: Float64[np.ndarray, "n 2"], min_distance_px: float, count: int
) -> list[int]:
    """The first `count` of the rows whose pixels are at least `min_distance_px` from those of all chosen before."""
    kept: list[int] = []
    for row in rows:
        if all(np.linalg.norm(xy_px[row] - xy_px[k]) >= min_distance_px for k in kept):
            kept.append(int(row))
        if len(kept) == count:
            break
    return kept
