"""Surface points at pixels: positions in camera axes, from dense depth or from sparse points."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.spatial import cKDTree

from experts.intrinsics import Intrinsics
from experts.mapping.largest_surface import on_largest_surface
from experts.signals import CameraPath, Depth, SparsePoints
from templates.columns import Columns
from templates.scene.shared_residuals import shared_residuals

MAX_DISTANCE_PX = 1.5
"""Largest distance of a point, track or match from the pixel for which it counts (at 640 px width)."""
WINDOW_PX = 3
"""Half width of the window over which σ of dense depth takes in its range, so that points at edges stay undecided."""
PATCH_WINDOW_PX = 1
"""The same for patches of depth, which end before edges."""

SUSPECTED_PROBABILITY = 0.05
"""Outlier probability of suspected outliers. On the demo's exact scene 0.3 % of reliable observations had an error
above 20 % although both reconstructions agreed, because they share wrong matches. Without isolated points and points
near moving objects 0.1 % had."""


@dataclass(frozen=True, kw_only=True)
class OutlierSettings:
    """When a sparse point is a suspected outlier. docs/gates.md has the effect of each gate."""

    neighbours: int = 8
    """Number of nearest points in the picture whose ranges are compared with that of a point, ..."""
    neighbour_radii: float = 32.0
    """... within this many look-up radii (48 px at 640 px width)."""
    min_neighbours: int = 3
    """A point with fewer neighbours is isolated."""
    same_range: float = 0.12
    """Largest |ln| of the ratio of two ranges on one surface."""
    joining_range: float = 0.08
    """Largest |ln| of the ratio of the ranges of two neighbours that are joined (`on_largest_surface`), and of those of
    a patch of depth and a point that confirms it. Of 12 clips made to show what this prevents, 155 of 5672 facts are
    wrong without it, and 36 of 5140 with it (`colmap` 25; docs/gates.md)."""
    same_range_share: float = 0.75
    """Least share of neighbours at the range of the point."""
    open_angle_rad: float = np.pi
    """A point ends its surface if the reliable neighbours at its range leave a larger angle open and another one is
    farther. Its pixel may lie beside the surface: corners of an outline are found up to 3 px off it. In two rendered
    rooms 2 % of the reliable points are such, and 13 of the 18 whose pixel shows what is 15 % farther or more. What is
    less reliable may itself lie beside the surface: in 12 rooms 61 instead of 69 of 28 500 such pixels are left."""
    moving_radius_px: float = 48.0
    """Points this near to a moving track may move with it (at 640 px width)."""
    max_shared_residual: float = 1.35
    """Largest residual that a point shares with its neighbours (`shared_residuals`), over the clip's median. In 110
    rendered rooms 16 % of the otherwise reliable points have a larger one, and of those that are 15 % or more off 89 %,
    most of them on a crate that moves evenly against the camera's direction (docs/gates.md)."""


@dataclass(frozen=True, kw_only=True)
class Surface(Columns):
    """Surface points at pixels of one frame. Unknown rows are NaN."""

    xyz_cam: Float64[np.ndarray, "k 3"]
    """Position in the frame's camera axes, in path units."""
    range_relative_sigma: Float64[np.ndarray, "k"]
    """σ of the Euclidean range, relative."""
    outlier_probability: Float64[np.ndarray, "k"]
    """Probability that the point is an outlier."""

    @classmethod
    def unknown(cls, count: int) -> "Surface":
        """`count` unknown rows."""
        nan = np.full(count, np.nan)
        return cls(xyz_cam=np.full((count, 3), np.nan), range_relative_sigma=nan, outlier_probability=nan)

    @classmethod
    def interleaved(cls, first: Bool[np.ndarray, "k"], one: "Surface", other: "Surface") -> "Surface":
        """The rows of `one` where `first` is true, those of `other` elsewhere."""
        columns = {}
        for name in ("xyz_cam", "range_relative_sigma", "outlier_probability"):
            column = np.empty((len(first), *getattr(one, name).shape[1:]))
            column[first], column[~first] = getattr(one, name), getattr(other, name)
            columns[name] = column
        return cls(**columns)

    def or_else(self, other: "Surface") -> "Surface":
        """These points, and those of `other` where they are unknown."""
        known = np.isfinite(self.range)
        return Surface.interleaved(known, self.take(np.flatnonzero(known)), other.take(np.flatnonzero(~known)))

    def suspected(self, which: Bool[np.ndarray, "k"]) -> "Surface":
        """These points, with the outlier probability of suspected outliers where `which` says so."""
        least = np.where(which, SUSPECTED_PROBABILITY, 0.0)
        return replace(self, outlier_probability=np.maximum(self.outlier_probability, least))

    @property
    def range(self) -> Float64[np.ndarray, "k"]:
        """Euclidean distance from the camera centre."""
        return np.asarray(np.linalg.norm(self.xyz_cam, axis=1))


