"""Point matches between frames: rootSIFT and two-view geometry, then held against a second, independent way.

Repeated texture (tiles, windows) is the enemy: a match is unambiguous only if no other keypoint of either frame,
its own neighbours in the same picture included, looks nearly as alike.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32, Int64
from scipy.spatial import cKDTree

from experts.clip import Clip, GreyPicture
from experts.expert import WeightFreeExpert
from experts.mapping.two_view import epipolar_inliers, find_homography
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, Matches, NoEstimate, Signal, Signals, SparsePoints, ValidArea

_REFERENCE_WIDTH_PX = 640.0


@dataclass(frozen=True, kw_only=True)
class SiftSettings:
    """Thresholds; "px" are those of a 640 px wide picture."""

    frames: int = 12
    """Frames that are described."""
    features: int = 2000
    """Keypoints per frame."""
    pairs: int = 20
    """Pairs of frames."""
    least_shift: float = 0.04
    """Frames of a pair differ by at least this median displacement, as a share of the width ..."""
    largest_shift: float = 0.4
    """... and by at most this."""
    shared_tracks: int = 20
    """Tracks that both frames share, to know the displacement."""
    ratio: float = 0.8
    """Largest ratio of best to second-best descriptor distance, in either direction (Lowe 2004)."""
    clear_ratio: float = 0.7
    """Largest ratio, look-alikes in the same picture included, of an unambiguous match (DESIGN §6)."""
    alone_px: float = 6.0
    """Keypoints nearer than this are the same point at another scale or orientation, not look-alikes."""
    epipolar_px: float = 1.5
    """Inlier threshold of the two-view geometry."""
    inliers: int = 20
    """Fewest inliers of a pair."""
    agree_px: float = 2.0
    """A track or reprojection agrees within this."""
    homography_share: float = 0.8
    """Tracks that one homography must explain before it confirms matches: the camera turns or sees a plane."""
    border_radius_px: float = 32.0
    """An occlusion border is near where neighbours within this ..."""
    border_depth_ratio: float = 1.25
    """... differ in depth by more than this factor, ..."""
    flow_radius_px: float = 48.0
    """... or tracks within this, of which there must be ..."""
    flow_tracks: int = 5
    """... so many, ..."""
    flow_px: float = 3.0
    """... are off by more than this from one affine motion, the match's own end included."""
    outlier_probability_confirmed: float = 0.003
    """Confirmed, unambiguous, away from borders (DESIGN §6: below 0.5 %)."""
    outlier_probability_unconfirmed: float = 0.05
    """Everything else."""
    sigma_px: float = 0.7
    """σ per axis of a matched position, at working size (two-view residuals of SIFT are 0.5-1 px)."""


@dataclass(frozen=True, kw_only=True)
class _Described:
    xy_px: Float64[np.ndarray, "k 2"]
    """At full size."""
    descriptor: Float32[np.ndarray, "k 128"]
    lookalike: Float64[np.ndarray, "k"]
    """Descriptor distance to the most alike other keypoint of the same picture."""


@dataclass(frozen=True, kw_only=True)
class _Pair:
    a: int
    b: int
    xy_a_px: Float64[np.ndarray, "m 2"]
    xy_b_px: Float64[np.ndarray, "m 2"]
    ratio: Float64[np.ndarray, "m"]
    """Best descriptor distance over that of the nearest look-alike anywhere."""


