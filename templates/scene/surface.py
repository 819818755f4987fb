"""Surface points at pixels: positions in camera axes, from dense depth or from sparse points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from experts.intrinsics import Intrinsics
from experts.signals import Depth, SparsePoints

MAX_DISTANCE_PX = 1.5
"""Largest distance of a point, track or match from the pixel for which it counts (at 640 px width)."""
_WINDOW_PX = 3
"""Half width of the window over which σ of dense depth takes in its range, so that points at edges stay undecided."""

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
    same_range_share: float = 0.75
    """Least share of neighbours at the range of the point."""
    moving_radius_px: float = 48.0
    """Points this near to a moving track may move with it (at 640 px width)."""
    near_tracks: int = 5
    """Number of nearest tracks, within that radius, whose median residual is compared with the two limits below. It
    shows objects that slide along with the camera, which no single track reveals."""
    max_residual_px: float = 1.0
    """Largest median residual of static surroundings (at 640 px width)."""
    max_residual_ratio: float = 1.5
    """If larger, the limit is this many times the median residual of the clip's tracks. In rendered rooms 1 % of the
    points on a steadily sliding crate pass, and 70 to 98 % of the static ones."""


@dataclass(frozen=True, kw_only=True)
class Surface:
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

    @property
    def range(self) -> Float64[np.ndarray, "k"]:
        """Euclidean distance from the camera centre."""
        return np.asarray(np.linalg.norm(self.xyz_cam, axis=1))


def sparse_surface(
    points: SparsePoints,
    world_from_cam: Float64[np.ndarray, "4 4"],
    frame: int,
    xy_px: Float64[np.ndarray, "k 2"],
    radius_px: float,
    settings: OutlierSettings,
) -> Surface:
    """The sparse point observed in `frame` nearest to each pixel, if one lies within `radius_px`.

    A point without neighbours of similar range in the picture is a suspected outlier: it may come from a wrong match,
    or a mark on it may cover two objects.
    """
    here = np.flatnonzero(points.observation_frame == frame)
    if not len(here) or not np.isfinite(world_from_cam).all():
        return Surface.unknown(len(xy_px))
    cam_from_world = np.linalg.inv(world_from_cam)
    xyz_here = points.xyz_world[points.observation_point[here]] @ cam_from_world[:3, :3].T + cam_from_world[:3, 3]
    distance_px = np.linalg.norm(points.observation_xy_px[here][None] - xy_px[:, None], axis=2)
    nearest = distance_px.argmin(axis=1)
    rows = points.observation_point[here[nearest]]
    known = distance_px[np.arange(len(xy_px)), nearest] <= radius_px
    isolated = ~_has_similar_neighbours(distance_px, np.linalg.norm(xyz_here, axis=1), nearest, radius_px, settings)
    return Surface(
        xyz_cam=np.where(known[:, None], xyz_here[nearest], np.nan),
        range_relative_sigma=np.where(known, points.range_relative_sigma[rows], np.nan),
        outlier_probability=np.where(
            known, np.maximum(points.outlier_probability[rows], np.where(isolated, SUSPECTED_PROBABILITY, 0.0)), np.nan
        ),
    )


def _has_similar_neighbours(
    distance_px: Float64[np.ndarray, "k n"],
    ranges: Float64[np.ndarray, "n"],
    own: np.ndarray,
    radius_px: float,
    settings: OutlierSettings,
) -> Bool[np.ndarray, "k"]:
    """Whether enough of the points around each point (column `own`) are at its range."""
    distance_px = distance_px.copy()
    distance_px[np.arange(len(own)), own] = np.inf
    last = min(settings.neighbours, distance_px.shape[1]) - 1
    closest = np.argpartition(distance_px, last, axis=1)[:, : last + 1]
    near = np.take_along_axis(distance_px, closest, axis=1) <= settings.neighbour_radii * radius_px
    similar = near & (np.abs(np.log(ranges[closest] / ranges[own][:, None])) <= settings.same_range)
    count = near.sum(axis=1)
    enough = similar.sum(axis=1) >= settings.same_range_share * count
    return np.asarray((count >= settings.min_neighbours) & enough)


def dense_surface(depth: Depth, camera: Intrinsics, frame: int, xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
    """Dense depth at each pixel. σ includes half its range within 3 px; unknown where any depth within 3 px is."""
    row = int(np.searchsorted(depth.frames, frame))
    z = depth.z[row]
    height, width = z.shape
    scale = np.array([width / camera.width_px, height / camera.height_px])
    at = np.round((xy_px + 0.5) * scale - 0.5).astype(int)
    offsets = np.arange(-_WINDOW_PX, _WINDOW_PX + 1)
    columns = np.clip(at[:, 0, None, None] + offsets[None, None, :], 0, width - 1)
    rows = np.clip(at[:, 1, None, None] + offsets[None, :, None], 0, height - 1)
    window = z[rows, columns].astype(float)
    centre = window[:, _WINDOW_PX, _WINDOW_PX]
    at_row, at_column = np.clip(at[:, 1], 0, height - 1), np.clip(at[:, 0], 0, width - 1)
    rays = camera.rays(xy_px)
    half_range = (window.max(axis=(1, 2)) - window.min(axis=(1, 2))) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = np.hypot(
            depth.relative_sigma[row][at_row, at_column], half_range / centre / 3
        )  # half the range is a bound, which counts as 3 σ
    known = np.isfinite(sigma)
    return Surface(
        xyz_cam=np.where(known[:, None], rays * (centre / rays[:, 2])[:, None], np.nan),
        range_relative_sigma=sigma,
        outlier_probability=np.where(known, depth.outlier_probability, np.nan),
    )
