"""Splits a video into shots: at cuts, dissolves and fades, and into windows of at most one minute.

One pass over thumbnails. A missed cut makes wrong labels; an extra cut costs little. The scores stay small under camera
motion (colour histogram; structure compared at the best shift), and every score that exceeds its neighbourhood is a
cut. A few foreign frames (a flash, an inserted picture) after which the old picture returns are removed without a cut.
A frame inside a dissolve is a mixture of an earlier and a later frame; camera motion never produces such a mixture.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.clip import Picture

Began = Literal["start", "cut", "fade", "window"]  # a dissolve counts as a fade


@dataclass(frozen=True, kw_only=True)
class ShotSettings:
    """Thresholds, fitted on 12 real sequences (named where they matter) joined at random."""

    score: float = 0.3
    """A cut scores at least this much (0 to 2) with a static camera. Of 1500 joints between different sequences none
    scored < 0.59. The largest step inside apple, robot_unitree, lady-running and kitti_odom_a scores 0.26."""
    score_per_motion: float = 1.5
    """... plus this factor times the median score nearby: fast motion (lady-running, median 0.19) is not a cut."""
    neighbourhood: int = 12
    """Number of frames on either side that count as nearby; half a second at 25 Hz."""
    foreign_frames: int = 3
    """At most this many frames between two matching ones are foreign (a flash lasts 1 to 3 frames)."""
    blank_contrast: float = 4.0
    """Standard deviation of grey levels (of 255) below which a frame is blank; compression noise is 1 to 2."""
    texture_contrast: float = 8.0
    """Standard deviation of grey levels below which structure is mostly noise. The structure score is scaled down
    accordingly."""
    shift: float = 0.2
    """Share of the picture by which structure may shift between frames, in each direction."""
    mixture_reach: tuple[int, ...] = (4, 8, 16, 24)
    """A frame is compared with the frames this far before and after it, to detect dissolves of 0.2 to 2 s at 25 Hz."""
    mixture_residual: float = 0.35
    """Largest residual of the mixture model, relative to the difference of the two frames. 48 dissolves of 6 to 50
    frames between real sequences: at most 0.33; seven sequences without dissolves: at least 0.38."""
    mixture_share: float = 0.25
    """Smallest weight of either frame in the mixture."""
    mixture_score: float = 0.5
    """The two frames score at least this much against each other ..."""
    mixture_structure: float = 0.25
    """... and at least this much in structure alone: a change of exposure is not a dissolve."""
    moved_fit: float = 0.95
    """If optical flow from each of the two frames explains the frame between them with at least this correlation, the
    camera moved."""
    window_s: float = 60.0
    """Longest shot (a clip is at most one minute)."""
    window_frames: int = 1800
    """The same without time stamps: one minute at 30 Hz."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """Frames `start` ≤ index < `stop`, without `foreign`."""

    start: int
    """First frame."""
    stop: int
    """One past the last frame."""
    began: Began
    """Why the shot begins here."""
    foreign: tuple[int, ...] = ()
    """Frames inside the range that show something else (a flash, an inserted picture)."""

    @property
    def frames(self) -> Int64[np.ndarray, "n"]:
        """Frame indices of the shot, ascending."""
        inside = np.arange(self.start, self.stop, dtype=np.int64)
        return inside[~np.isin(inside, self.foreign)]


@dataclass
class ShotDetector:
    """Takes thumbnails in order (`see`), then returns the shots (`shots`). Memory: a few numbers per frame."""

    settings: ShotSettings = field(default_factory=ShotSettings)
    scores: list[float] = field(default_factory=list)
    """Change from the previous frame; 0 for the first."""
    blank: list[bool] = field(default_factory=list)
    """Whether the frame is blank or inside a dissolve."""
    returns: dict[int, int] = field(default_factory=dict)
    """Frame at which the picture changes → later frame at which the previous picture returns."""
    _latest: deque["_Features"] = field(default_factory=deque)
    _open: dict[int, "_Features"] = field(default_factory=dict)

    def see(self, thumbnail: Picture) -> None:
        """Processes the next frame."""
        look, now = _Features.at(thumbnail), len(self.scores)
        before = self._latest[-1] if self._latest else None
        score = 0.0 if before is None else _change(before, look, self.settings)
        self.scores.append(score)
        self.blank.append(look.contrast < self.settings.blank_contrast)
        for began, last in list(self._open.items()):
            if began not in self.returns and _change(last, look, self.settings) < self.settings.score:
                self.returns[began] = now
            if now - began >= self.settings.foreign_frames:
                del self._open[began]
        if before is not None and score >= self.settings.score:
            self._open[now] = before
        self._latest.append(look)
        if len(self._latest) > 2 * max(self.settings.mixture_reach) + 1:
            self._latest.popleft()
        self._mark_dissolve(now)

    def _mark_dissolve(self, now: int) -> None:
        """Marks the frames of a detected dissolve as blank."""
        for reach in self.settings.mixture_reach:
            if len(self._latest) <= 2 * reach:
                return
            if _is_mixture(list(self._latest)[-1 - 2 * reach :], self.settings):
                self.blank[now - 2 * reach + 1 : now] = [True] * (2 * reach - 1)

    def shots(self) -> list[Shot]:
        """Shots in order. Blank frames between them belong to none. An entirely blank video is one shot."""
        blank = np.array(self.blank, dtype=bool)
        if blank.all():
            blank[:] = False  # one colour throughout: the experts then return the reason
        cuts, foreign = self._changes()
        return [
            Shot(start=start, stop=stop, began=began, foreign=tuple(f for f in foreign if start <= f < stop))
            for start, stop, began in _runs(blank, cuts)
        ]

    def _changes(self) -> tuple[list[int], list[int]]:
        """First frames of new pictures, and foreign frames."""
        cuts: list[int] = []
        foreign: list[int] = []
        settled = 0
        for frame in np.flatnonzero(np.array(self.scores) >= self._thresholds()).tolist():
            if frame < settled:
                continue
            settled = self.returns.get(frame, frame) + 1
            if frame in self.returns:
                foreign.extend(range(frame, self.returns[frame]))
            else:
                cuts.append(frame)
        return cuts, foreign

    def _thresholds(self) -> Float64[np.ndarray, "n"]:
        scores, reach = np.array(self.scores, dtype=np.float64), self.settings.neighbourhood
        thresholds = np.full(len(scores), self.settings.score)
        for frame in range(1, len(scores)):
            nearby = np.r_[scores[max(1, frame - reach) : frame], scores[frame + 1 : frame + 1 + reach]]
            if nearby.size:
                thresholds[frame] += self.settings.score_per_motion * np.median(nearby)
        return thresholds


def windows(
    shot: Shot, times_s: Float64[np.ndarray, "n"] | None, settings: ShotSettings | None = None
) -> Iterator[Shot]:
    """Splits a shot into equal parts of at most one minute. `times_s` covers the whole video; None: frames are counted
    instead."""
    settings = settings or ShotSettings()
    if times_s is None:
        length = np.arange(shot.stop - shot.start) / settings.window_frames
    else:
        length = (times_s[shot.start : shot.stop] - times_s[shot.start]) / settings.window_s
    parts = max(1, int(np.ceil(length[-1])))
    part = np.minimum((length * parts / max(float(length[-1]), 1e-9)).astype(int), parts - 1)
    for k in np.unique(part).tolist():
        inside = np.flatnonzero(part == k)
        start, stop = shot.start + int(inside[0]), shot.start + int(inside[-1]) + 1
        foreign = tuple(f for f in shot.foreign if start <= f < stop)
        yield Shot(start=start, stop=stop, began=shot.began if k == 0 else "window", foreign=foreign)


@dataclass(frozen=True)
class _Features:
    """Features of a frame for comparison."""

    grey: Float32[np.ndarray, "h w"]
    soft: Float32[np.ndarray, "h w"]
    histogram: Float32[np.ndarray, "512"]
    contrast: float

    @classmethod
    def at(cls, thumbnail: Picture) -> "_Features":
        import cv2

        histogram = cv2.calcHist([thumbnail], [0, 1, 2], None, [8, 8, 8], [0, 256] * 3).ravel()
        grey = cv2.cvtColor(thumbnail, cv2.COLOR_RGB2GRAY).astype(np.float32)
        return cls(grey, cv2.GaussianBlur(grey, (5, 5), 0), histogram / histogram.sum(), float(grey.std()))


def _change(a: _Features, b: _Features, settings: ShotSettings) -> float:
    """Difference of two frames, 0 (same picture) to 2: difference of colour histograms + difference of structure."""
    return 0.5 * float(np.abs(a.histogram - b.histogram).sum()) + _structure(a, b, settings)


def _structure(a: _Features, b: _Features, settings: ShotSettings) -> float:
    """1 − correlation at the best shift, 0 to 1; scaled down where there is little texture."""
    import cv2

    h, w = a.grey.shape
    dy, dx = int(h * settings.shift), int(w * settings.shift)
    middle = a.grey[dy : h - dy, dx : w - dx]
    fit = 0.0
    if min(a.contrast, b.contrast) > 1e-3:
        fit = float(cv2.matchTemplate(b.grey, middle, cv2.TM_CCOEFF_NORMED).max())
    texture = min(1.0, max(a.contrast, b.contrast) / settings.texture_contrast)
    return texture * float(np.clip(1 - fit, 0, 1))


def _is_mixture(frames: Sequence[_Features], settings: ShotSettings) -> bool:
    """Whether the frame in the middle is a mixture of two different frames, the first and the last."""
    middle = len(frames) // 2
    earlier, frame, later = frames[0], frames[middle], frames[-1]
    whole, part = (later.soft - earlier.soft).ravel(), (frame.soft - earlier.soft).ravel()
    length = float(whole @ whole) + 1e-6
    share = float(part @ whole) / length
    if not settings.mixture_share < share < 1 - settings.mixture_share:
        return False
    rest = part - np.float32(share) * whole
    if float(rest @ rest) > settings.mixture_residual**2 * length:
        return False
    if _change(earlier, later, settings) < settings.mixture_score:
        return False
    if _structure(earlier, later, settings) <= settings.mixture_structure:
        return False
    return min(_moved_fit(frames[: middle + 1]), _moved_fit(frames[: middle - 1 : -1])) < settings.moved_fit


def _moved_fit(frames: Sequence[_Features]) -> float:
    """Correlation of the last frame with the first, which optical flow brings there in steps of `_FLOW_STEP` frames;
    where it stays inside the picture."""
    import cv2

    finder = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    finder.setFinestScale(0)
    steps = [cv2.resize(each.grey, None, fx=_FLOW_SCALE, fy=_FLOW_SCALE) for each in frames[::-_FLOW_STEP]]
    h, w = steps[0].shape
    at = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=-1).astype(np.float32)
    for here, there in pairwise(step.astype(np.uint8) for step in steps):
        at = at + cv2.remap(finder.calc(here, there, None), at, None, cv2.INTER_LINEAR)
    inside = np.all((at >= 0) & (at <= [w - 1, h - 1]), axis=-1)
    moved = cv2.remap(steps[-1], at, None, cv2.INTER_LINEAR)
    if inside.mean() < _FLOW_INSIDE or min(moved[inside].std(), steps[0][inside].std()) < 1e-3:
        return 0.0
    return float(np.corrcoef(moved[inside], steps[0][inside])[0, 1])


_FLOW_SCALE, _FLOW_STEP = 2, 4
"""Optical flow needs larger pictures than thumbnails, and short ways; the reaches are multiples of the step."""
_FLOW_INSIDE = 0.3
"""Smallest share of the picture whose flow stays inside."""


def _runs(blank: Bool[np.ndarray, "n"], cuts: list[int]) -> Iterator[tuple[int, int, Began]]:
    """(start, stop, reason of the start) of each run of non-blank frames, split at the cuts."""
    edges = np.flatnonzero(np.diff(np.r_[True, blank, True].astype(np.int8)))
    for start, stop in edges.reshape(-1, 2).tolist():
        began: Began = "start" if start == 0 else "fade"
        inner = [start, *(c for c in cuts if start < c < stop), stop]
        for a, b in pairwise(inner):
            yield a, b, began
            began = "cut"