class SiftExpert(WeightFreeExpert):
    """Expert "sift": provides "matches"."""

    name: ClassVar[str] = "sift"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"matches"})
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "sparse_points", "image_tracks", "valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px"})

    def __init__(self, settings: SiftSettings | None = None) -> None:
        self.settings = settings or SiftSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"matches": Matches}`. Camera path and sparse points may be missing: then only tracks confirm."""
        import cv2

        cv2.setNumThreads(1)
        tracks = signals["image_tracks"]
        if not isinstance(tracks, ImageTracks) or not len(tracks.xy_px):
            return {"matches": NoEstimate(reason="no tracks to confirm matches with")}
        frames = self._frames(clip, signals["camera_path"])
        chosen = self._choose_pairs(clip, tracks, frames)
        if not chosen:
            return {"matches": NoEstimate(reason="no two frames differ enough and still overlap")}
        area = signals.get("valid_area")
        described = self._describe(clip, sorted({f for p in chosen for f in p}), area)
        found = [pair for a, b in chosen if (pair := self._match(clip, a, b, described)) is not None]
        if not found:
            return {"matches": NoEstimate(reason="no pair of frames matches")}
        return {"matches": self._confirmed(clip, signals, tracks, found)}

    def _frames(self, clip: Clip, path: Signal | NoEstimate | None) -> list[int]:
        """Registered keyframes if there are any, else all frames; spread evenly."""
        frames = clip.frames
        if isinstance(path, CameraPath) and (path.keyframe & path.registered).sum() >= 2:
            frames = path.frames[path.keyframe & path.registered]
        at = np.unique(np.round(np.linspace(0, len(frames) - 1, min(self.settings.frames, len(frames)))).astype(int))
        return [int(f) for f in frames[at]]

    def _choose_pairs(self, clip: Clip, tracks: ImageTracks, frames: list[int]) -> list[tuple[int, int]]:
        """Pairs that overlap moderately, evenly over small and large displacements."""
        shifts = {}
        for i, a in enumerate(frames):
            for b in frames[i + 1 :]:
                start, end = _in_both(tracks, a, b)
                if len(start) >= self.settings.shared_tracks:
                    shift = float(np.median(np.linalg.norm(end - start, axis=1))) / clip.width_px
                    if self.settings.least_shift <= shift <= self.settings.largest_shift:
                        shifts[a, b] = shift
        ordered = sorted(shifts, key=lambda pair: (shifts[pair], pair))
        at = np.linspace(0, len(ordered) - 1, min(self.settings.pairs, len(ordered)))
        return sorted(ordered[i] for i in np.unique(np.round(at).astype(int)))

    def _describe(self, clip: Clip, frames: list[int], area: Signal | NoEstimate | None) -> dict[int, _Described]:
        mask = area.valid.astype(np.uint8) * 255 if isinstance(area, ValidArea) else None
        return {frame: self._describe_one(clip, grey, mask) for frame, grey in clip.read_grey(frames)}

    def _describe_one(self, clip: Clip, grey: GreyPicture, mask: np.ndarray | None) -> _Described:
        """RootSIFT (Arandjelović & Zisserman 2012): Euclidean distance becomes Hellinger's."""
        import cv2

        keypoints, raw = cv2.SIFT.create(nfeatures=self.settings.features).detectAndCompute(grey, mask)
        if raw is None or not len(keypoints):
            return _Described(xy_px=np.zeros((0, 2)), descriptor=np.zeros((0, 128), np.float32), lookalike=np.zeros(0))
        descriptor = np.sqrt(raw / np.maximum(raw.sum(axis=1, keepdims=True), 1e-9)).astype(np.float32)
        xy = clip.full_from_working(np.array([k.pt for k in keypoints], dtype=np.float64))
        distance = _distances(descriptor, descriptor)
        distance[self._same_point(clip, xy)] = np.inf
        return _Described(xy_px=xy, descriptor=descriptor, lookalike=distance.min(axis=1).astype(np.float64))

    def _same_point(self, clip: Clip, xy: Float64[np.ndarray, "k 2"]) -> tuple[np.ndarray, np.ndarray]:
        radius = self.settings.alone_px * clip.width_px / _REFERENCE_WIDTH_PX
        near = cKDTree(xy).query_pairs(radius, output_type="ndarray")
        own = np.arange(len(xy))
        return np.concatenate([own, near[:, 0], near[:, 1]]), np.concatenate([own, near[:, 1], near[:, 0]])

    def _match(self, clip: Clip, a: int, b: int, described: dict[int, _Described]) -> _Pair | None:
        """Mutual nearest neighbours that are unlike all others and obey one two-view geometry."""

        one, two = described[a], described[b]
        if min(len(one.xy_px), len(two.xy_px)) < self.settings.inliers:
            return None
        distance = _distances(one.descriptor, two.descriptor)
        forth, back = distance.argmin(axis=1), distance.argmin(axis=0)
        i = np.flatnonzero(back[forth] == np.arange(len(forth)))
        j = forth[i]
        best = distance[i, j]
        radius = self.settings.alone_px * clip.width_px / _REFERENCE_WIDTH_PX
        second = np.minimum(
            _next_best(distance[i], two.xy_px, j, radius), _next_best(distance[:, j].T, one.xy_px, i, radius)
        )
        kept = best <= self.settings.ratio * second
        i, j, best, second = i[kept], j[kept], best[kept], second[kept]
        if len(i) < self.settings.inliers:
            return None
        ratio = best / np.maximum(np.minimum.reduce([second, one.lookalike[i], two.lookalike[j]]), 1e-9)
        threshold = self.settings.epipolar_px * clip.width_px / _REFERENCE_WIDTH_PX
        inlier = epipolar_inliers(one.xy_px[i], two.xy_px[j], threshold, confidence=0.999, max_iterations=5000)
        if inlier is None or inlier.sum() < self.settings.inliers:
            return None
        good = _once(one.xy_px[i], two.xy_px[j], ratio, inlier)
        return _Pair(a=a, b=b, xy_a_px=one.xy_px[i[good]], xy_b_px=two.xy_px[j[good]], ratio=ratio[good])

    def _confirmed(self, clip: Clip, signals: Signals, tracks: ImageTracks, found: list[_Pair]) -> Matches:
        path, points = signals["camera_path"], signals["sparse_points"]
        way, clear = [], []
        for pair in found:
            way.append(self._ways(clip, pair, tracks, path, points))
            border = self._near_depth_border(clip, pair, path, points) | self._near_flow_border(clip, pair, tracks)
            clear.append((pair.ratio <= self.settings.clear_ratio) & ~border)
        confirmed_by = np.concatenate(way).astype(np.int32)
        sure = (confirmed_by > 0) & np.concatenate(clear)
        working = clip.width_px / clip.working_size[0]
        return Matches(
            pairs=np.array([(p.a, p.b) for p in found], dtype=np.int64),
            pair=np.repeat(np.arange(len(found)), [len(p.ratio) for p in found]).astype(np.int64),
            xy_a_px=np.concatenate([p.xy_a_px for p in found]),
            xy_b_px=np.concatenate([p.xy_b_px for p in found]),
            sigma_px=np.full(len(sure), self.settings.sigma_px * working),
            outlier_probability=np.where(
                sure, self.settings.outlier_probability_confirmed, self.settings.outlier_probability_unconfirmed
            ),
            confirmed_by=confirmed_by,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings)),
        )

    def _ways(
        self,
        clip: Clip,
        pair: _Pair,
        tracks: ImageTracks,
        path: Signal | NoEstimate,
        points: Signal | NoEstimate,
    ) -> Int32[np.ndarray, "m"]:
        """1 a track passes through both ends, 2 the 3-D point does, 3 the homography of the tracks says so; else 0."""
        agree = self.settings.agree_px * clip.width_px / _REFERENCE_WIDTH_PX
        start, end = _in_both(tracks, pair.a, pair.b)
        way = np.zeros(len(pair.ratio), dtype=np.int32)
        if not (isinstance(path, CameraPath) and path.motion == "general"):
            way[self._on_homography(pair, start, end, agree)] = 3
        if isinstance(path, CameraPath) and isinstance(points, SparsePoints):
            from_point, to_point = _projected(path, points, pair.a), _projected(path, points, pair.b)
            known = (points.outlier_probability <= 0.01) & np.isfinite(from_point[:, 0] + to_point[:, 0])
            way[_passes(pair, from_point[known], to_point[known], agree)] = 2
        way[_passes(pair, start, end, agree)] = 1
        return way

    def _on_homography(
        self, pair: _Pair, start: Float64[np.ndarray, "k 2"], end: Float64[np.ndarray, "k 2"], agree: float
    ) -> Bool[np.ndarray, "m"]:
        import cv2

        nothing = np.zeros(len(pair.ratio), dtype=bool)
        if len(start) < self.settings.shared_tracks:
            return nothing
        found = find_homography(start, end, agree, confidence=0.999, max_iterations=3000)
        if found is None or found[1].mean() < self.settings.homography_share:
            return nothing
        there = cv2.perspectiveTransform(pair.xy_a_px[:, None], found[0])[:, 0]
        return np.asarray(np.linalg.norm(there - pair.xy_b_px, axis=1) <= agree)

    def _near_depth_border(
        self, clip: Clip, pair: _Pair, path: Signal | NoEstimate, points: Signal | NoEstimate
    ) -> Bool[np.ndarray, "m"]:
        """Whether sparse points around either end lie at clearly different depths."""
        near = np.zeros(len(pair.ratio), dtype=bool)
        if not (isinstance(path, CameraPath) and path.motion == "general" and isinstance(points, SparsePoints)):
            return near
        radius = self.settings.border_radius_px * clip.width_px / _REFERENCE_WIDTH_PX
        for frame, xy in ((pair.a, pair.xy_a_px), (pair.b, pair.xy_b_px)):
            cam = _in_camera(path, points, frame)
            z = cam[:, 2]
            pixel = path.intrinsics.project(cam)
            known = np.flatnonzero(path.intrinsics.contains(pixel))
            if not len(known):
                continue
            for k, around in enumerate(cKDTree(pixel[known]).query_ball_point(xy, radius)):
                depth = z[known[around]]
                near[k] |= len(depth) >= 2 and depth.max() > self.settings.border_depth_ratio * depth.min()
        return near

    def _near_flow_border(self, clip: Clip, pair: _Pair, tracks: ImageTracks) -> Bool[np.ndarray, "m"]:
        """Whether tracks around the match and the match itself do not move like one surface, or are too few to say."""
        start, end = _in_both(tracks, pair.a, pair.b)
        if not len(start):
            return np.ones(len(pair.ratio), dtype=bool)
        scale = clip.width_px / _REFERENCE_WIDTH_PX
        around = cKDTree(start).query_ball_point(pair.xy_a_px, self.settings.flow_radius_px * scale)
        border = np.array([len(n) < self.settings.flow_tracks for n in around], dtype=bool)
        for k in np.flatnonzero(~border):
            at = np.vstack([pair.xy_a_px[k], start[around[k]]]) - pair.xy_a_px[k]
            to = np.vstack([pair.xy_b_px[k], end[around[k]]]) - pair.xy_b_px[k]
            affine = np.linalg.lstsq(np.column_stack([at, np.ones(len(at))]), to, rcond=None)[0]
            off = to - np.column_stack([at, np.ones(len(at))]) @ affine
            border[k] = bool((np.linalg.norm(off, axis=1) > self.settings.flow_px * scale).any())
        return border


def _distances(a: Float32[np.ndarray, "k d"], b: Float32[np.ndarray, "l d"]) -> Float32[np.ndarray, "k l"]:
    return np.sqrt(np.maximum(2 - 2 * (a @ b.T), 0))


def _next_best(
    distance: Float32[np.ndarray, "m k"], xy: Float64[np.ndarray, "k 2"], best: Int64[np.ndarray, "m"], radius: float
) -> Float64[np.ndarray, "m"]:
    """Smallest distance to a keypoint that lies elsewhere than the best one."""
    order = np.argpartition(distance, min(8, distance.shape[1] - 1), axis=1)[:, :9]
    near = np.linalg.norm(xy[order] - xy[best][:, None], axis=-1) <= radius
    among = np.where(near, np.inf, np.take_along_axis(distance, order, axis=1)).min(axis=1)
    farthest = np.take_along_axis(distance, order, axis=1).max(axis=1)
    return np.where(np.isfinite(among), among, farthest).astype(np.float64)


def _once(
    xy_a: Float64[np.ndarray, "m 2"],
    xy_b: Float64[np.ndarray, "m 2"],
    ratio: Float64[np.ndarray, "m"],
    good: Bool[np.ndarray, "m"],
) -> Int64[np.ndarray, "g"]:
    """Good matches, each place once (SIFT describes a place at several orientations): the clearest first."""
    chosen: dict[tuple[int, ...], int] = {}
    for k in sorted(np.flatnonzero(good), key=lambda k: (ratio[k], k)):
        chosen.setdefault(tuple(int(v) for v in np.rint(np.concatenate([xy_a[k], xy_b[k]]) / 2)), int(k))
    return np.array(sorted(chosen.values()), dtype=np.int64)


def _in_both(tracks: ImageTracks, a: int, b: int) -> tuple[Float64[np.ndarray, "k 2"], Float64[np.ndarray, "k 2"]]:
    """Pixels in frames a and b of the tracks that are followed in both."""
    column = np.searchsorted(tracks.frames, [a, b])
    if (column >= len(tracks.frames)).any() or (tracks.frames[column] != [a, b]).any():
        return np.zeros((0, 2)), np.zeros((0, 2))
    both = tracks.xy_px[:, column].astype(np.float64)
    both = both[np.isfinite(both).all(axis=(1, 2))]
    return both[:, 0], both[:, 1]


def _passes(
    pair: _Pair, start: Float64[np.ndarray, "k 2"], end: Float64[np.ndarray, "k 2"], agree: float
) -> Bool[np.ndarray, "m"]:
    """Whether the nearest of some known correspondences (start to end) passes both ends of each match.

    What passes near the start but not exactly through it is moved along by the small offset.
    """
    if not len(start):
        return np.zeros(len(pair.ratio), dtype=bool)
    apart, nearest = cKDTree(start).query(pair.xy_a_px)
    offset = pair.xy_b_px - (end[nearest] + pair.xy_a_px - start[nearest])
    return np.asarray((apart <= agree) & (np.linalg.norm(offset, axis=1) <= agree))


def _in_camera(path: CameraPath, points: SparsePoints, frame: int) -> Float64[np.ndarray, "p 3"]:
    row = np.flatnonzero((path.frames == frame) & path.registered)
    if not len(row):
        return np.full_like(points.xyz_world, np.nan)
    pose = path.world_from_cam[row[0]]
    return np.asarray((points.xyz_world - pose[:3, 3]) @ pose[:3, :3])


def _projected(path: CameraPath, points: SparsePoints, frame: int) -> Float64[np.ndarray, "p 2"]:
    return np.asarray(path.intrinsics.project(_in_camera(path, points, frame)), dtype=np.float64)
