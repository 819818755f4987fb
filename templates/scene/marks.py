"""Which pixels may carry a mark."""

import numpy as np
from jaxtyping import Float64

from templates.scene.scene import Scene, find_rows, inside

_BORDER = 0.06
"""Marks keep this share of the frame's size away from its edges, so that mark and letter stay inside."""
_MAX_P_GROSS = 0.01
"""Points more doubtful than this cannot pass the gate; they are not proposed."""
_MOST_TRACKS = 300
"""At most so many tracks of a frame are asked where they pass."""
_GRID = 24
"""Dense depth is sampled on a grid of this many cells a side."""


def markable(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    """Pixels of a frame whose surface point is known well, away from the frame's edges; rounded to 0.1 px."""
    return sure(scene, frame, askable_pixels(scene, frame))


def sure(scene: Scene, frame: int, xy_px: Float64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "k 2"]:
    """Those pixels of a frame that are markable."""
    xy = np.round(xy_px[inside(scene.clip, xy_px, _BORDER)], 1)
    if not len(xy):
        return xy
    with np.errstate(invalid="ignore"):
        return xy[scene.surface(frame, xy).outlier_probability < _MAX_P_GROSS]


def known_pixels(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    """Pixels of a frame at which its surface is known, well or not: a grid on dense depth, or the sparse points."""
    if scene.has_depth(frame):
        x = (np.arange(_GRID) + 0.5) / _GRID * scene.clip.width_px
        y = (np.arange(_GRID) + 0.5) / _GRID * scene.clip.height_px
        return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    if scene.points is not None:
        return scene.points.observation_xy_px[scene.points.observation_frame == frame]
    return np.empty((0, 2))


def askable_pixels(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    """Pixels of a frame whose surface may be sure: of learned depth those of which a second way tells the range."""
    if not scene.has_depth(frame) or scene.measured_depth is not None:
        return known_pixels(scene, frame)
    second, tracks = scene.second, scene.tracks
    if second is not None and second.points is not None and not second.has_depth(frame):
        return known_pixels(second, frame)
    if tracks is None or (column := int(find_rows(tracks.frames, [frame])[0])) < 0:
        return known_pixels(scene, frame)
    followed = tracks.xy_px[tracks.visible[:, column] & (tracks.motion != 1), column]
    followed = followed[np.isfinite(followed).all(axis=1)]
    return np.concatenate([followed[:: 1 + len(followed) // _MOST_TRACKS], known_pixels(scene, frame)])


def spread_frames(frames: np.ndarray, count: int) -> list[int]:
    """At most `count` of the frames, evenly spread, ends included."""
    if len(frames) <= count:
        return [int(f) for f in frames]
    return [int(f) for f in frames[np.linspace(0, len(frames) - 1, count).round().astype(int)]]


def listed(xy_px: np.ndarray) -> list[float]:
    """A pixel as JSON, rounded to 0.1."""
    return [round(float(v), 1) for v in xy_px]
