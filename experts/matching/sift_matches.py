"""Point matches between frames: RootSIFT and two-view geometry, then confirmed by an independent method."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int32
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.matching.frame_pairs import (
    REFERENCE_WIDTH_PX,
    choose_pairs,
    epipolar_inliers,
    epipolar_residual_px,
    evenly_spaced,
    find_homography,
)
from experts.matching.sift_features import (
    Features,
    candidates,
    descriptors_at,
    features_of,
    relative_distance,
    without_duplicates,
)
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, Matches, NoEstimate, Signal, Signals, SparsePoints, ValidArea
from experts.tracking.moving_tracks import open_angle_rad

_MAX_OPEN_RAD = np.radians(145)
"""Points that leave a larger angle free of others lie on the outline of what moves, or beside it."""

_SURE = 0.01
"""Largest outlier probability of a sparse point that confirms a match."""


@dataclass(frozen=True, kw_only=True)
class SiftSettings:
    """Thresholds; "px" refer to a picture of 640 px width."""

    frames: int = 12
    """Number of frames with features."""
    features: int = 2000
    """Keypoints per frame."""
    pairs: int = 20
    """Pairs of frames."""
    min_shift: float = 0.04
    """Smallest median displacement between the frames of a pair, as a share of the width ..."""
    max_shift: float = 0.4
    """... and the largest one."""
    moving_frames: int = 120
    """Frames of a static camera, evenly spaced, among which pairs are sought, ..."""
    moving_steps: int = 24
    """... at most this many of them apart, ..."""
    moving_tracks: int = 6
    """... with at least this many tracks that move by `min_shift`, ..."""
    moving_apart: int = 6
    """... whose ends differ by more than this many of them in sum from those of other pairs."""
    moving_pairs: int = 10
    """Largest number of such pairs."""
    elsewhere_px: float = 16.0
    """A track that moves is unambiguous if its ends are more alike than any place farther than this from them: the
    tolerance of a marked point at 640x480."""
    shared_tracks: int = 20
    """Smallest number of common tracks of a pair, which give the displacement."""
    ratio: float = 0.8
    """Largest ratio of best to second-best descriptor distance, in either direction (Lowe 2004)."""
    unambiguous_ratio: float = 0.7
    """Largest ratio of an unambiguous match, compared with all other keypoints of both frames."""
    same_point_px: float = 6.0
    """Keypoints closer than this are the same point at another scale or orientation."""
    epipolar_px: float = 1.5
    """Inlier threshold of the two-view geometry."""
    inliers: int = 20
    """Smallest number of inliers of a pair."""
    agree_px: float = 2.0
    """A track or reprojection confirms a match within this distance."""
    homography_share: float = 0.8
    """Smallest share of tracks that one homography explains before it confirms matches: the camera rotates, or sees a
    plane."""
    border_radius_px: float = 32.0
    """A match is near an occlusion border if scene points within this radius ..."""
    border_depth_ratio: float = 1.25
    """... differ in depth by more than this factor, ..."""
    plane_points: int = 6
    """... unless so many of them ..."""
    plane_share: float = 0.05
    """... lie within this share of their inverse depth of one plane, ..."""
    flow_radius_px: float = 48.0
    """... or if tracks within this radius ..."""
    flow_tracks: int = 5
    """... are fewer than this, ..."""
    flow_px: float = 3.0
    """... or if they and the match deviate by more than this from one affine motion."""
    outlier_probability_confirmed: float = 0.003
    """For confirmed, unambiguous matches away from borders: below 0.5 %."""
    outlier_probability_unconfirmed: float = 0.05
    """For all other matches."""
    sigma_residuals: float = 1.7
    """σ per axis of a matched position that what confirms it agrees with exactly, over the median Sampson distance of a
    clip's sure matches (14 rendered rooms), ..."""
    min_sigma_px: float = 0.15
    """... and at least this, at working size."""
    sigma_px: float = 0.5
    """The same where no pair has enough sure matches for a two-view geometry."""


@dataclass(frozen=True, kw_only=True)
class _Pair:
    a: int
    b: int
    xy_a_px: Float64[np.ndarray, "m 2"]
    xy_b_px: Float64[np.ndarray, "m 2"]
    ratio: Float64[np.ndarray, "m"]
    """Best descriptor distance over that of the most similar other keypoint in either frame."""


