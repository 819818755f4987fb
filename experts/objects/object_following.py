"""Associates the detections of several frames with objects.

With known depth and cameras an object is searched at its position in the world: its surface is projected into the new
frame and compared with the detection there. If its position is empty it may have moved a little. Image tracks are used
where they exist; otherwise only masks that overlap from one frame to the next. Two similar candidates start a new
object, as an association would be a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from experts.depth.depth_views import Lookup, UnprojectionSettings, View, looked_up
from experts.objects.detections import SegmentedFrame
from experts.objects.mask_points import MaskPoints
from experts.signals import ImageTracks

_UNTRACKED = -2


@dataclass(frozen=True, kw_only=True)
class FollowingSettings:
    """Chosen; checked on rendered scenes with pairs of equal objects, moving objects, and objects that reappear."""

    same_place: float = 0.5
    """Smallest share of an object's visible surface inside the detection, and of the detection's inside the object."""
    ambiguous: float = 0.7
    """A second candidate with at least this share of the best score makes both ambiguous."""
    points: int = 200
    """Points of a detection that are projected (cost)."""
    min_points: int = 12
    """Smallest number of projected points that must be visible."""
    vacated: float = 0.3
    """An object may have moved if at least this share of its old position is empty, or occluded by the detection
    itself."""
    nearby: float = 0.5
    """Largest motion from one frame to the next, as a share of the object's extent."""
    followed_points: int = 5
    """Smallest number of image tracks that associate a mask."""
    mask_iou: float = 0.5
    """Smallest IoU of masks of consecutive frames if nothing else is known (and no other object has the name)."""
    merge_share: float = 0.6
    """Two objects of one name, never in one frame, are merged if this share of the smaller is inside the larger."""


@dataclass
class Track:
    """One object over the frames."""

    label: int
    seen: dict[int, int]
    """Row of the frame → row of its detection."""
    xyz: Float64[np.ndarray, "p 3"]
    """Its surface points since it last moved."""
    moved: bool = False

    @property
    def last(self) -> int:
        """Row of the last frame with a detection."""
        return max(self.seen)


