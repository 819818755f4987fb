"""Image tracks: corners tracked from frame to frame by pyramidal Lucas-Kanade, with a forward-backward check.

Memory holds two pictures and the tracks. After an occlusion a track may continue on the occluder; geometry decides
later in which frames the point is visible.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int64

from experts.clip import Clip, GreyPicture
from experts.expert import WeightFreeExpert
from experts.provenance import Provenance
from experts.signals import ImageTracks, NoEstimate, Signals, ValidArea


@dataclass(frozen=True, kw_only=True)
class KltSettings:
    """Lengths are pixels at working size. Values without a source are chosen, not tuned on a data set."""

    window_px: int = 21
    """Side of the matched patch (measured with 4 levels: median error 0.11 px after 10 frames, 0.26 px after 30)."""
    pyramid_levels: int = 4
    """Pyramid levels: motion up to about 2^4 · 10 px between frames can be tracked."""
    forward_backward_px: float = 1.0
    """Largest forward-backward error of a tracked point."""
    corner_quality: float = 0.01
    """Weakest corner used, as a share of the strongest one."""
    min_contrast: float = 1e-4
    """Smallest eigenvalue of the patch, on OpenCV's scale: a patch with less texture drifts."""
    spacing_share: float = 0.016
    """Smallest distance between corners, as a share of the diagonal (13 px at 640x480)."""
    max_active: int = 600
    """Largest number of points tracked at a time: with `spacing_share`, enough to cover a picture."""
    reseed_share: float = 0.8
    """New corners are detected when fewer than this share of `max_active` is tracked."""
    reseed_every: int = 5
    """Frames between two detections, unless more than half of the points are lost."""
    min_frames: int = 3
    """Shorter tracks are dropped (2 in clips of two frames)."""
    max_tracks: int = 6000
    """The longest tracks are kept: 6000 tracks over 60 s at 30 frames a second are 86 MB."""


class KltExpert(WeightFreeExpert):
    """Expert "klt": provides "image_tracks"."""

    name = "klt"
    version = "1"
    provides = frozenset({"image_tracks"})
    needs = frozenset({"valid_area"})
    options = frozenset({"max_side_px"})

    def __init__(self, settings: KltSettings | None = None) -> None:
        self.settings = settings or KltSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, ImageTracks | NoEstimate]:
        """Tracks corners through all frames of the clip, in one pass."""
        import cv2

        cv2.setNumThreads(1)
        if len(clip.frames) < 2:
            return {"image_tracks": NoEstimate(reason="fewer than two frames")}
        area = signals.get("valid_area")
        follower = _Follower(self.settings, area.valid if isinstance(area, ValidArea) else None)
        for _, grey in clip.read_grey():
            follower.advance(grey)
        xy = follower.tracks(min(self.settings.min_frames, len(clip.frames)))
        if not len(xy):
            return {
                "image_tracks": NoEstimate(
                    reason="no texture to follow", detail="no corner was tracked over two frames"
                )
            }
        provenance = Provenance(expert=self.name, version=self.version, settings=asdict(self.settings))
        xy_px = clip.full_from_working(xy.astype(np.float64)).astype(np.float32)
        return {"image_tracks": ImageTracks(frames=clip.frames, xy_px=xy_px, provenance=provenance)}


@dataclass
class _Follower:
    """Active points and the history of all points, frame by frame."""

    settings: KltSettings
    valid: Bool[np.ndarray, "h w"] | None
    grey: GreyPicture | None = None
    active_ids: Int64[np.ndarray, "n"] = field(default_factory=lambda: np.zeros(0, np.int64))
    active_xy: Float32[np.ndarray, "n 2"] = field(default_factory=lambda: np.zeros((0, 2), np.float32))
    history: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    next_id: int = 0
    seeded_at: int = -1

    def advance(self, grey: GreyPicture) -> None:
        """Processes the next picture."""
        before = len(self.active_ids)
        if self.grey is not None and before:
            self._follow(self.grey, grey)
        at, few = len(self.history), len(self.active_ids) < self.settings.reseed_share * self.settings.max_active
        if few and (at - self.seeded_at >= self.settings.reseed_every or 2 * len(self.active_ids) <= before):
            self._seed(grey)
            self.seeded_at = at
        self.history.append((self.active_ids, self.active_xy))
        self.grey = grey

    def _follow(self, last: GreyPicture, grey: GreyPicture) -> None:
        import cv2

        s = self.settings
        options: dict[str, Any] = {
            "winSize": (s.window_px, s.window_px),
            "maxLevel": s.pyramid_levels,
            "criteria": (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 0.01),
            "minEigThreshold": s.min_contrast,
        }
        start = self.active_xy[:, None]
        forward, found, _ = cv2.calcOpticalFlowPyrLK(last, grey, start, None, **options)
        backward, returned, _ = cv2.calcOpticalFlowPyrLK(grey, last, forward, None, **options)
        good = (found[:, 0] > 0) & (returned[:, 0] > 0)
        good &= np.linalg.norm(backward - start, axis=-1)[:, 0] < s.forward_backward_px
        good &= self._inside(forward[:, 0], grey)
        self.active_ids, self.active_xy = self.active_ids[good], np.ascontiguousarray(forward[good, 0])

    def _inside(self, xy: Float32[np.ndarray, "n 2"], grey: GreyPicture) -> Bool[np.ndarray, "n"]:
        height, width = grey.shape
        inside = np.all((xy >= 0) & (xy <= np.array([width - 1, height - 1])), axis=-1)
        if self.valid is not None:
            x, y = np.rint(np.where(inside[:, None], xy, 0)).astype(int).T
            inside &= self.valid[y, x]
        return np.asarray(inside)

    def _seed(self, grey: GreyPicture) -> None:
        """Detects new corners away from the active points."""
        import cv2

        spacing = max(3.0, self.settings.spacing_share * float(np.hypot(*grey.shape)))
        mask = np.full(grey.shape, 255, np.uint8) if self.valid is None else self.valid.astype(np.uint8) * 255
        for x, y in np.rint(self.active_xy).astype(int).tolist():
            cv2.circle(mask, (x, y), int(spacing), 0, -1)
        room = self.settings.max_active - len(self.active_ids)
        corners = cv2.goodFeaturesToTrack(grey, room, self.settings.corner_quality, spacing, mask=mask, blockSize=5)
        if corners is None:
            return
        ids = np.arange(self.next_id, self.next_id + len(corners), dtype=np.int64)
        self.next_id += len(corners)
        self.active_ids = np.concatenate([self.active_ids, ids])
        self.active_xy = np.concatenate([self.active_xy, corners[:, 0].astype(np.float32)])

    def tracks(self, min_frames: int) -> Float32[np.ndarray, "t n 2"]:
        """Tracks of at least `min_frames` frames, the longest `max_tracks`, in order of their start; NaN where not
        tracked."""
        if not self.next_id:
            return np.zeros((0, len(self.history), 2), np.float32)
        length = np.bincount(np.concatenate([ids for ids, _ in self.history]), minlength=self.next_id)
        longest = np.argsort(-length, kind="stable")[: self.settings.max_tracks]
        kept = np.sort(longest[length[longest] >= min_frames])
        row = np.full(self.next_id, -1)
        row[kept] = np.arange(len(kept))
        xy = np.full((len(kept), len(self.history), 2), np.nan, np.float32)
        for column, (ids, points) in enumerate(self.history):
            rows = row[ids]
            xy[rows[rows >= 0], column] = points[rows >= 0]
        return xy
