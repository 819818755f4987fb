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
from experts.matching.frame_pairs import REFERENCE_WIDTH_PX, find_homography
from experts.provenance import Provenance
from experts.signals import ImageTracks, NoEstimate, Signals, ValidArea

_MIN_POINTS = 12
"""Smallest number of points on a homography."""


@dataclass(frozen=True, kw_only=True)
class KltSettings:
    """Lengths are pixels at working size. Values without a source are chosen, not tuned on a data set."""

    window_px: int = 21
    """Side of the matched patch (measured with 4 levels: median error 0.11 px after 10 frames, 0.26 px after 30)."""
    pyramid_levels: int = 4
    """Pyramid levels: motion up to about 2^4 · 10 px between frames can be tracked."""
    forward_backward_px: float = 1.0
    """Largest forward-backward error of a tracked point."""
    centre_px: int = 9
    """Side of a smaller patch that must move alike: otherwise the point lies beside an object that its larger patch
    follows, ..."""
    centre_share: float = 0.15
    """... up to this share of the step, at least `forward_backward_px`."""
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
    moving_px: float = 3.0
    """A point that departs by more than this from the homography of most points since the last detection (at 640 px
    width) may move: moving objects are small and lose their points, so more of them are followed there ..."""
    moving_radius_share: float = 0.04
    """... within this share of the diagonal, ..."""
    moving_spacing_share: float = 0.008
    """... at this distance from each other, ..."""
    max_moving: int = 200
    """... up to this number beyond `max_active`."""
    min_frames: int = 3
    """Shorter tracks are dropped (2 in clips of two frames)."""
    max_tracks: int = 6000
    """The longest tracks are kept: 6000 tracks over 60 s at 30 frames a second are 86 MB."""


class KltExpert(WeightFreeExpert):
    """Expert "klt": provides "image_tracks"."""

    name = "klt"
    version = "2"
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
            return {"image_tracks": follower.no_tracks()}
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
        s, at = self.settings, len(self.history)
        due, few = at - self.seeded_at >= s.reseed_every, len(self.active_ids) < s.reseed_share * s.max_active
        if few and (due or 2 * len(self.active_ids) <= before):
            self._seed(grey, s.max_active, s.spacing_share, None)
            self.seeded_at = at
        if due and (moving := self._moving()) is not None:
            self._seed(grey, s.max_active + s.max_moving, s.moving_spacing_share, moving)
            self.seeded_at = at
        self.history.append((self.active_ids, self.active_xy))
        self.grey = grey

    def no_tracks(self) -> NoEstimate:
        """Why nothing was tracked."""
        if any(len(ids) for ids, _ in self.history):
            return NoEstimate(reason="frames too different to track", detail="no corner was found in the next frame")
        return NoEstimate(reason="no texture to follow", detail="no frame has corners")

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
        small, _, _ = cv2.calcOpticalFlowPyrLK(
            last, grey, start, forward.copy(), **{**options, "winSize": (s.centre_px, s.centre_px), "maxLevel": 0},
            flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
        )  # fmt: skip
        step, gap = (np.linalg.norm(d, axis=-1)[:, 0] for d in (forward - start, small - forward))
        good &= gap < np.maximum(s.forward_backward_px, s.centre_share * step)
        good &= self._inside(forward[:, 0], grey)
        self.active_ids, self.active_xy = self.active_ids[good], np.ascontiguousarray(forward[good, 0])

    def _inside(self, xy: Float32[np.ndarray, "n 2"], grey: GreyPicture) -> Bool[np.ndarray, "n"]:
        height, width = grey.shape
        inside = np.all((xy >= 0) & (xy <= np.array([width - 1, height - 1])), axis=-1)
        if self.valid is not None:
            x, y = np.rint(np.where(inside[:, None], xy, 0)).astype(int).T
            inside &= self.valid[y, x]
        return np.asarray(inside)

    def _moving(self) -> Float32[np.ndarray, "k 2"] | None:
        """Active points that depart from the homography of most points over the last frames; None without any."""
        s = self.settings
        ids, xy = self.history[-s.reseed_every] if len(self.history) >= s.reseed_every else self.history[0]
        _, here, there = np.intersect1d(self.active_ids, ids, return_indices=True)
        if self.grey is None or len(here) < 2 * _MIN_POINTS:
            return None
        within = s.moving_px * self.grey.shape[1] / REFERENCE_WIDTH_PX
        found = find_homography(xy[there], self.active_xy[here], within)
        if found is None or found[1].sum() < _MIN_POINTS or found[1].all():
            return None
        return self.active_xy[here[~found[1]]]

    def _seed(
        self, grey: GreyPicture, most: int, spacing_share: float, around: Float32[np.ndarray, "k 2"] | None
    ) -> None:
        """Detects new corners away from the active points, and near the points `around` if given, until `most` points
        are active."""
        import cv2

        diagonal = float(np.hypot(*grey.shape))
        spacing = max(3.0, spacing_share * diagonal)
        mask = np.full(grey.shape, 255 if around is None else 0, np.uint8)
        for x, y in np.rint([] if around is None else around).astype(int).tolist():
            cv2.circle(mask, (x, y), int(self.settings.moving_radius_share * diagonal), 255, -1)
        if self.valid is not None:
            mask[~self.valid] = 0
        for x, y in np.rint(self.active_xy).astype(int).tolist():
            cv2.circle(mask, (x, y), int(spacing), 0, -1)
        room = most - len(self.active_ids)
        if room <= 0:
            return
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