@dataclass(kw_only=True)
class Follower:
    """Inputs of a clip, and the objects found so far."""

    frames: Sequence[SegmentedFrame]
    views: Sequence[View | None]
    """Depth and camera of each frame, where both are known."""
    parts: Sequence[Sequence[MaskPoints | None]]
    """Visible surface of each detection of each frame."""
    tracks_px: Float64[np.ndarray, "t n 2"] | None
    """Image tracks in pixels of the masks; NaN where not tracked."""
    settings: FollowingSettings
    unprojection: UnprojectionSettings
    tracks: list[Track] = field(default_factory=list)
    _looked_up: dict[tuple[int, int], Float64[np.ndarray, "k"]] = field(default_factory=dict, init=False)
    """Of the current frame: `_back` by detection and earlier frame."""
    _tracked: dict[int, Int32[np.ndarray, "t"]] = field(default_factory=dict, init=False)
    """`_ids_at` by frame."""
    _middles: dict[tuple[int, int], tuple[Float64[np.ndarray, "3"], float]] = field(default_factory=dict, init=False)
    """`_middle` by frame and detection."""

    def follow(self) -> list[Track]:
        """Processes all frames in order."""
        for n, seen in enumerate(self.frames):
            self._join(n)
            value, moved = self._likeness(n)
            rows = unambiguous(value, self.settings.ambiguous)
            matched = {int(d): int(t) for t, d in rows}
            for d in range(len(seen.detections.scores)):
                if d in matched:
                    self._add(self.tracks[matched[d]], n, d, bool(moved[matched[d], d]))
                else:
                    self.tracks.append(Track(int(seen.detections.label[d]), {n: d}, self._xyz(n, d)))
        return self._merged()

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

    def _join(self, n: int) -> None:
        """Joins tracks whose image tracks all end inside one detection of frame n: they began anew where too few image
        tracks were on them."""
        if self.tracks_px is None:
            return
        first: dict[int, Track] = {}
        kept: list[Track] = []
        for track in self.tracks:
            inside = np.flatnonzero(
                (self._track_shares(track, n) >= self.settings.same_place)
                & (self.frames[n].detections.label == track.label)
            )
            whole = first.setdefault(int(inside[0]), track) if len(inside) == 1 else track
            if whole is track or whole.seen.keys() & track.seen.keys():
                kept.append(track)
                continue
            whole.seen |= track.seen
            whole.moved |= track.moved
            whole.xyz = np.concatenate([whole.xyz, track.xyz])
        self.tracks = kept

    def _likeness(self, n: int) -> tuple[Float64[np.ndarray, "t k"], Bool[np.ndarray, "t k"]]:
        """Score of each track for each detection of frame n (0: no match), and whether the object would have moved."""
        label = self.frames[n].detections.label
        value, moved = np.zeros((len(self.tracks), len(label))), np.zeros((len(self.tracks), len(label)), dtype=bool)
        self._looked_up.clear()
        for t, track in enumerate(self.tracks):
            same = np.asarray(label == track.label)
            if not same.any():
                continue
            forward, flow = self._forward(track, n), self._track_shares(track, n)
            possible = flow >= self.settings.same_place
            if track.last == n - 1:
                possible[:] = True
            elif forward is not None:
                possible |= (forward >= self.settings.same_place) | (forward < 0)
            for d in np.flatnonzero(same & possible).tolist():
                place = -1.0 if forward is None else self._same_place(track, n, d, float(forward[d]))
                value[t, d], moved[t, d] = self._fit(track, n, d, place, float(flow[d]))
        return value, moved

    def _fit(self, track: Track, n: int, d: int, place: float, flow: float) -> tuple[float, bool]:
        """Score by the shares of the surface and of the image tracks inside the detection, and whether it moved."""
        if place >= self.settings.same_place:
            return place, False
        if flow >= self.settings.same_place:
            return flow, place >= 0  # its position in the world is known and differs
        if place >= 0 and not flow >= 0:
            near = self._nearby(track, n, d)
            return near, near > 0
        if place < 0 and flow < 0 and track.last == n - 1 and self._alone(track.last, n, track.label):
            overlap = _iou(self._mask(track.last, track.seen[track.last]), self._mask(n, d))
            return (overlap if overlap >= self.settings.mask_iou else 0.0), False
        return 0.0, False

    def _alone(self, a: int, b: int, label: int) -> bool:
        """Whether both frames have exactly one object of this name: a rotating camera puts equal objects in each
        other's place."""
        return all(np.count_nonzero(self.frames[n].detections.label == label) == 1 for n in (a, b))

    def _forward(self, track: Track, n: int) -> Float64[np.ndarray, "k"] | None:
        """Share of the track's visible surface that is inside each detection of frame n, -1 if undecided; None where
        its position or the frame's depth is not known."""
        view = self.views[n]
        if view is None or not len(track.xyz):
            return None
        xyz = track.xyz[:: max(1, len(track.xyz) // (4 * self.settings.points))]
        place = looked_up(xyz, view, self.unprojection)
        return self._shares(place, n, len(self.frames[n].detections.scores))

    def _same_place(self, track: Track, n: int, d: int, forward: float) -> float:
        """Share of the track's visible surface that is inside the detection, or of the detection's inside the track, if
        smaller; -1 if undecided."""
        shares = [forward]
        for m in sorted(track.seen)[-3:]:
            if self.views[m] is not None and not (track.moved and m != track.last):
                shares.append(float(self._back(n, d, m)[track.seen[m]]))
        decided = [share for share in shares if share >= 0]
        return min([*decided[:1], max(decided[1:], default=1.0)]) if decided else -1.0

    def _back(self, n: int, d: int, m: int) -> Float64[np.ndarray, "k"]:
        """Share of a detection's surface in frame n that is inside each detection of the earlier frame m."""
        if (d, m) not in self._looked_up:
            view = self.views[m]
            assert view is not None
            place = looked_up(self._xyz(n, d), view, self.unprojection)
            self._looked_up[d, m] = self._shares(place, m, len(self.frames[m].detections.scores))
        return self._looked_up[d, m]

    def _shares(self, place: Lookup, n: int, count: int) -> Float64[np.ndarray, "k"]:
        """Share of the points in view (visible, or seen through) that are inside each detection of frame n; -1 if they
        are too few."""
        decided = place.seen | place.through
        if decided.sum() < self.settings.min_points:
            return np.full(count, -1.0)
        ids = self.frames[n].ids[place.row[place.seen], place.column[place.seen]]
        return np.bincount(ids[ids >= 0], minlength=count) / decided.sum()

    def _nearby(self, track: Track, n: int, d: int) -> float:
        """Score of a detection near an object that left its position: 1 at the same position, 0 too far away."""
        view, last, now = self.views[n], self.parts[track.last][track.seen[track.last]], self.parts[n][d]
        if view is None or last is None or now is None or not len(last) or not len(now) or track.last != n - 1:
            return 0.0
        (before, extent), (after, _) = self._middle(track.last, track.seen[track.last]), self._middle(n, d)
        step = float(np.linalg.norm(after - before)) / max(extent, 1e-9)
        if step > self.settings.nearby:
            return 0.0
        place = looked_up(last.at_most(self.settings.points).xyz, view, self.unprojection)
        decided = max(1, int((place.seen | place.through | place.hidden).sum()))
        itself = place.hidden & self._mask(n, d)[place.row, place.column]
        return 1 - step if (place.through.sum() + itself.sum()) / decided >= self.settings.vacated else 0.0

    def _middle(self, n: int, d: int) -> tuple[Float64[np.ndarray, "3"], float]:
        """Of the surface of a detection, and its extent."""
        if (n, d) not in self._middles:
            part = self.parts[n][d]
            assert part is not None
            low, middle, high = np.percentile(part.xyz, [5, 50, 95], axis=0)
            self._middles[n, d] = middle, float(np.linalg.norm(high - low))
        return self._middles[n, d]

    def _track_shares(self, track: Track, n: int) -> Float64[np.ndarray, "k"]:
        """Share of the image tracks from the object's last mask that end inside each detection of frame n; -1 if too
        few."""
        count = len(self.frames[n].detections.scores)
        if self.tracks_px is None:
            return np.full(count, -1.0)
        after = self._ids_at(n)[self._ids_at(track.last) == track.seen[track.last]]
        after = after[after > _UNTRACKED]
        if len(after) < self.settings.followed_points:
            return np.full(count, -1.0)
        return np.bincount(after[after >= 0], minlength=count) / len(after)

    def _ids_at(self, n: int) -> Int32[np.ndarray, "t"]:
        """The detection of frame n in which each image track lies: -1 for none, less where it is not tracked."""
        if n not in self._tracked:
            assert self.tracks_px is not None
            self._tracked[n] = _ids_at(self.frames[n].ids, self.tracks_px[:, n])
        return self._tracked[n]

    def _merged(self) -> list[Track]:
        """Merges tracks of one object: same name, same position, never in one frame."""
        kept: list[Track] = []
        placed: dict[int, list[Track]] = {}
        for track in self.tracks:
            alike = placed.setdefault(track.label, [])
            has_place = not track.moved and len(track.xyz) >= self.settings.min_points
            whole = next((other for other in alike if self._same(other, track)), None) if has_place else None
            if whole is not None:
                whole.seen |= track.seen
                whole.xyz = np.concatenate([whole.xyz, track.xyz])
                continue
            kept.append(track)
            alike += [track] if has_place else []
        return kept

    def _same(self, a: Track, b: Track) -> bool:
        small, large = sorted((a.xyz, b.xyz), key=len)
        low, high = large.min(axis=0), large.max(axis=0)
        reach = 0.1 * float(np.linalg.norm(high - low))
        if (small.min(axis=0) > high + reach).any() or (small.max(axis=0) < low - reach).any():
            return False
        if a.seen.keys() & b.seen.keys():
            return False
        near = cKDTree(large).query(small, distance_upper_bound=reach)[0]
        return bool(np.isfinite(near).mean() >= self.settings.merge_share)


def unambiguous(value: Float64[np.ndarray, "t k"], ratio: float) -> Int64[np.ndarray, "m 2"]:
    """(track, detection) pairs of the best assignment, without those that have an alternative of `ratio` times their
    score."""
    if not value.size:
        return np.zeros((0, 2), dtype=np.int64)
    clear = value.copy()
    for axis in (0, 1):
        ordered = np.sort(value, axis=axis)
        second = np.take(ordered, [-2], axis=axis) if value.shape[axis] > 1 else np.zeros(1)
        best = np.take(ordered, [-1], axis=axis)
        ambiguous = second >= ratio * best
        clear = np.where(ambiguous, 0.0, clear)
    rows, columns = linear_sum_assignment(-clear)
    pairs = np.stack([rows, columns], axis=1)
    return pairs[clear[rows, columns] > 0].astype(np.int64)


def numbered(tracks: Sequence[Track], frames: Sequence[SegmentedFrame]) -> Int32[np.ndarray, "n h w"]:
    """Row of `tracks` for each pixel of every frame; -1 for none."""
    out = np.full((len(frames), *frames[0].ids.shape), -1, dtype=np.int32)
    for k, track in enumerate(tracks):
        for n, d in track.seen.items():
            out[n][frames[n].ids == d] = k
    return out


def tracks_at(
    tracks: ImageTracks, frames: Int64[np.ndarray, "n"], shape: tuple[int, int], size: tuple[int, int]
) -> Float64[np.ndarray, "t n 2"] | None:
    """Image tracks in pixels of masks of (height, width) `size`, for pictures of `shape`; NaN in frames without tracks;
    None if there are none."""
    if not len(tracks.xy_px) or not len(tracks.frames):
        return None
    rows = np.searchsorted(tracks.frames, frames).clip(0, len(tracks.frames) - 1)
    xy = tracks.xy_px[:, rows].astype(np.float64)
    xy[:, tracks.frames[rows] != frames] = np.nan
    return (xy + 0.5) * [size[1] / shape[1], size[0] / shape[0]] - 0.5


def _iou(a: Bool[np.ndarray, "h w"], b: Bool[np.ndarray, "h w"]) -> float:
    return float((a & b).sum() / max(1, (a | b).sum()))


def _ids_at(ids: Int32[np.ndarray, "h w"], xy: Float64[np.ndarray, "t 2"]) -> Int32[np.ndarray, "t"]:
    """The values at pixels; -1 outside the picture, `_UNTRACKED` for NaN."""
    known = np.isfinite(xy[:, 0])
    at = np.round(np.where(known[:, None], xy, -1)).astype(int)
    inside = (at >= 0).all(axis=1) & (at[:, 0] < ids.shape[1]) & (at[:, 1] < ids.shape[0])
    at = np.where(inside[:, None], at, 0)
    return np.where(known, np.where(inside, ids[at[:, 1], at[:, 0]], -1), _UNTRACKED).astype(np.int32)
