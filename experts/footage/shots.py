"""Where a video must be split: cuts, dissolves, fades through one colour, and windows of at most a minute.

One streaming pass over thumbnails. A missed cut makes wrong labels and a cut too many costs little, so the scores
are built to stay small under camera motion (colour histogram, structure compared at the best shift), and whatever
then stands out of its neighbourhood splits. A few foreign frames (a flash, an inserted picture) after which the
picture goes on as before are left out without a split. A frame amid a dissolve is a mixture of an earlier and a later
one, which no camera motion makes of a scene.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.clip import Picture

Began = Literal["start", "cut", "fade", "window"]  # a dissolve counts as a fade


@dataclass(frozen=True, kw_only=True)
class ShotSettings:
    """Thresholds, fitted on 12 real sequences (test data sets, named where they matter) joined at random."""

    score: float = 0.3
    """A change of picture scores at least this above a still one (0 to 2). Of 1500 joints between different
    sequences none scored < 0.59; the largest step inside apple, robot_unitree, lady-running, kitti_odom_a: 0.26."""
    score_per_motion: float = 1.5
    """... plus this times the median score nearby: fast motion (lady-running, median 0.19) is no cut."""
    neighbourhood: int = 12
    """Frames on either side that make "nearby"; half a second at 25 Hz."""
    foreign_frames: int = 3
    """At most this many frames between two that fit together are foreign (a flash lasts 1 to 3 frames)."""
    blank_contrast: float = 4.0
    """Standard deviation of grey levels (of 255) below which a frame is one colour; compression noise is 1 to 2."""
    texture_contrast: float = 8.0
    """Standard deviation of grey levels below which structure is mostly noise and counts in proportion."""
    shift: float = 0.2
    """Share of the picture that structure may shift between frames, each way."""
    mixture_reach: tuple[int, ...] = (4, 8, 16, 24)
    """A frame is held against those so many frames before and after it, for dissolves of 0.2 to 2 s at 25 Hz."""
    mixture_residual: float = 0.35
    """What no mixture of the two explains of a frame, over their difference. 48 dissolves of 6 to 50 frames between
    real sequences: at most 0.33; seven sequences without: at least 0.38."""
    mixture_share: float = 0.25
    """Each of the two makes at least this much of the mixture."""
    mixture_score: float = 0.5
    """The two score at least this against each other ..."""
    mixture_structure: float = 0.25
    """... and at least this in structure alone: a change of exposure is no dissolve."""
    window_s: float = 60.0
    """Longest shot (DESIGN: a clip is at most a minute)."""
    window_frames: int = 1800
    """The same where there are no time stamps: a minute at 30 Hz."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """Frames `start` ≤ index < `stop`, but for `foreign`."""

    start: int
    """First frame."""
    stop: int
    """One past the last frame."""
    began: Began
    """Why a shot begins here."""
    foreign: tuple[int, ...] = ()
    """Frames in between that show something else (a flash, an inserted picture)."""

    @property
    def frames(self) -> Int64[np.ndarray, "n"]:
        """Frame indices of the shot, ascending."""
        inside = np.arange(self.start, self.stop, dtype=np.int64)
        return inside[~np.isin(inside, self.foreign)]


@dataclass
class ShotDetector:
    """Takes thumbnails in order (`see`), then says where the shots are (`shots`). Memory: a few numbers a frame."""

    settings: ShotSettings = field(default_factory=ShotSettings)
    scores: list[float] = field(default_factory=list)
    """Change from the frame before; 0 for the first."""
    blank: list[bool] = field(default_factory=list)
    """Whether the frame is one colour, or amid a dissolve."""
    returns: dict[int, int] = field(default_factory=dict)
    """Frame at which the picture changes → later frame that fits the one before the change again."""
    _latest: deque["_Look"] = field(default_factory=deque)
    _open: dict[int, "_Look"] = field(default_factory=dict)

    def see(self, thumbnail: Picture) -> None:
        """Takes the next frame."""
        look, now = _Look.at(thumbnail), len(self.scores)
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
        """Blanks the frames between two whose mixture lies midway."""
        for reach in self.settings.mixture_reach:
            if len(self._latest) <= 2 * reach:
                return
            earlier, frame, later = self._latest[-1 - 2 * reach], self._latest[-1 - reach], self._latest[-1]
            if _mixed(earlier, frame, later, self.settings):
                self.blank[now - 2 * reach + 1 : now] = [True] * (2 * reach - 1)

    def shots(self) -> list[Shot]:
        """Shots in order; blank frames between them belong to none. A video that is blank throughout is one shot."""
        blank = np.array(self.blank, dtype=bool)
        if blank.all():
            blank[:] = False  # nothing but one colour: the experts say what can be made of it
        cuts, foreign = self._changes()
        return [
            Shot(start=start, stop=stop, began=began, foreign=tuple(f for f in foreign if start <= f < stop))
            for start, stop, began in _runs(blank, cuts)
        ]

    def _changes(self) -> tuple[list[int], list[int]]:
        """Frames that begin another picture for good, and frames that are foreign for a moment."""
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
    """Equal parts of at most a minute. `times_s` are those of the whole video; None counts frames instead."""
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
class _Look:
    """What is compared of a frame."""

    grey: Float32[np.ndarray, "h w"]
    soft: Float32[np.ndarray, "h w"]
    histogram: Float32[np.ndarray, "512"]
    contrast: float

    @classmethod
    def at(cls, thumbnail: Picture) -> "_Look":
        import cv2

        histogram = cv2.calcHist([thumbnail], [0, 1, 2], None, [8, 8, 8], [0, 256] * 3).ravel()
        grey = cv2.cvtColor(thumbnail, cv2.COLOR_RGB2GRAY).astype(np.float32)
        return cls(grey, cv2.GaussianBlur(grey, (5, 5), 0), histogram / histogram.sum(), float(grey.std()))


def _change(a: _Look, b: _Look, settings: ShotSettings) -> float:
    """0 (same picture) to 2: share of colour that differs + structure that differs."""
    return 0.5 * float(np.abs(a.histogram - b.histogram).sum()) + _structure(a, b, settings)


def _structure(a: _Look, b: _Look, settings: ShotSettings) -> float:
    """Lack of correlation at the best shift, 0 to 1; less where there is hardly any texture."""
    import cv2

    h, w = a.grey.shape
    dy, dx = int(h * settings.shift), int(w * settings.shift)
    middle = a.grey[dy : h - dy, dx : w - dx]
    fit = 0.0
    if min(a.contrast, b.contrast) > 1e-3:
        fit = float(cv2.matchTemplate(b.grey, middle, cv2.TM_CCOEFF_NORMED).max())
    texture = min(1.0, max(a.contrast, b.contrast) / settings.texture_contrast)
    return texture * float(np.clip(1 - fit, 0, 1))


def _mixed(earlier: _Look, frame: _Look, later: _Look, settings: ShotSettings) -> bool:
    """Whether the frame is a mixture of two different pictures around it."""
    way, gone = (later.soft - earlier.soft).ravel(), (frame.soft - earlier.soft).ravel()
    length = float(way @ way) + 1e-6
    share = float(gone @ way) / length
    if not settings.mixture_share < share < 1 - settings.mixture_share:
        return False
    rest = gone - np.float32(share) * way
    if float(rest @ rest) > settings.mixture_residual**2 * length:
        return False
    if _change(earlier, later, settings) < settings.mixture_score:
        return False
    return _structure(earlier, later, settings) > settings.mixture_structure


def _runs(blank: Bool[np.ndarray, "n"], cuts: list[int]) -> Iterator[tuple[int, int, Began]]:
    """(start, stop, why it begins) of each run of frames that are not blank, split at the cuts."""
    edges = np.flatnonzero(np.diff(np.r_[True, blank, True].astype(np.int8)))
    for start, stop in edges.reshape(-1, 2).tolist():
        began: Began = "start" if start == 0 else "fade"
        inner = [start, *(c for c in cuts if start < c < stop), stop]
        for a, b in pairwise(inner):
            yield a, b, began
            began = "cut"
