"""Query points of learned trackers, selection of reliable predictions, and the joining of windows into long tracks.

numpy and OpenCV only. "Network pixels" are those of the resized pictures; (0, 0) is the centre of the top-left one.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.spatial import cKDTree

from experts.clip import Clip, GreyPicture


@dataclass(frozen=True, kw_only=True)
class FollowSettings:
    """Lengths are network pixels. Values without a source are chosen: no weights were available to measure them."""

    frames_per_s: float = 30.0
    """Frames are subsampled to about this rate; without a clock all are used ..."""
    max_frames: int = 1800
    """... and at most this many, evenly spaced: one minute at that rate."""
    window_frames: int = 60
    """Frames per window: CoTracker 3's training length; halved until they fit into memory."""
    overlap_frames: int = 8
    """Frames that a window shares with the previous one."""
    min_window_frames: int = 8
    """Smallest window; if it does not fit, memory is too small."""
    batch_frames: int = 32
    """On a GPU, shorter windows of several clips share a call, up to this number of frames."""
    starts: int = 3
    """Frames of a window, evenly spaced, in which new points start."""
    points: int = 200
    """New points in each of these frames: half of them corners, half on a grid."""
    corner_quality: float = 0.01
    """Weakest corner used, as a share of the strongest one."""
    min_contrast: float = 2.0
    """Smallest standard deviation of the grey levels around a point (9 x 9)."""
    spacing_share: float = 0.02
    """Smallest distance between new points, and to tracked ones, as a share of the diagonal."""
    start_px: float = 2.0
    """Largest distance between a track and its query point in the start frame."""
    agree_px: float = 1.5
    """Two windows track the same point if their distance never exceeds this in the shared frames ..."""
    agree_frames: int = 3
    """... and at least this many shared frames have both."""
    min_frames: int = 3
    """Shorter tracks are dropped (2 in clips of two frames)."""
    max_tracks: int = 6000
    """The longest tracks are kept."""
    memory_share: float = 0.7
    """Share of the free memory that a window may use."""


@dataclass(frozen=True, kw_only=True)
class RawTracks:
    """Prediction of a tracker for one window."""

    xy: Float32[np.ndarray, "m n 2"]
    """Network pixels; may be NaN or outside the picture."""
    confidence: Float32[np.ndarray, "m n"]
    """The network's own confidence that the point is visible at that pixel, 0 to 1, raw."""


def frames_to_follow(clip: Clip, settings: FollowSettings) -> Int64[np.ndarray, "n"]:
    """Evenly subsampled frame indices."""
    count = min(len(clip.frames), settings.max_frames)
    if clip.times_s is not None and len(clip.frames) > 1:
        duration_s = float(clip.times_s[-1] - clip.times_s[0])
        count = min(count, max(2, round(duration_s * settings.frames_per_s) + 1))
    at = np.unique(np.round(np.linspace(0, len(clip.frames) - 1, count)).astype(np.int64))
    return clip.frames[at]


