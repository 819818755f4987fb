"""Detection of motion: which components move between which poses, and are more than noise.

The input are steps: the change of each component from one pose to the next. Rates are averaged over a centred window,
which is as long as the noise of the poses requires; the edges that the window blurs are moved back to where the rate
has half its inner value. A motion starts where its rate exceeds the dead zone, and ends where it falls below a
fraction of it (hysteresis).
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float64, Int8, Int64

_SMOOTHING_POSES = 5
_SMOOTHING_RESIDUAL = math.sqrt(1.0 - 17.0 / 35.0)
"""σ of the residual of white noise of σ = 1 after a parabola is fitted to five poses, at the middle pose."""


@dataclass(frozen=True, kw_only=True)
class SegmentSettings:
    """Thresholds of motion."""

    rotation_rad_s: float = math.radians(0.5)
    """Slower rotation is not motion (published threshold)."""
    translation_m_s: float = 0.01
    """Slower translation is not motion on metric paths (published threshold)."""
    translation_fraction: float = 0.1
    """The threshold on paths of unknown scale, as a fraction of their 95th-percentile speed."""
    zoom_per_s: float = 0.02
    """Slower change of the log focal length is not zoom: 2 % a second is hard to see."""
    release: float = 0.5
    """A motion ends below this fraction of the threshold at which it starts."""
    min_duration_s: float = 0.5
    """Shorter motions and pauses are ignored: a viewer hardly names them."""
    max_window_s: float = 0.5
    """Longest window for averaging rates; with more noise the dead zone grows instead."""
    sigmas: float = 4.0
    """The dead zone is at least this many σ of the rate: fewer than 1 in 10 000 samples of noise exceed it."""
    decided_sigmas: float = 3.0
    """A path of unknown scale translates if the 95th percentile of its displacements per window exceeds this many σ."""


def smoothing_residual(steps: Float64[np.ndarray, "m k"]) -> float:
    """σ per axis of the noise of poses, estimated from the residual of a smoothed path (largest of the k components).

    The median makes it robust against corners of the path. 0 for paths of fewer than five poses.
    """
    if len(steps) + 1 < _SMOOTHING_POSES:
        return 0.0
    path, weights = _summed(steps), _smoothing_weights()
    inner = np.lib.stride_tricks.sliding_window_view(path, _SMOOTHING_POSES, axis=0) @ weights[2]
    smoothed = np.concatenate([weights[:2] @ path[:_SMOOTHING_POSES], inner, weights[3:] @ path[-_SMOOTHING_POSES:]])
    residual = np.abs(path - smoothed)
    return float(np.median(residual, axis=0).max() * 1.4826 / _SMOOTHING_RESIDUAL)


@cache
def _smoothing_weights() -> Float64[np.ndarray, "5 5"]:
    """Weights of five poses in each smoothed one: of a Savitzky-Golay filter, which is as slow as it is general."""
    from scipy.signal import savgol_filter  # slow to import

    return np.asarray(savgol_filter(np.eye(_SMOOTHING_POSES), _SMOOTHING_POSES, 2, axis=0))


def window_lengths(
    steps: Float64[np.ndarray, "m 3"], durations_s: Float64[np.ndarray, "m"], window_s: float
) -> tuple[Float64[np.ndarray, "m"], Float64[np.ndarray, "m"]]:
    """Displacement and duration of the window around each step."""
    change, span_s = _window_changes(steps, durations_s, _half_window(durations_s, window_s))
    return np.sqrt((change**2).sum(axis=1)), span_s


def relative_threshold(
    steps: Float64[np.ndarray, "m 3"], durations_s: Float64[np.ndarray, "m"], sigma: float, settings: SegmentSettings
) -> float:
    """Speed below which a path of unknown scale does not move; inf if all its motion may be noise."""
    length, span_s = window_lengths(steps, durations_s, settings.max_window_s)
    if np.percentile(length, 95) <= settings.decided_sigmas * math.sqrt(6.0) * sigma:
        return math.inf  # √6 σ: both ends, three axes
    return settings.translation_fraction * float(np.percentile(length / span_s, 95))


def active_signs(
    steps: Float64[np.ndarray, "m k"],
    durations_s: Float64[np.ndarray, "m"],
    *,
    threshold: float,
    sigma: float,
    settings: SegmentSettings,
) -> Int8[np.ndarray, "m k"]:
    """Direction of motion (+1, -1 or 0) of each component in each step. `sigma`: of each pose, per axis.

    `threshold` is per second.
    """
    signs = np.zeros(steps.shape, dtype=np.int8)
    if not (math.isfinite(threshold) and np.abs(steps).sum() > 0):
        return signs
    noise = settings.sigmas * math.sqrt(2.0) * sigma
    half = _half_window(durations_s, min(noise / threshold, settings.max_window_s))
    change, span_s = _window_changes(steps, durations_s, half)
    dead_zone = np.maximum(threshold, noise / span_s)
    rates = change / span_s[:, None]
    for column in np.flatnonzero((np.abs(rates) > dead_zone[:, None]).any(axis=0)):  # the others do not move
        signs[:, column] = _signs_of_rate(rates[:, column], dead_zone, durations_s, half, settings)
    return signs


def _signs_of_rate(
    rate: Float64[np.ndarray, "m"],
    dead_zone: Float64[np.ndarray, "m"],
    durations_s: Float64[np.ndarray, "m"],
    half: int,
    settings: SegmentSettings,
) -> Int8[np.ndarray, "m"]:
    """Apply hysteresis, fill short pauses, undo the blur of edges, and drop short motions."""
    size = np.abs(rate)
    if not (size > dead_zone).any():
        return np.zeros(len(rate), dtype=np.int8)
    signs = np.where(size > settings.release * dead_zone, np.sign(rate), 0.0).astype(np.int8)
    starts = run_starts(signs)
    kept = np.where(np.logical_or.reduceat(size > dead_zone, starts), signs[starts], 0)
    signs = _repeated(kept, starts, len(rate))
    signs = _without_short(signs, durations_s, settings.min_duration_s, pauses=True)
    if half > 0:
        signs = _with_sharp_edges(signs, size, half)
    return _without_short(signs, durations_s, settings.min_duration_s, pauses=False)


def _without_short(
    signs: Int8[np.ndarray, "m"], durations_s: Float64[np.ndarray, "m"], min_duration_s: float, *, pauses: bool
) -> Int8[np.ndarray, "m"]:
    """Fill short pauses within a motion (`pauses`), or drop short motions."""
    starts = run_starts(signs)
    kept = signs[starts]
    short = np.add.reduceat(durations_s, starts) < min_duration_s - 1e-9
    if pauses:
        before, after = np.append(0, kept[:-1]), np.append(kept[1:], 0)
        kept = np.where(short & (kept == 0) & (before == after), before, kept)
    else:
        kept = np.where(short, 0, kept)
    return _repeated(kept.astype(np.int8), starts, len(signs))


def _with_sharp_edges(signs: Int8[np.ndarray, "m"], size: Float64[np.ndarray, "m"], half: int) -> Int8[np.ndarray, "m"]:
    """Move the edges of each motion inwards, by one window at most, to where the rate has half its inner value."""
    width = 2 * half + 1
    starts = run_starts(signs)
    ends = np.append(starts[1:], len(signs))
    lengths = ends - starts
    moving = signs[starts] != 0
    rest = np.concatenate([[0], np.where(moving, 0, lengths), [0]])  # length of the pause at each run
    signs = signs.copy()
    for edge, step, pause in ((starts, 1, rest[:-2]), (ends - 1, -1, rest[2:])):
        run = np.flatnonzero(moving & (pause >= width) & (lengths > width))
        inside = edge[run, None] + step * np.arange(width + 1)
        weak = size[inside] < 0.5 * size[inside[:, -1:]]
        weak = np.logical_and.accumulate(weak, axis=1)
        signs[inside[weak]] = 0
    return signs


def run_starts(signs: Int8[np.ndarray, "m"]) -> Int64[np.ndarray, "r"]:
    """First index of each run of equal values."""
    return np.flatnonzero(np.append(True, signs[1:] != signs[:-1]))


def _repeated(values: Int8[np.ndarray, "r"], starts: Int64[np.ndarray, "r"], count: int) -> Int8[np.ndarray, "m"]:
    return np.repeat(values, np.diff(np.append(starts, count)))


def _half_window(durations_s: Float64[np.ndarray, "m"], window_s: float) -> int:
    """Steps on either side of a step that make a window of at least `window_s`; at most a quarter of the path."""
    half = math.ceil((window_s / float(np.median(durations_s)) - 1.0) / 2.0 - 1e-9)
    return max(0, min(half, len(durations_s) // 4))


def _window_changes(
    steps: Float64[np.ndarray, "m k"], durations_s: Float64[np.ndarray, "m"], half: int
) -> tuple[Float64[np.ndarray, "m k"], Float64[np.ndarray, "m"]]:
    """Change of each component over the window around each step, and the seconds it takes."""
    if half == 0:
        return steps, durations_s
    count = len(steps)
    low = np.maximum(np.arange(count) - half, 0)
    high = np.minimum(np.arange(count) + half + 1, count)
    path, clock_s = _summed(steps), _summed(durations_s[:, None])[:, 0]
    return path[high] - path[low], clock_s[high] - clock_s[low]


def _summed(steps: Float64[np.ndarray, "m k"]) -> Float64[np.ndarray, "m+1 k"]:
    return np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
