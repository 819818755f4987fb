"""Which components of a motion are more than noise, and from which step to which.

Works on steps: what each component changes from one pose to the next. Noise in poses is met by reading rates over a
longer, centred window, only as long as σ asks; the edges that a window blurs are put back to where the rate has half
its value inside. A motion starts above its dead zone and lasts until it falls below a share of it.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int8, Int64
from scipy.signal import savgol_filter

_SMOOTHING_POSES = 5
_SMOOTHING_RESIDUAL = math.sqrt(1.0 - 17.0 / 35.0)
"""σ of what a parabola through five poses leaves of white noise, at the middle pose."""


@dataclass(frozen=True, kw_only=True)
class SegmentSettings:
    """Where motion begins. First values; each with its reason."""

    rotation_rad_s: float = math.radians(0.5)
    """Turns below this are none (published threshold)."""
    translation_m_s: float = 0.01
    """Ways below this are none on metric paths (published threshold)."""
    translation_fraction: float = 0.1
    """The same on relative paths, as a fraction of the 95th-percentile speed: a tenth of full speed is hard to see."""
    zoom_per_s: float = 0.02
    """Change of log focal length below this is none: 2 % a second is hard to see."""
    release: float = 0.5
    """A motion ends below this share of what it starts at."""
    min_duration_s: float = 0.5
    """Shorter motions and pauses are ignored: a viewer hardly names them."""
    max_window_s: float = 0.5
    """Longest window over which rates are read to meet noise; beyond it the dead zone grows instead."""
    sigmas: float = 4.0
    """Dead zone in σ of the rate: under 1 in 10 000 samples of noise exceeds it."""
    decided_sigmas: float = 3.0
    """A relative path travels at all where its 95th-percentile window exceeds this many σ of its length."""


def smoothing_residual(steps: Float64[np.ndarray, "m k"]) -> float:
    """σ per axis of the poses behind `steps`, from what smoothing leaves of the path (largest of the k components).

    Robust (median), so that corners do not count as noise. 0 for paths of fewer than five poses.
    """
    if len(steps) + 1 < _SMOOTHING_POSES:
        return 0.0
    path = _summed(steps)
    residual = np.abs(path - savgol_filter(path, _SMOOTHING_POSES, 2, axis=0))
    return float(np.median(residual, axis=0).max() * 1.4826 / _SMOOTHING_RESIDUAL)


def window_lengths(
    steps: Float64[np.ndarray, "m 3"], durations_s: Float64[np.ndarray, "m"], window_s: float
) -> tuple[Float64[np.ndarray, "m"], Float64[np.ndarray, "m"]]:
    """How far, and in how many seconds, the path goes in the window around each step."""
    way, span_s = _chords(steps, durations_s, _half_window(durations_s, window_s))
    return np.sqrt((way**2).sum(axis=1)), span_s


def relative_threshold(
    steps: Float64[np.ndarray, "m 3"], durations_s: Float64[np.ndarray, "m"], sigma: float, settings: SegmentSettings
) -> float:
    """Speed below which a path without known scale does not travel; inf where it is not decided that it does."""
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
    """+1, -1 or 0 for each step and component. `threshold` per second; `sigma` of each pose, per axis."""
    signs = np.zeros(steps.shape, dtype=np.int8)
    if not (math.isfinite(threshold) and np.abs(steps).sum() > 0):
        return signs
    noise = settings.sigmas * math.sqrt(2.0) * sigma
    half = _half_window(durations_s, min(noise / threshold, settings.max_window_s))
    way, span_s = _chords(steps, durations_s, half)
    zone = np.maximum(threshold, noise / span_s)
    for column in range(steps.shape[1]):
        rate = way[:, column] / span_s
        signs[:, column] = _held(rate, zone, durations_s, half, settings)
    return signs


def _held(
    rate: Float64[np.ndarray, "m"],
    zone: Float64[np.ndarray, "m"],
    durations_s: Float64[np.ndarray, "m"],
    half: int,
    settings: SegmentSettings,
) -> Int8[np.ndarray, "m"]:
    """Hysteresis, short pauses filled, short motions dropped, blurred edges put back."""
    size = np.abs(rate)
    signs = np.where(size > settings.release * zone, np.sign(rate), 0.0).astype(np.int8)
    starts = run_starts(signs)
    kept = np.where(np.logical_or.reduceat(size > zone, starts), signs[starts], 0)
    signs = _spread(kept, starts, len(rate))
    signs = _without_short(signs, durations_s, settings.min_duration_s, pauses=True)
    if half > 0:
        signs = _unblurred(signs, size, half)
    return _without_short(signs, durations_s, settings.min_duration_s, pauses=False)


def _without_short(
    signs: Int8[np.ndarray, "m"], durations_s: Float64[np.ndarray, "m"], min_duration_s: float, *, pauses: bool
) -> Int8[np.ndarray, "m"]:
    """Fill short pauses within one motion, or drop short motions."""
    starts = run_starts(signs)
    kept = signs[starts]
    short = np.add.reduceat(durations_s, starts) < min_duration_s - 1e-9
    if pauses:
        before, after = np.append(0, kept[:-1]), np.append(kept[1:], 0)
        kept = np.where(short & (kept == 0) & (before == after), before, kept)
    else:
        kept = np.where(short, 0, kept)
    return _spread(kept.astype(np.int8), starts, len(signs))


def _unblurred(signs: Int8[np.ndarray, "m"], size: Float64[np.ndarray, "m"], half: int) -> Int8[np.ndarray, "m"]:
    """Move the edges of each motion inwards, by a window at most, to where it has half of its rate inside."""
    width = 2 * half + 1
    starts = run_starts(signs)
    ends = np.append(starts[1:], len(signs))
    lengths = ends - starts
    moving = signs[starts] != 0
    rest = np.concatenate([[0], np.where(moving, 0, lengths), [0]])  # length of the pause before and after each run
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


def _spread(values: Int8[np.ndarray, "r"], starts: Int64[np.ndarray, "r"], count: int) -> Int8[np.ndarray, "m"]:
    return np.repeat(values, np.diff(np.append(starts, count)))


def _half_window(durations_s: Float64[np.ndarray, "m"], window_s: float) -> int:
    """Steps on each side of one that make a window of at least `window_s`; at most a quarter of the path."""
    half = math.ceil((window_s / float(np.median(durations_s)) - 1.0) / 2.0 - 1e-9)
    return max(0, min(half, len(durations_s) // 4))


def _chords(
    steps: Float64[np.ndarray, "m k"], durations_s: Float64[np.ndarray, "m"], half: int
) -> tuple[Float64[np.ndarray, "m k"], Float64[np.ndarray, "m"]]:
    """What changed, and in how many seconds, over the window around each step."""
    if half == 0:
        return steps, durations_s
    count = len(steps)
    low = np.maximum(np.arange(count) - half, 0)
    high = np.minimum(np.arange(count) + half + 1, count)
    path, clock_s = _summed(steps), _summed(durations_s[:, None])[:, 0]
    return path[high] - path[low], clock_s[high] - clock_s[low]


def _summed(steps: Float64[np.ndarray, "m k"]) -> Float64[np.ndarray, "m+1 k"]:
    return np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