def new_points(
    grey: GreyPicture, valid: Bool[np.ndarray, "h w"], taken: Float64[np.ndarray, "k 2"], settings: FollowSettings
) -> Float64[np.ndarray, "p 2"]:
    """Corners, then grid points, with texture, inside the valid area, and away from the points `taken`."""
    import cv2

    height, width = grey.shape
    spacing = max(2.0, settings.spacing_share * float(np.hypot(height, width)))
    mean = cv2.blur(grey.astype(np.float32), (9, 9))
    contrast = np.sqrt(np.maximum(cv2.blur(grey.astype(np.float32) ** 2, (9, 9)) - mean**2, 0))
    usable = valid & (contrast >= settings.min_contrast)
    mask = usable.astype(np.uint8) * 255
    found = cv2.goodFeaturesToTrack(grey, settings.points // 2, settings.corner_quality, spacing, mask=mask)
    corners = np.zeros((0, 2)) if found is None else found[:, 0].astype(np.float64)
    step = max(spacing, float(np.sqrt(height * width / max(1, settings.points // 2))))
    grid = np.stack(np.meshgrid(np.arange(step / 2, width, step), np.arange(step / 2, height, step)), -1).reshape(-1, 2)
    grid = np.floor(grid)
    grid = grid[usable[grid[:, 1].astype(int), grid[:, 0].astype(int)]]
    return _spaced(np.concatenate([corners, grid]), taken, spacing)[: settings.points]


def _spaced(
    xy: Float64[np.ndarray, "p 2"], taken: Float64[np.ndarray, "k 2"], spacing: float
) -> Float64[np.ndarray, "q 2"]:
    """The points, in order, that keep the distance `spacing` from `taken` and from each other."""
    if len(taken) and len(xy):
        xy = xy[cKDTree(taken).query(xy)[0] >= spacing]
    kept = np.ones(len(xy), dtype=bool)
    for first, second in sorted(cKDTree(xy).query_pairs(spacing * 0.999)) if len(xy) else ():
        kept[second] &= not kept[first]
    return xy[kept]


def reliable(
    raw: RawTracks,
    queries: Float32[np.ndarray, "m 3"],
    valid: Bool[np.ndarray, "h w"],
    min_confidence: float,
    both_ways: bool,
    settings: FollowSettings,
) -> Float32[np.ndarray, "m n 2"]:
    """Network pixels of reliable predictions; NaN elsewhere.

    Queries are (frame of the window, x, y). A track that misses its own query point is dropped entirely. Predictions
    before the query frame count only if the network tracks `both_ways`.
    """
    height, width = valid.shape
    count = raw.xy.shape[1]
    known = np.isfinite(raw.xy).all(axis=-1)
    x, y = np.rint(np.where(known[..., None], raw.xy, -1)).astype(np.int64).transpose(2, 0, 1)
    inside = (x >= 0) & (y >= 0) & (x < width) & (y < height)
    inside &= valid[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    with np.errstate(invalid="ignore"):
        good = known & inside & (raw.confidence >= min_confidence)
    start = queries[:, 0].astype(np.int64)
    row = np.arange(len(queries))
    good &= both_ways | (np.arange(count)[None] >= start[:, None])
    start_error = np.linalg.norm(raw.xy[row, start] - queries[:, 1:], axis=-1)
    good &= (np.nan_to_num(start_error, nan=np.inf) <= settings.start_px)[:, None]
    xy = np.where(good[..., None], raw.xy, np.float32("nan"))
    usable = good[row, start]
    xy[row[usable], start[usable]] = queries[usable, 1:]
    return xy


@dataclass
class TrackChain:
    """Tracks over all frames, window by window. A track is continued if the next window, queried with the same point,
    agrees with the previous one over the shared frames."""

    count: int
    """Total number of frames."""
    settings: FollowSettings
    xy: Float32[np.ndarray, "t n 2"] = field(init=False)
    """Network pixels; NaN where a track is not followed."""
    done: int = 0
    """Number of frames processed."""

    def __post_init__(self) -> None:
        self.xy = np.full((0, self.count, 2), np.nan, np.float32)

    def continuing(self, first: int) -> tuple[Int64[np.ndarray, "k"], Float32[np.ndarray, "k 3"]]:
        """Rows of the tracks that continue into a window from frame `first` on, and their queries: the first shared
        frame that has them."""
        shared = self.xy[:, first : self.done]
        seen = np.isfinite(shared[..., 0])
        rows = np.flatnonzero(seen.sum(axis=1) >= self.settings.agree_frames)
        if not len(rows):
            return rows, np.zeros((0, 3), np.float32)
        start = np.argmax(seen[rows], axis=1)
        return rows, np.column_stack([start, shared[rows, start]]).astype(np.float32)

    def add(
        self, first: int, rows: Int64[np.ndarray, "k"], continued: Float32[np.ndarray, "k n 2"],
        new: Float32[np.ndarray, "p n 2"],
    ) -> None:  # fmt: skip
        """Adds a window from frame `first` on: its predictions for the tracks `rows`, and its new tracks."""
        last, shared = first + new.shape[1], self.done - first
        distance = np.linalg.norm(continued[:, :shared] - self.xy[rows, first : self.done], axis=-1)
        both = np.isfinite(distance)
        agrees = (both.sum(axis=1) >= self.settings.agree_frames) & (
            np.where(both, distance, 0).max(axis=1, initial=0) <= self.settings.agree_px
        )
        self.xy[rows[agrees], self.done : last] = continued[agrees, shared:]
        usable = np.isfinite(new[..., 0]).sum(axis=1) >= 2
        started = np.full((int(usable.sum()), self.count, 2), np.nan, np.float32)
        started[:, first:last] = new[usable]
        self.xy = np.concatenate([self.xy, started])
        self.done = last

    def longest(self) -> Float32[np.ndarray, "t n 2"]:
        """The longest tracks, in order of their start."""
        length = np.isfinite(self.xy[..., 0]).sum(axis=1)
        order = np.argsort(-length, kind="stable")[: self.settings.max_tracks]
        return self.xy[np.sort(order[length[order] >= min(self.settings.min_frames, self.count)])]
