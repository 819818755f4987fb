"""Frames of a clip that are shown together: places spread over the camera path, and intervals of it."""

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.marks import spread_frames
from templates.scene.scene import Scene
from templates.scene.shared_view import shared_views

_MAX_FRAMES = 48
"""Most frames of a clip between which intervals are drawn."""
LEAST_VIDEO, MOST_VIDEO = 8, 16
"""Frames of a video."""
_LENGTHS = np.array([8, 16, 32, 64])
"""Frames of a video of whole intervals: what it shows is asked about, however many that is."""


def places(scene: Scene, count: int) -> Int64[np.ndarray, "f"]:
    """At most `count` evenly spaced keyframes; none where the positions of the camera are not known."""
    if scene.path is None or scene.path.motion != "general":
        return np.empty(0, dtype=np.int64)
    return np.array(
        spread_frames(scene.path.frames[scene.path.registered & scene.path.keyframe], count), dtype=np.int64
    )


def intervals(
    scene: Scene, rng: np.random.Generator, count: int, photos: int, shortest: int = 2, least_share: float = 0.0
) -> Int64[np.ndarray, "n k"]:
    """At most `count` different intervals of registered frames: at most `photos` evenly spaced frames each, -1 ends a
    shorter one. Each photo shares its view with the next. `shortest`, `least_share`: least number of frames in an
    interval, and least share of all."""
    if scene.path is None:
        return np.empty((0, photos), dtype=np.int64)
    frames = np.array(spread_frames(scene.path.frames[scene.path.registered], _MAX_FRAMES), dtype=np.int64)
    shortest = max(shortest, round(least_share * len(frames)))
    rows = _drawn(len(frames), rng, count, photos, shortest)
    follows = shared_views(scene, frames).mutual[rows[:, :-1], rows[:, 1:]] | (rows[:, :-1] == rows[:, 1:])
    return _frames(frames, rows[follows.all(axis=1)][:count])


def picture_intervals(
    scene: Scene, rng: np.random.Generator, count: int, photos: int, least_share: float = 0.2
) -> Int64[np.ndarray, "n k"]:
    """The same over all frames of a clip, without regard to what they share."""
    frames = np.array(spread_frames(scene.clip.frames, _MAX_FRAMES), dtype=np.int64)
    rows = _drawn(len(frames), rng, count, photos, max(2, round(least_share * len(frames))))
    return _frames(frames, rows[:count])


def video_intervals(
    scene: Scene, rng: np.random.Generator, count: int, least_share: float = 0.0
) -> Int64[np.ndarray, "n k"]:
    """At most `count` different intervals between registered frames, shown as videos: `LEAST_VIDEO` to `MOST_VIDEO`
    evenly spaced frames of the clip; -1 ends a shorter row. `least_share`: of the clip."""
    if scene.path is None or len(scene.clip.frames) < LEAST_VIDEO:
        return np.empty((0, MOST_VIDEO), dtype=np.int64)
    known = np.isin(scene.clip.frames, scene.path.frames[scene.path.registered])
    places = np.array(spread_frames(np.flatnonzero(known), _MAX_FRAMES), dtype=np.int64)
    if not len(places):
        return np.empty((0, MOST_VIDEO), dtype=np.int64)
    ends = places[np.sort(rng.integers(len(places), size=(4 * count, 2)), axis=1)]
    least = max(LEAST_VIDEO, round(least_share * len(scene.clip.frames)))
    ends = ends[ends[:, 1] - ends[:, 0] >= least - 1]
    ends = ends[np.sort(np.unique(ends, axis=0, return_index=True)[1])][:count]
    rows = np.linspace(ends[:, 0], ends[:, 1], MOST_VIDEO, axis=1).round().astype(np.int64)
    return _frames(scene.clip.frames, rows)


def random_videos(frames: Int64[np.ndarray, "f"], rng: np.random.Generator, count: int) -> Int64[np.ndarray, "n k"]:
    """At most `count` random intervals of the given frames, as videos of 8, 16, 32 or 64 of them, as many of each; -1
    ends a row."""
    if len(frames) < LEAST_VIDEO:
        return np.empty((0, _LENGTHS[-1]), dtype=np.int64)
    length = rng.choice(_LENGTHS[: np.searchsorted(_LENGTHS, len(frames), side="right")], size=count)
    first = rng.integers(len(frames) - length + 1)
    last = rng.integers(first + length - 1, len(frames))
    share = np.minimum(np.arange(_LENGTHS[-1]) / (length[:, None] - 1), 1)
    rows = (first[:, None] + share * (last - first)[:, None]).round().astype(np.int64)
    shown = _frames(frames, rows)
    return np.asarray(shown[np.sort(np.unique(shown, axis=0, return_index=True)[1])])


def seconds_between(scene: Scene, ends: Int64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "n"]:
    """Time between the two frames of each row; NaN without time stamps, and where a frame is not given (-1)."""
    times_s = scene.clip.times_s
    if times_s is None:
        return np.full(len(ends), np.nan)
    first, last = times_s[np.minimum(np.searchsorted(scene.clip.frames, ends), len(times_s) - 1)].T
    return np.where((ends >= 0).all(axis=1), np.round(last - first, 3), np.nan)


def _drawn(frames: int, rng: np.random.Generator, count: int, photos: int, shortest: int) -> Int64[np.ndarray, "n k"]:
    """Places of evenly spaced photos in different random intervals."""
    if frames < shortest:
        return np.empty((0, photos), dtype=np.int64)
    ends = np.sort(rng.integers(frames, size=(4 * count, 2)), axis=1)
    ends = ends[ends[:, 1] - ends[:, 0] >= shortest - 1]
    ends = ends[np.sort(np.unique(ends @ [frames, 1], return_index=True)[1])]
    return np.linspace(ends[:, 0], ends[:, 1], photos, axis=1).round().astype(np.int64)


def _frames(frames: Int64[np.ndarray, "f"], rows: Int64[np.ndarray, "n k"]) -> Int64[np.ndarray, "n k"]:
    """The frames at these places, each once."""
    repeated = np.diff(rows, axis=1, prepend=-1) == 0
    return np.append(frames, -1)[np.sort(np.where(repeated, len(frames), rows), axis=1)]