@dataclass(frozen=True, kw_only=True)
class _Confirmation:
    by: Int32[np.ndarray, "m"]
    """2 a 3-D point, else 1 a track, else 3 the homography of the tracks, else 0 nothing."""
    apart_px: Float64[np.ndarray, "m"]
    """How far from where that has it the match ends; NaN where nothing confirms it."""


class SiftExpert(WeightFreeExpert):
    """Expert "sift": provides "matches"."""

    name: ClassVar[str] = "sift"
    version: ClassVar[str] = "7"
    provides: ClassVar[frozenset[str]] = frozenset({"matches"})
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "sparse_points", "image_tracks", "valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px"})

    def __init__(self, settings: SiftSettings | None = None) -> None:
        self.settings = settings or SiftSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"matches": Matches}`. Without camera path or sparse points, only tracks confirm matches."""
        import cv2

        cv2.setNumThreads(1)
        tracks = signals["image_tracks"]
        if not isinstance(tracks, ImageTracks) or not len(tracks.xy_px):
            return {"matches": NoEstimate(reason="no tracks to confirm matches with")}
        path = signals["camera_path"]
        static = isinstance(path, CameraPath) and path.motion == "static"
        frames = self._frames(clip, path)
        chosen = self._moving_pairs(clip, tracks) if static else self._choose_pairs(clip, tracks, frames)
        if not chosen:
            return {"matches": NoEstimate(reason="no two frames overlap with enough displacement")}
        area = signals.get("valid_area")
        if static:
            found = self._match_moving(clip, tracks, chosen)
        else:
            features = self._features(clip, sorted({f for p in chosen for f in p}), area)
            found = [pair for a, b in chosen if (pair := self._match(clip, a, b, features)) is not None]
        if not found:
            return {"matches": NoEstimate(reason="no pair of frames matches")}
        return {"matches": self._confirmed(clip, signals, tracks, found)}

    def _frames(self, clip: Clip, path: Signal | NoEstimate | None) -> list[int]:
        """Registered keyframes if there are at least two, else all frames; evenly spaced."""
        frames = clip.frames
        if isinstance(path, CameraPath) and (path.keyframe & path.registered).sum() >= 2:
            frames = path.frames[path.keyframe & path.registered]
        return evenly_spaced(frames, self.settings.frames)

    def _choose_pairs(self, clip: Clip, tracks: ImageTracks, frames: list[int]) -> list[tuple[int, int]]:
        def shift(a: int, b: int) -> float | None:
            start, end = _in_both(tracks, a, b)
            if len(start) < self.settings.shared_tracks:
                return None
            return float(np.median(np.linalg.norm(end - start, axis=1))) / clip.width_px

        return choose_pairs(frames, shift, self.settings.pairs, (self.settings.min_shift, self.settings.max_shift))

    def _moving_pairs(self, clip: Clip, tracks: ImageTracks) -> list[tuple[int, int]]:
        """Pairs of frames of a static camera between which enough tracks move: the shortest times, spread over the
        clip."""
        s = self.settings
        frames = np.array(evenly_spaced(clip.frames, s.moving_frames))
        xy = tracks.xy_px[:, np.searchsorted(tracks.frames, frames)]
        places = [(i, j) for i in range(len(frames)) for j in range(i + 1, min(len(frames), i + s.moving_steps + 1))]
        shift = {(i, j): np.linalg.norm(xy[:, j] - xy[:, i], axis=1) for i, j in places}
        counts = {pair: int((d > s.min_shift * clip.width_px).sum()) for pair, d in shift.items()}
        chosen: list[tuple[int, int]] = []
        for i, j in sorted(counts, key=lambda p: (p[1] - p[0], -counts[p], p)):
            apart = all(abs(i - a) + abs(j - b) > s.moving_apart for a, b in chosen)
            if counts[i, j] >= s.moving_tracks and apart and len(chosen) < s.moving_pairs:
                chosen.append((i, j))
        return sorted((int(frames[i]), int(frames[j])) for i, j in chosen)

    def _match_moving(self, clip: Clip, tracks: ImageTracks, chosen: list[tuple[int, int]]) -> list[_Pair]:
        """Tracks that move in the picture of a static camera, with the ratio of the descriptors at both ends to those
        elsewhere in the other picture. No two-view geometry holds for them."""
        s, found = self.settings, []
        grey = dict(clip.read_grey(sorted({f for pair in chosen for f in pair})))
        step, far_px = self._scaled(s.same_point_px, clip), self._scaled(s.elsewhere_px, clip)
        x, y = (np.arange(step, size - step, 2 * step) for size in (clip.width_px, clip.height_px))
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        described = {frame: descriptors_at(clip, picture, grid) for frame, picture in grey.items()}
        for a, b in chosen:
            start, end = _in_both(tracks, a, b)
            moved = np.linalg.norm(end - start, axis=1) > s.min_shift * clip.width_px
            inside = _surrounded(start[moved], self._scaled(s.flow_radius_px, clip))
            start, end = start[moved][inside], end[moved][inside]
            if not len(start):
                continue
            own = descriptors_at(clip, grey[a], start), descriptors_at(clip, grey[b], end)
            ratios = [
                relative_distance(
                    own[k], own[1 - k], described[frame], np.linalg.norm(grid - at[:, None], axis=2) > far_px
                )
                for k, frame, at in ((0, b, end), (1, a, start))
            ]
            found.append(_Pair(a=a, b=b, xy_a_px=start, xy_b_px=end, ratio=np.maximum(*ratios)))
        return found

    def _features(self, clip: Clip, frames: list[int], area: Signal | NoEstimate | None) -> dict[int, Features]:
        mask = area.valid.astype(np.uint8) * 255 if isinstance(area, ValidArea) else None
        same_px = self._scaled(self.settings.same_point_px, clip)
        return {
            frame: features_of(clip, grey, mask, self.settings.features, same_px)
            for frame, grey in clip.read_grey(frames)
        }

    def _match(self, clip: Clip, a: int, b: int, features: dict[int, Features]) -> _Pair | None:
        """Mutual nearest neighbours that are unambiguous and satisfy one two-view geometry."""
        one, two, fewest = features[a], features[b], self.settings.inliers
        if min(len(one.xy_px), len(two.xy_px)) < fewest:
            return None
        found = candidates(one, two, self.settings.ratio, self._scaled(self.settings.same_point_px, clip))
        if len(found.i) < fewest:
            return None
        xy_a, xy_b = one.xy_px[found.i], two.xy_px[found.j]
        threshold = self._scaled(self.settings.epipolar_px, clip)
        inlier = epipolar_inliers(xy_a, xy_b, threshold, confidence=0.999, max_iterations=5000)
        if inlier is None or inlier.sum() < fewest:
            return None
        good = without_duplicates(xy_a, xy_b, found.ratio, inlier)
        return _Pair(a=a, b=b, xy_a_px=xy_a[good], xy_b_px=xy_b[good], ratio=found.ratio[good])

    def _scaled(self, px: float, clip: Clip) -> float:
        """Full-size pixels from pixels of a 640 px wide picture."""
        return px * clip.width_px / REFERENCE_WIDTH_PX

    def _confirmed(self, clip: Clip, signals: Signals, tracks: ImageTracks, found: list[_Pair]) -> Matches:
        path, points = signals["camera_path"], signals["sparse_points"]
        confirmations, unambiguous = [], []
        for pair in found:
            confirmations.append(self._confirmation(clip, pair, tracks, path, points))
            border = self._near_depth_border(clip, pair, path, points) | self._near_flow_border(clip, pair, tracks)
            unambiguous.append((pair.ratio <= self.settings.unambiguous_ratio) & ~border)
        confirmed_by = np.concatenate([each.by for each in confirmations])
        apart_px = np.concatenate([each.apart_px for each in confirmations])
        sure = (confirmed_by > 0) & np.concatenate(unambiguous)
        of_pair = np.repeat(np.arange(len(found)), [len(p.ratio) for p in found]).astype(np.int64)
        xy_a, xy_b = np.concatenate([p.xy_a_px for p in found]), np.concatenate([p.xy_b_px for p in found])
        static = isinstance(path, CameraPath) and path.motion == "static"
        own = [] if static else [np.flatnonzero(sure & (of_pair == k)) for k in range(len(found))]
        of_clip_px = self._sigma_px(clip, [(xy_a[rows], xy_b[rows]) for rows in own])
        return Matches(
            pairs=np.array([(p.a, p.b) for p in found], dtype=np.int64),
            pair=of_pair,
            xy_a_px=xy_a,
            xy_b_px=xy_b,
            # Per axis; what nothing confirms is taken to be two of them off.
            sigma_px=np.hypot(of_clip_px, np.nan_to_num(apart_px, nan=2 * of_clip_px) / np.sqrt(2)),
            outlier_probability=np.where(
                sure, self.settings.outlier_probability_confirmed, self.settings.outlier_probability_unconfirmed
            ),
            confirmed_by=confirmed_by,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings)),
        )

    def _sigma_px(self, clip: Clip, sure: list[tuple[np.ndarray, np.ndarray]]) -> float:
        """σ per axis of an exactly confirmed match in full-size pixels, by the two-view geometries of the pairs."""
        s, working = self.settings, clip.width_px / clip.working_size[0]
        residuals = [epipolar_residual_px(a, b) for a, b in sure if len(a) >= s.inliers]
        if not np.isfinite(residuals).any():
            return s.sigma_px * working
        return max(s.min_sigma_px * working, s.sigma_residuals * float(np.nanmedian(residuals)))

    def _confirmation(
        self,
        clip: Clip,
        pair: _Pair,
        tracks: ImageTracks,
        path: Signal | NoEstimate,
        points: Signal | NoEstimate,
    ) -> _Confirmation:
        """What confirms each match. The correlation of a match's error with its distance from the reprojection of a 3-D
        point is 0.5 to 0.8 in 12 rendered rooms."""
        agree = self._scaled(self.settings.agree_px, clip)
        start, end = _in_both(tracks, pair.a, pair.b)
        general = isinstance(path, CameraPath) and path.motion == "general"
        apart = {} if general else {3: self._off_homography_px(pair, start, end, agree)}
        apart[1] = _apart_px(pair, start, end, agree)
        if isinstance(path, CameraPath) and isinstance(points, SparsePoints):
            from_point, to_point = _projected(path, points, pair.a), _projected(path, points, pair.b)
            known = (points.outlier_probability <= _SURE) & np.isfinite(from_point[:, 0] + to_point[:, 0])
            apart[2] = _apart_px(pair, from_point[known], to_point[known], agree)
        by, apart_px = np.zeros(len(pair.ratio), dtype=np.int32), np.full(len(pair.ratio), np.nan)
        for kind, distance_px in apart.items():  # the most precise one last
            agrees = distance_px <= agree
            by[agrees], apart_px[agrees] = kind, distance_px[agrees]
        return _Confirmation(by=by, apart_px=apart_px)

    def _off_homography_px(
        self, pair: _Pair, start: Float64[np.ndarray, "k 2"], end: Float64[np.ndarray, "k 2"], agree: float
    ) -> Float64[np.ndarray, "m"]:
        """How far each match is from the homography of the tracks; infinite where there is none."""
        import cv2

        none = np.full(len(pair.ratio), np.inf)
        if len(start) < self.settings.shared_tracks:
            return none
        found = find_homography(start, end, agree, confidence=0.999, max_iterations=3000)
        if found is None or found[1].mean() < self.settings.homography_share:
            return none
        mapped = cv2.perspectiveTransform(pair.xy_a_px[:, None], found[0])[:, 0]
        return np.asarray(np.linalg.norm(mapped - pair.xy_b_px, axis=1))

    def _near_depth_border(
        self, clip: Clip, pair: _Pair, path: Signal | NoEstimate, points: Signal | NoEstimate
    ) -> Bool[np.ndarray, "m"]:
        """Whether sparse points around either pixel differ clearly in depth, and lie on no common plane. Points
        that may be outliers do not count."""
        near = np.zeros(len(pair.ratio), dtype=bool)
        if not (isinstance(path, CameraPath) and path.motion == "general" and isinstance(points, SparsePoints)):
            return near
        radius = self._scaled(self.settings.border_radius_px, clip)
        for frame, xy in ((pair.a, pair.xy_a_px), (pair.b, pair.xy_b_px)):
            cam = _in_camera(path, points, frame)
            z = cam[:, 2]
            pixel = path.intrinsics.project(cam)
            known = np.flatnonzero(path.intrinsics.contains(pixel) & (points.outlier_probability <= _SURE))
            if not len(known):
                continue
            for k, around in enumerate(cKDTree(pixel[known]).query_ball_point(xy, radius)):
                depth = z[known[around]]
                if len(depth) >= 2 and depth.max() > self.settings.border_depth_ratio * depth.min():
                    near[k] |= not self._on_plane(pixel[known[around]], 1 / depth)
        return near

    def _on_plane(self, xy_px: Float64[np.ndarray, "n 2"], inverse: Float64[np.ndarray, "n"]) -> bool:
        """Whether points lie on one plane: its inverse depth is affine in the picture."""
        if len(inverse) < self.settings.plane_points:
            return False
        affine = np.column_stack([xy_px - xy_px.mean(axis=0), np.ones(len(xy_px))])
        residual = inverse - affine @ np.linalg.lstsq(affine, inverse, rcond=None)[0]
        return bool((np.abs(residual) <= self.settings.plane_share * inverse).all())

    def _near_flow_border(self, clip: Clip, pair: _Pair, tracks: ImageTracks) -> Bool[np.ndarray, "m"]:
        """Whether the match and the tracks around it deviate from one affine motion, or the tracks are too few."""
        start, end = _in_both(tracks, pair.a, pair.b)
        if not len(start):
            return np.ones(len(pair.ratio), dtype=bool)
        scale = clip.width_px / REFERENCE_WIDTH_PX
        around = cKDTree(start).query_ball_point(pair.xy_a_px, self.settings.flow_radius_px * scale)
        border = np.array([len(n) < self.settings.flow_tracks for n in around], dtype=bool)
        for k in np.flatnonzero(~border):
            at = np.vstack([pair.xy_a_px[k], start[around[k]]]) - pair.xy_a_px[k]
            to = np.vstack([pair.xy_b_px[k], end[around[k]]]) - pair.xy_b_px[k]
            affine = np.linalg.lstsq(np.column_stack([at, np.ones(len(at))]), to, rcond=None)[0]
            residual = to - np.column_stack([at, np.ones(len(at))]) @ affine
            border[k] = bool((np.linalg.norm(residual, axis=1) > self.settings.flow_px * scale).any())
        return border


def _surrounded(xy_px: Float64[np.ndarray, "k 2"], radius_px: float) -> Bool[np.ndarray, "k"]:
    """Points with others on all sides within the radius: the others may lie beside the outline of what moves."""
    if not len(xy_px):
        return np.zeros(0, dtype=bool)
    around = cKDTree(xy_px).query_ball_point(xy_px, radius_px)
    offsets = [xy_px[[n for n in near if n != k]] - xy_px[k] for k, near in enumerate(around)]
    return np.array([open_angle_rad(offset) < _MAX_OPEN_RAD for offset in offsets])


def _in_both(tracks: ImageTracks, a: int, b: int) -> tuple[Float64[np.ndarray, "k 2"], Float64[np.ndarray, "k 2"]]:
    """Pixels in frames a and b of the tracks that exist in both."""
    column = np.searchsorted(tracks.frames, [a, b])
    if (column >= len(tracks.frames)).any() or (tracks.frames[column] != [a, b]).any():
        return np.zeros((0, 2)), np.zeros((0, 2))
    both = tracks.xy_px[:, column].astype(np.float64)
    both = both[np.isfinite(both).all(axis=(1, 2))]
    return both[:, 0], both[:, 1]


def _apart_px(
    pair: _Pair, start: Float64[np.ndarray, "k 2"], end: Float64[np.ndarray, "k 2"], near_px: float
) -> Float64[np.ndarray, "m"]:
    """How far each match ends from the nearest known correspondence (start to end); infinite where none begins near.

    A correspondence near the start pixel is shifted by its small offset from it.
    """
    if not len(start):
        return np.full(len(pair.ratio), np.inf)
    distance, nearest = cKDTree(start).query(pair.xy_a_px)
    offset = pair.xy_b_px - (end[nearest] + pair.xy_a_px - start[nearest])
    return np.where(distance <= near_px, np.linalg.norm(offset, axis=1), np.inf)


def _in_camera(path: CameraPath, points: SparsePoints, frame: int) -> Float64[np.ndarray, "p 3"]:
    row = np.flatnonzero((path.frames == frame) & path.registered)
    if not len(row):
        return np.full_like(points.xyz_world, np.nan)
    pose = path.world_from_cam[row[0]]
    return np.asarray((points.xyz_world - pose[:3, 3]) @ pose[:3, :3])


def _projected(path: CameraPath, points: SparsePoints, frame: int) -> Float64[np.ndarray, "p 2"]:
    return np.asarray(path.intrinsics.project(_in_camera(path, points, frame)), dtype=np.float64)
