"""Evenly spaced frames of intervals of a clip, neighbours of which share their view."""

import numpy as np
from jaxtyping import Int64

from templates.scene.marks import spread_frames
from templates.scene.scene import Scene
from templates.scene.shared_view import MIN_SHARE, shared_views

MAX_FRAMES = 48
"""Most frames of a clip between which intervals are drawn."""


def intervals(
    scene: Scene, rng: np.random.Generator, count: int, photos: int, shortest: int = 2
) -> Int64[np.ndarray, "n k"]:
    """At most `count` different intervals of registered frames: at most `photos` evenly spaced frames each, -1 ends a
    shorter one. Each photo shares its view with the next. `shortest`: least number of frames in an interval."""
    if scene.path is None:
        return np.empty((0, photos), dtype=np.int64)
    frames = np.array(spread_frames(scene.path.frames[scene.path.registered], MAX_FRAMES), dtype=np.int64)
    if len(frames) < max(2, shortest):
        return np.empty((0, photos), dtype=np.int64)
    shared = shared_views(scene, frames).share >= MIN_SHARE
    ends = np.sort(rng.integers(len(frames), size=(4 * count, 2)), axis=1)
    ends = ends[ends[:, 1] - ends[:, 0] >= shortest - 1]
    rows = np.linspace(ends[:, 0], ends[:, 1], photos, axis=1).round().astype(np.int64)
    follows = (shared & shared.T)[rows[:, :-1], rows[:, 1:]] | (rows[:, :-1] == rows[:, 1:])
    rows = rows[follows.all(axis=1)]
    rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])][:count]
    repeated = np.diff(rows, axis=1, prepend=-1) == 0
    return np.append(frames, -1)[np.sort(np.where(repeated, len(frames), rows), axis=1)]
