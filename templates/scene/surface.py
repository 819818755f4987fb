"""What is seen at a pixel: its place in camera axes, from dense depth or from sparse points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from experts.intrinsics import Intrinsics
from experts.signals import Depth, SparsePoints

_WINDOW_PX = 3
"""Dense depth counts with its spread over this many pixels around: labels next to a border stay undecided."""

P_GROSS_DOUBTED = 0.05
"""On the demo's exact scene 0.3 % of observations of sure points were off by > 20 %, both maps agreeing: they share
wrong matches. Doubting loners, and what was seen next to a mover, left 0.1 %."""


@dataclass(frozen=True, kw_only=True)
class DoubtSettings:
    """When a sparse point is too doubtful to ask about. Chosen once; what each gate saves stands in docs/gates.md."""

    neighbours: int = 8
    """Neighbours of a sparse point that are asked for their range, ..."""
    neighbour_radii: float = 32.0
    """... within this many look-up radii (48 px at 640 px width)."""
    min_neighbours: int = 3
    """With fewer it stands alone."""
    same_range: float = 0.12
    """Largest |ln| of the ratio of two ranges on one surface."""
    alike_share: float = 0.75
    """Share of the neighbours that are at its range."""
    mover_radius_px: float = 48.0
    """Points this near to a moving track may move with it (at 640 px width)."""
    near_tracks: int = 5
    """So many tracks, the nearest within that radius, tell whether a point's surroundings rest ..."""
    restless_px: float = 1.0
    """... : those of a thing that moves along with the camera, which no one point betrays, depart by more than this in
    the median (at 640 px width) ..."""
    restless_ratio: float = 1.5
    """... and by more than so many times what the clip's tracks do. Measured on rendered rooms: of sure points on a
    crate that slides by steadily 1 % are left, of those at rest 70 to 98 %."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Points seen at pixels of one frame. Rows are NaN where nothing is known."""

    xyz_cam: Float64[np.ndarray, "k 3"]
    """Position in the frame's camera axes, in path units."""
    range_relative_sigma: Float64[np.ndarray, "k"]
    """σ of the Euclidean range, relative."""
    outlier_probability: Float64[np.ndarray, "k"]
    """Probability that the point is plainly wrong."""

    @classmethod
    def unknown(cls, count: int) -> "Surface":
        """Nothing is known at any of `count` pixels."""
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
    doubts: DoubtSettings,
) -> Surface:
    """The sparse point observed in `frame` nearest to each pixel, if one lies within `radius_px`.

    A point counts as sure only among neighbours in the picture at its own range: one that stands alone, or on the
    border of something nearer, may come of a wrong match, or mark two things at once.
    """
    here = np.flatnonzero(points.observation_frame == frame)
    if not len(here) or not np.isfinite(world_from_cam).all():
        return Surface.unknown(len(xy_px))
    cam_from_world = np.linalg.inv(world_from_cam)
    xyz_here = points.xyz_world[points.observation_point[here]] @ cam_from_world[:3, :3].T + cam_from_world[:3, 3]
    apart = np.linalg.norm(points.observation_xy_px[here][None] - xy_px[:, None], axis=2)
    nearest = apart.argmin(axis=1)
    rows = points.observation_point[here[nearest]]
    known = apart[np.arange(len(xy_px)), nearest] <= radius_px
    alone = ~_among_its_like(apart, np.linalg.norm(xyz_here, axis=1), nearest, radius_px, doubts)
    return Surface(
        xyz_cam=np.where(known[:, None], xyz_here[nearest], np.nan),
        range_relative_sigma=np.where(known, points.range_relative_sigma[rows], np.nan),
        outlier_probability=np.where(
            known, np.maximum(points.outlier_probability[rows], np.where(alone, P_GROSS_DOUBTED, 0.0)), np.nan
        ),
    )


def _among_its_like(
    apart_px: Float64[np.ndarray, "k n"],
    ranges: Float64[np.ndarray, "n"],
    own: np.ndarray,
    radius_px: float,
    doubts: DoubtSettings,
) -> Bool[np.ndarray, "k"]:
    """Whether most of the points seen around a point are at its range."""
    apart_px = apart_px.copy()
    apart_px[np.arange(len(own)), own] = np.inf
    last = min(doubts.neighbours, apart_px.shape[1]) - 1
    closest = np.argpartition(apart_px, last, axis=1)[:, : last + 1]
    near = np.take_along_axis(apart_px, closest, axis=1) <= doubts.neighbour_radii * radius_px
    alike = np.abs(np.log(ranges[closest] / ranges[own][:, None])) <= doubts.same_range
    count = near.sum(axis=1)
    return np.asarray((count >= doubts.min_neighbours) & ((near & alike).sum(axis=1) >= doubts.alike_share * count))


def dense_surface(depth: Depth, camera: Intrinsics, frame: int, xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
    """Dense depth at each pixel; σ takes in half its spread over 3 px around. Not known where any of it is unknown."""
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
    spread = (window.max(axis=(1, 2)) - window.min(axis=(1, 2))) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = np.hypot(
            depth.relative_sigma[row][at_row, at_column], spread / centre / 3
        )  # the spread is a bound, taken as 3 σ
    known = np.isfinite(sigma)
    return Surface(
        xyz_cam=np.where(known[:, None], rays * (centre / rays[:, 2])[:, None], np.nan),
        range_relative_sigma=sigma,
        outlier_probability=np.where(known, depth.outlier_probability, np.nan),
    )
