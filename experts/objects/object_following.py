"""Which detections of several frames are one thing.

Where depth and cameras are known, a thing is looked for at its place in the world: its surface is carried into the new
frame, and what lies there now must be the detection. Where its place is empty it may have moved a little. Points
followed in the picture tell it where they are known; where nothing is, only masks that overlap from one frame to the
next. Two candidates that are alike make a new thing, never a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from experts.depth.depth_views import UnprojectionSettings, View, looked_up
from experts.objects.detections import Seen
from experts.objects.mask_points import MaskPoints
from experts.signals import ImageTracks


@dataclass(frozen=True, kw_only=True)
class FollowingSettings:
    """Choices; held against rendered scenes with pairs of like things, movers and things that come back."""

    same_place: float = 0.5
    """Least share of a thing's visible surface that must lie in the detection, and of the detection's in the thing."""
    ambiguous: float = 0.7
    """A second candidate that reaches this share of the best makes both doubtful."""
    points: int = 200
    """Points of a detection that are carried over (cost) ..."""
    told_points: int = 12
    """... of which so many must be told."""
    left: float = 0.3
    """A thing may have moved if its old place is empty, or is hidden by the detection itself, in this share."""
    nearby: float = 0.5
    """How far it may have moved from one frame to the next, as a share of its extent."""
    followed_points: int = 5
    """Points followed in the picture that tell where a mask went."""
    mask_iou: float = 0.5
    """Least overlap of masks of consecutive frames where nothing else is known (and no other thing has the name)."""
    again: float = 0.6
    """Two things of one name, never seen together, are one if this share of the smaller lies within the larger."""


@dataclass
class Track:
    """One thing, as it is being followed."""

    label: int
    seen: dict[int, int]
    """Row of the frame → row of its detection."""
    xyz: Float64[np.ndarray, "p 3"]
    """Where its surface was seen; since it last moved."""
    moved: bool = False

    @property
    def last(self) -> int:
        """Row of the frame where it was last seen."""
        return max(self.seen)


@dataclass(kw_only=True)
class Follower:
    """All that is known of a clip's frames, and the things found so far."""

    frames: Sequence[Seen]
    views: Sequence[View | None]
    """Depth and camera of each frame, where both are known."""
    parts: Sequence[Sequence[MaskPoints | None]]
    """Visible surface of each detection of each frame."""
    flow_px: Float64[np.ndarray, "t n 2"] | None
    """Points followed in the picture, in pixels of the masks; NaN where they are not."""
    settings: FollowingSettings
    lift: UnprojectionSettings
    tracks: list[Track] = field(default_factory=list)

    def follow(self) -> list[Track]:
        """Everything, frame by frame."""
        for n, seen in enumerate(self.frames):
            value, moved = self._likeness(n)
            rows = unambiguous(value, self.settings.ambiguous)
            matched = {int(d): int(t) for t, d in rows}
            for d in range(len(seen.detections.scores)):
                if d in matched:
                    self._add(self.tracks[matched[d]], n, d, bool(moved[matched[d], d]))
                else:
                    self.tracks.append(Track(int(seen.detections.label[d]), {n: d}, self._xyz(n, d)))
        return self._joined()

    def _add(self, track: Track, n: int, d: int, moved: bool) -> None:
        track.seen[n] = d
        track.moved |= moved
        new = self._xyz(n, d)
        track.xyz = new if moved else np.concatenate([track.xyz, new])

    def _xyz(self, n: int, d: int) -> Float64[np.ndarray, "p 3"]:
        part = self.parts[n][d]
        return np.zeros((0, 3)) if part is None else part.at_most(self.settings.points).xyz

    def _mask(self, n: int, d: int) -> Bool[np.ndarray, "h w"]:
        return np.asarray(self.frames[n].ids == d)

    def _likeness(self, n: int) -> tuple[Float64[np.ndarray, "t k"], Bool[np.ndarray, "t k"]]:
        """How well each track fits each detection of frame n (0: not at all), and whether it would have moved."""
        label = self.frames[n].detections.label
        value, moved = np.zeros((len(self.tracks), len(label))), np.zeros((len(self.tracks), len(label)), dtype=bool)
        for t, track in enumerate(self.tracks):
            for d in np.flatnonzero(label == track.label):
                value[t, d], moved[t, d] = self._fit(track, n, int(d))
        return value, moved

    def _fit(self, track: Track, n: int, d: int) -> tuple[float, bool]:
        place = self._same_place(track, n, d)
        if place >= self.settings.same_place:
            return place, False
        flow = self._flowed(track, n, d)
        if flow >= self.settings.same_place:
            return flow, place >= 0  # its place in the world is known, and is not there
        if place >= 0 and not flow >= 0:
            near = self._stepped(track, n, d)
            return near, near > 0
        if place < 0 and flow < 0 and track.last == n - 1 and self._alone(track.last, n, track.label):
            overlap = _iou(self._mask(track.last, track.seen[track.last]), self._mask(n, d))
            return (overlap if overlap >= self.settings.mask_iou else 0.0), False
        return 0.0, False

    def _alone(self, a: int, b: int, label: int) -> bool:
        """Whether both frames show one thing of this name only: a camera that turns puts like things in each other's
        place."""
        return all(np.count_nonzero(self.frames[n].detections.label == label) == 1 for n in (a, b))

    def _same_place(self, track: Track, n: int, d: int) -> float:
        """Share of the track's surface, where frame n shows it, that lies in the detection; or of the detection's in
        the track, if less; -1 where neither can be told."""
        view = self.views[n]
        if view is None or not len(track.xyz):
            return -1.0
        xyz = track.xyz[:: max(1, len(track.xyz) // (4 * self.settings.points))]
        shares = [self._inside(xyz, view, self._mask(n, d))]
        back = self._xyz(n, d)
        for m in sorted(track.seen)[-3:]:
            if (earlier := self.views[m]) is not None and not (track.moved and m != track.last):
                shares.append(self._inside(back, earlier, self._mask(m, track.seen[m])))
        told = [share for share in shares if share >= 0]
        return min([*told[:1], max(told[1:], default=1.0)]) if told else -1.0

    def _inside(self, xyz: Float64[np.ndarray, "p 3"], view: View, mask: Bool[np.ndarray, "h w"]) -> float:
        """Share of the places that are in view (seen, or seen through), whose surface lies in the mask."""
        place = looked_up(xyz, view, self.lift)
        told = place.seen | place.through
        if told.sum() < self.settings.told_points:
            return -1.0
        return float((place.seen & mask[place.row, place.column]).sum() / told.sum())

    def _stepped(self, track: Track, n: int, d: int) -> float:
        """How near a thing that left its place is to the detection: 1 as good as there, 0 too far to say."""
        view, last, now = self.views[n], self.parts[track.last][track.seen[track.last]], self.parts[n][d]
        if view is None or last is None or now is None or not len(last) or not len(now) or track.last != n - 1:
            return 0.0
        place = looked_up(last.at_most(self.settings.points).xyz, view, self.lift)
        told = max(1, int((place.seen | place.through | place.hidden).sum()))
        itself = place.hidden & self._mask(n, d)[place.row, place.column]
        if (place.through.sum() + itself.sum()) / told < self.settings.left:
            return 0.0
        extent = np.linalg.norm(np.percentile(last.xyz, 95, axis=0) - np.percentile(last.xyz, 5, axis=0))
        step = np.linalg.norm(np.median(now.xyz, axis=0) - np.median(last.xyz, axis=0)) / max(float(extent), 1e-9)
        return float(1 - step) if step <= self.settings.nearby else 0.0

    def _flowed(self, track: Track, n: int, d: int) -> float:
        """Share of the points followed from the track's last mask into frame n that lie in the detection; -1 if too
        few are followed."""
        if self.flow_px is None:
            return -1.0
        before, after = self.flow_px[:, track.last], self.flow_px[:, n]
        both = np.isfinite(before[:, 0]) & np.isfinite(after[:, 0])
        start = both & _at(self._mask(track.last, track.seen[track.last]), before)
        if start.sum() < self.settings.followed_points:
            return -1.0
        return float((start & _at(self._mask(n, d), after)).sum() / start.sum())

    def _joined(self) -> list[Track]:
        """Pieces of one thing put together: of one name, at one place, never in one frame."""
        kept: list[Track] = []
        for track in self.tracks:
            whole = next((other for other in kept if self._same(other, track)), None)
            if whole is None:
                kept.append(track)
            else:
                whole.seen |= track.seen
                whole.xyz = np.concatenate([whole.xyz, track.xyz])
        return kept

    def _same(self, a: Track, b: Track) -> bool:
        if a.label != b.label or a.moved or b.moved or a.seen.keys() & b.seen.keys():
            return False
        small, large = sorted((a.xyz, b.xyz), key=len)
        if len(small) < self.settings.told_points:
            return False
        extent = float(np.linalg.norm(np.ptp(large, axis=0)))
        near = cKDTree(large).query(small, distance_upper_bound=0.1 * extent)[0]
        return bool(np.isfinite(near).mean() >= self.settings.again)


def unambiguous(value: Float64[np.ndarray, "t k"], ratio: float) -> Int64[np.ndarray, "m 2"]:
    """(track, detection) pairs of the best assignment, without those that have a rival of `ratio` times their value."""
    if not value.size:
        return np.zeros((0, 2), dtype=np.int64)
    clear = value.copy()
    for axis in (0, 1):
        ordered = np.sort(value, axis=axis)
        second = np.take(ordered, [-2], axis=axis) if value.shape[axis] > 1 else np.zeros(1)
        best = np.take(ordered, [-1], axis=axis)
        doubtful = second >= ratio * best
        clear = np.where(doubtful, 0.0, clear)
    rows, columns = linear_sum_assignment(-clear)
    pairs = np.stack([rows, columns], axis=1)
    return pairs[clear[rows, columns] > 0].astype(np.int64)


def numbered(tracks: Sequence[Track], frames: Sequence[Seen]) -> Int32[np.ndarray, "n h w"]:
    """Row of `tracks` per pixel of every frame; -1 for none."""
    out = np.full((len(frames), *frames[0].ids.shape), -1, dtype=np.int32)
    for k, track in enumerate(tracks):
        for n, d in track.seen.items():
            out[n][frames[n].ids == d] = k
    return out


def flow_at(
    tracks: ImageTracks, frames: Int64[np.ndarray, "n"], shape: tuple[int, int], size: tuple[int, int]
) -> Float64[np.ndarray, "t n 2"] | None:
    """Points followed in the picture, at masks of (height, width) `size` over pictures of `shape`; NaN in frames that
    the tracks do not have; None where there are none."""
    if not len(tracks.xy_px) or not len(tracks.frames):
        return None
    rows = np.searchsorted(tracks.frames, frames).clip(0, len(tracks.frames) - 1)
    xy = tracks.xy_px[:, rows].astype(np.float64)
    xy[:, tracks.frames[rows] != frames] = np.nan
    return (xy + 0.5) * [size[1] / shape[1], size[0] / shape[0]] - 0.5


def _iou(a: Bool[np.ndarray, "h w"], b: Bool[np.ndarray, "h w"]) -> float:
    return float((a & b).sum() / max(1, (a | b).sum()))


def _at(mask: Bool[np.ndarray, "h w"], xy: Float64[np.ndarray, "t 2"]) -> Bool[np.ndarray, "t"]:
    """Whether pixels lie in the mask; False for NaN."""
    known = np.isfinite(xy[:, 0])
    at = np.round(np.where(known[:, None], xy, -1)).astype(int)
    inside = (at >= 0).all(axis=1) & (at[:, 0] < mask.shape[1]) & (at[:, 1] < mask.shape[0])
    at = np.where(inside[:, None], at, 0)
    return np.asarray(inside & mask[at[:, 1], at[:, 0]])