@dataclass(frozen=True, kw_only=True)
class SparseSurface:
    """Sparse points as seen in all frames, ready for the search of the nearest one."""

    points: SparsePoints
    tree: cKDTree
    """Of frame and pixel; frames are so far apart that no search crosses them."""
    ranges: Float64[np.ndarray, "o"]
    xyz_cam: Float64[np.ndarray, "o 3"]
    """Position in the camera axes of the observing frame; NaN where its pose is not known."""
    reliable: Bool[np.ndarray, "p"]
    """Points with a low outlier probability that neither moving tracks nor patches of depth contradict."""
    may_move: Bool[np.ndarray, "p"]
    """Reliable points that err together with their neighbours, or that nothing joins to the largest surface."""
    radius_px: float
    """Within which a point is looked up."""
    settings: OutlierSettings

    @classmethod
    def of(cls, points: SparsePoints, path: CameraPath, radius_px: float, settings: OutlierSettings) -> "SparseSurface":
        """From the points and the path of one reconstruction."""
        at = np.clip(np.searchsorted(path.frames, points.observation_frame), 0, len(path.frames) - 1)
        known = path.registered[at] & (path.frames[at] == points.observation_frame)
        pose = np.where(known[:, None, None], path.world_from_cam[at], np.nan)
        offset = points.xyz_world[points.observation_point] - pose[:, :3, 3]
        xyz_cam = np.einsum("oji,oj->oi", pose[:, :3, :3], offset)
        ranges = np.linalg.norm(xyz_cam, axis=1)
        reliable = points.outlier_probability < SUSPECTED_PROBABILITY
        counted = reliable[points.observation_point]
        shared = shared_residuals(
            points,
            counted,
            path.intrinsics.project(xyz_cam),
            ranges,
            settings.neighbours,
            settings.neighbour_radii * radius_px,
            settings.same_range,
        )
        joined = on_largest_surface(
            points.observation_point,
            points.observation_frame,
            points.observation_xy_px,
            np.where(counted, ranges, np.nan),
            len(points.xyz_world),
            settings.joining_range,
        )
        return cls(
            points=points,
            tree=cKDTree(_placed(points.observation_frame, points.observation_xy_px)),
            ranges=ranges,
            xyz_cam=xyz_cam,
            reliable=reliable,
            may_move=reliable & (~joined | (shared > settings.max_shared_residual)),
            radius_px=radius_px,
            settings=settings,
        )

    @property
    def _reach_px(self) -> float:
        """Within which points are neighbours."""
        return self.settings.neighbour_radii * self.radius_px

    def at(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """The point observed nearest to each pixel of its frame, if one lies within `radius_px`.

        A point without neighbours of similar range in the picture is a suspected outlier: it may come from a wrong
        match, or a mark on it may cover two objects. So is one that ends its surface, whose pixel may show what is
        behind, and one that may move.
        """
        if not self.tree.n or not len(xy_px):
            return Surface.unknown(len(xy_px))
        places = _placed(frames, np.where(np.isfinite(xy_px), xy_px, -_FRAME_APART / 4))
        just_beyond_px = np.nextafter(self.radius_px, np.inf)  # the search leaves out what is as far as its bound
        distance_px, found = self.tree.query(places, distance_upper_bound=just_beyond_px)
        near = distance_px <= self.radius_px
        near[near] = np.isfinite(self.ranges[found[near]])
        own, inside, _ = self._around(places[near])
        rows = self.points.observation_point[own]
        suspected = ~inside | self.may_move[rows]
        seen = Surface(
            xyz_cam=self.xyz_cam[own],
            range_relative_sigma=self.points.range_relative_sigma[rows],
            outlier_probability=self.points.outlier_probability[rows],
        ).suspected(suspected)
        return Surface.interleaved(near, seen, Surface.unknown(int((~near).sum())))

    def may_move_around(
        self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"], ranges: Float64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """Whether surfaces at pixels may move: few reliable points around them are at their range, or half of these may
        move."""
        if not self.tree.n or not len(xy_px):
            return np.ones(len(xy_px), dtype=bool)
        settings = self.settings
        found = self.tree.query(_placed(frames, xy_px), k=settings.neighbours, distance_upper_bound=self._reach_px)[1]
        near, at = found < self.tree.n, np.minimum(found, self.tree.n - 1)
        rows = self.points.observation_point[at]
        with np.errstate(invalid="ignore", divide="ignore"):
            same = near & (np.abs(np.log(self.ranges[at] / ranges[:, None])) <= settings.joining_range)
        moving = (same & self.may_move[rows]).sum(axis=1)
        static = (same & self.reliable[rows]).sum(axis=1) - moving
        return np.asarray(static < np.maximum(settings.min_neighbours, moving + 1))

    def enclosed(self, rows: Int64[np.ndarray, "k"]) -> Bool[np.ndarray, "k"]:
        """Whether observations show reliable static points with neighbours of similar range on all sides: what has none
        on one side may end there, and a mark on it show what is behind."""
        point = self.points.observation_point[rows]
        sure = self.reliable[point] & ~self.may_move[point] & np.isfinite(self.ranges[rows])
        around = self._around(self.tree.data[rows])
        return np.asarray(sure & around.inside & (around.open_angle_rad <= self.settings.open_angle_rad))

    def _around(self, places: Float64[np.ndarray, "k 3"]) -> "_Around":
        """What is around the observation nearest to each place."""
        settings = self.settings
        distance_px, found = self.tree.query(places, k=settings.neighbours + 1, distance_upper_bound=self._reach_px)
        own, found, near = found[:, 0], found[:, 1:], np.isfinite(distance_px[:, 1:])
        at = np.minimum(found, self.tree.n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.log(self.ranges[at] / self.ranges[own][:, None])
        similar, farther = near & (np.abs(ratio) <= settings.same_range), near & (ratio > settings.same_range)
        xy_px, reliable = self.points.observation_xy_px, self.reliable[self.points.observation_point[at]]
        open_angle_rad = _open_angles_rad(xy_px[at] - xy_px[own][:, None], similar & reliable)
        count = near.sum(axis=1)
        enough = (count >= settings.min_neighbours) & (similar.sum(axis=1) >= settings.same_range_share * count)
        ends = (open_angle_rad > settings.open_angle_rad) & farther.any(axis=1)
        return _Around(own=own, inside=enough & ~ends, open_angle_rad=open_angle_rad)


class _Around(NamedTuple):
    """What is around observations."""

    own: Int64[np.ndarray, "k"]
    """Their rows."""
    inside: Bool[np.ndarray, "k"]
    """Whether enough of their neighbours are at their range, on all sides if another one is farther."""
    open_angle_rad: Float64[np.ndarray, "k"]
    """Largest angle between reliable neighbours at their range; 2 π without any."""


def _open_angles_rad(
    offset_px: Float64[np.ndarray, "k c 2"], which: Bool[np.ndarray, "k c"]
) -> Float64[np.ndarray, "k"]:
    """Largest angle between neighbouring directions of those offsets that `which` names; 2 π without any."""
    angle = np.where(which, np.arctan2(offset_px[..., 1], offset_px[..., 0]), np.nan)
    angle = np.sort(angle, axis=1)  # NaN last
    round_rad = angle[:, 0] + 2 * np.pi - np.fmax.reduce(angle, axis=1)
    largest = np.fmax.reduce(np.column_stack([np.diff(angle, axis=1), round_rad]), axis=1)
    return np.where(which.any(axis=1), largest, 2 * np.pi)


_FRAME_APART = 1e6
"""Distance between frames in the tree, in pixels."""


def _placed(frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Float64[np.ndarray, "k 3"]:
    return np.column_stack([frames * _FRAME_APART, xy_px])


@dataclass(frozen=True, kw_only=True)
class DenseSurface:
    """Dense depth, ready for looking up pixels."""

    depth: Depth
    window_px: int = WINDOW_PX
    """σ includes half the range of depth within this many pixels of the depth map."""

    def at(self, camera: Intrinsics, row: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """The surface at each pixel of the frame at `row`; unknown where `row` is -1, and near unknown depth."""
        depth, (height, width) = self.depth, self.depth.z.shape[1:]
        scale = np.array([width / camera.width_px, height / camera.height_px])
        at = np.round((np.nan_to_num(xy_px, nan=-1.0) + 0.5) * scale - 0.5).astype(int)
        x, y = (np.clip(at[:, k], 0, most - 1) for k, most in ((0, width), (1, height)))
        place = (row * height + y) * width + x  # where `row` is -1, any
        centre = depth.z.reshape(-1).take(place, mode="wrap").astype(float)
        half_range = self._half_range(row, y, x, place)
        relative_sigma = depth.relative_sigma.reshape(-1).take(place, mode="wrap")
        rays = camera.rays(xy_px)
        with np.errstate(divide="ignore", invalid="ignore"):
            sigma = np.hypot(relative_sigma, half_range / centre / 3)  # half the range is a bound, which counts as 3 σ
        known = (row >= 0) & np.isfinite(sigma) & np.isfinite(xy_px).all(axis=1)
        return Surface(
            xyz_cam=np.where(known[:, None], rays * (centre / rays[:, 2])[:, None], np.nan),
            range_relative_sigma=np.where(known, sigma, np.nan),
            outlier_probability=np.where(known, depth.outlier_probability, np.nan),
        )

    def _half_range(
        self,
        row: Int64[np.ndarray, "k"],
        y: Int64[np.ndarray, "k"],
        x: Int64[np.ndarray, "k"],
        place: Int64[np.ndarray, "k"],
    ) -> Float32[np.ndarray, "k"]:
        """Half the range of depth around pixels, not finite near unknown depth: by windows where few pixels of a frame
        were asked for so far, then by a filter over all of it."""
        z, (height, width) = self.depth.z, self.depth.z.shape[1:]
        asked, filtered, half_range = self._filtered
        asked += np.bincount(row[row >= 0], minlength=len(z))
        for k in np.flatnonzero((asked > _WINDOWS_AS_FILTER * height * width) & ~filtered).tolist():
            half_range[k], filtered[k] = _half_range_of(z[k], self.window_px), True
        found = half_range.reshape(-1).take(place, mode="wrap")
        left = np.flatnonzero(~filtered[row])
        if len(left):
            around = np.arange(-self.window_px, self.window_px + 1)[:, None]
            lines, columns = np.clip(y[left] + around, 0, height - 1), np.clip(x[left] + around, 0, width - 1)
            places = ((row[left] * height + lines) * width)[:, None] + columns  # lines, columns, pixels
            window = z.reshape(-1).take(places, mode="wrap")  # much faster than by index
            found[left] = (window.max(axis=(0, 1)) - window.min(axis=(0, 1))) / 2
        return found

    @cached_property
    def _filtered(self) -> tuple[Int64[np.ndarray, "n"], Bool[np.ndarray, "n"], Float32[np.ndarray, "n h w"]]:
        """By frame: the number of pixels asked for so far, whether it was filtered, and half the range around each
        pixel if it was."""
        return np.zeros(len(self.depth.z), np.int64), np.zeros(len(self.depth.z), bool), np.empty_like(self.depth.z)


_WINDOWS_AS_FILTER = 1 / 200
"""Windows around this share of the pixels of a frame take as long as a filter over all of it (7 x 7 px, measured on
depth of 320 x 240 px)."""


def _half_range_of(z: Float32[np.ndarray, "h w"], window_px: int) -> Float32[np.ndarray, "h w"]:
    """Half the range of depth within `window_px` of each pixel; not finite near unknown depth."""
    import cv2

    low = high = z
    if (unknown := np.isnan(z)).any():
        low, high = np.where(unknown, -np.inf, z), np.where(unknown, np.inf, z)
    window = np.ones((2 * window_px + 1,) * 2, dtype=np.uint8)
    return np.asarray((cv2.dilate(high, window) - cv2.erode(low, window)) / 2)
