"""Long clips in windows: as many frames at a time as memory holds, each window aligned with the previous ones.

A model that processes N frames jointly returns every call in a world and unit of its own. Neighbouring windows share
frames; points visible in both determine the similarity between their worlds, by RANSAC.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

import numpy as np
from jaxtyping import Float32, Float64, Int64
from scipy.spatial.transform import Rotation

from experts.runtime.device import forget_cached, is_out_of_memory
from experts.signals import NoEstimate

Item = TypeVar("Item")
Result = TypeVar("Result")

_SEED = 0


@dataclass(frozen=True, kw_only=True)
class WindowSettings:
    """Size of windows, and when two windows can be aligned."""

    frames: int = 64
    """Largest number of frames per window; halved until it fits into memory."""
    overlap: int = 16
    """Frames that a window shares with the previous one; at most half a window."""
    min_frames: int = 4
    """Smallest window; if it does not fit, memory is too small."""
    batch_frames: int = 32
    """On a GPU, shorter windows of several clips share a call, up to this number of frames."""
    bytes_per_pixel: float = 600.0
    """Memory per pixel and frame at the processed size: 0.107 GB for 504 x 378, the slope of upstream's own table of
    streaming (18.7 GB at 30 frames, 28.3 GB at 120)."""
    memory_share: float = 0.7
    """Share of the free memory that a window may use."""
    points: int = 4000
    """Number of points that align two windows."""
    inlier_share_of_depth: float = 0.05
    """Inliers have positions in both windows that agree within this share of the median depth."""
    min_inlier_share: float = 0.5
    """Smallest share of inliers (not measured: no weights were available)."""
    max_residual: float = 0.03
    """Largest median distance of the inliers, as a share of the median depth (not measured)."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """Frames processed jointly, in one world and unit."""

    rows: Int64[np.ndarray, "n"]
    """Rows of these frames among the clip's selected frames, ascending."""
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """NaN where a frame has no pose."""
    k_map: Float64[np.ndarray, "n 3 3"]
    """K of each frame in pixels of its depth map, (0, 0) the centre of the top-left one."""
    z: Float32[np.ndarray, "n h w"]
    """Depth; NaN where unknown."""
    relative_sigma: Float32[np.ndarray, "n h w"]
    """σ_z / z; NaN where z is."""

    def of(self, rows: Int64[np.ndarray, "m"]) -> "Window":
        """The window restricted to some of its rows."""
        at = np.searchsorted(self.rows, rows)
        return Window(
            rows=self.rows[at],
            world_from_cam=self.world_from_cam[at],
            k_map=self.k_map[at],
            z=self.z[at],
            relative_sigma=self.relative_sigma[at],
        )


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """Similarity transform from the world of a later window to that of an earlier one."""

    scale: float
    rotation: Float64[np.ndarray, "3 3"]
    shift: Float64[np.ndarray, "3"]
    residual: float
    """Median distance of the inliers, in the earlier window's unit."""
    rotation_rad: float
    """Median remaining angle between the two windows' cameras of the same frame."""

    def moved(self, window: Window) -> Window:
        """The later window in the earlier one's world and unit."""
        world_from_cam = window.world_from_cam.copy()
        world_from_cam[:, :3, :3] = self.rotation @ window.world_from_cam[:, :3, :3]
        world_from_cam[:, :3, 3] = self.scale * window.world_from_cam[:, :3, 3] @ self.rotation.T + self.shift
        return replace(window, world_from_cam=world_from_cam, z=(window.z * np.float32(self.scale)))


def fitting_size(free_bytes: int, pixels: int, settings: WindowSettings) -> int:
    """Frames per window: the setting, halved until it fits. Halving makes the result insensitive to small changes of
    the free memory."""
    size = settings.frames
    while size > settings.min_frames and size * pixels * settings.bytes_per_pixel > settings.memory_share * free_bytes:
        size //= 2
    return max(size, settings.min_frames)


def rolling(
    items: Iterable[Item], call: Callable[[Sequence[Item]], Result], size: int, overlap: int, min_frames: int = 1
) -> Iterator[tuple[int, int, Result]]:
    """(first item, number of items, result of `call`) per window. Only one window of items is held in memory.

    When memory runs out, windows are half as large from then on. The error of a window of `min_frames` items is raised.
    """
    source, waiting = iter(items), list[Item]()
    first = done = 0
    while True:
        waiting += islice(source, max(0, size - len(waiting)))
        if first + len(waiting) <= done:
            return
        count = min(size, len(waiting))
        too_big = False
        try:
            result = call(waiting[:count])
        except Exception as error:
            if not is_out_of_memory(error) or count <= min_frames:
                raise
            too_big = True
        if too_big:  # the error, and with it the memory of its frames, is released only here
            forget_cached()
            size = max(min_frames, count // 2)
            skipped = max(0, done - min(overlap, size // 2) - first)
        else:
            yield first, count, result
            done = first + count
            skipped = count - min(overlap, count // 2)
        del waiting[:skipped]
        first += skipped


def similarity(earlier: Window, later: Window, settings: WindowSettings) -> Similarity | NoEstimate:
    """The similarity transform from a later window to an earlier one, estimated from their common frames."""
    import pycolmap

    rows = np.intersect1d(earlier.rows, later.rows)
    pair = earlier.of(rows), later.of(rows)
    here, there, depth = _shared_points(*pair, settings)
    if len(here) < settings.points // 100:
        return NoEstimate(reason="windows cannot be aligned", detail=f"{len(here)} points in {len(rows)} shared frames")
    within = settings.inlier_share_of_depth * depth
    options = pycolmap.RANSACOptions(max_error=within, min_num_trials=200, max_num_trials=2000, random_seed=_SEED)
    found = pycolmap.estimate_sim3d_robust(there, here, options)
    if found is None or not found["tgt_from_src"].scale > 0:
        return NoEstimate(reason="windows cannot be aligned", detail="no similarity between their points")
    joint, inlier = found["tgt_from_src"], np.asarray(found["inlier_mask"])
    rotation = np.asarray(joint.rotation.matrix())
    distance = np.linalg.norm(joint.scale * there @ rotation.T + joint.translation - here, axis=1)
    residual = float(np.median(distance[inlier]))
    if inlier.mean() < settings.min_inlier_share or residual > settings.max_residual * depth:
        detail = f"{inlier.mean():.0%} of the points fit, to {residual / depth:.1%} of the depth"
        return NoEstimate(reason="windows cannot be aligned", detail=detail)
    rotation_error = pair[0].world_from_cam[:, :3, :3].swapaxes(1, 2) @ rotation @ pair[1].world_from_cam[:, :3, :3]
    known = np.isfinite(rotation_error).all(axis=(1, 2))
    return Similarity(
        scale=float(joint.scale),
        rotation=rotation,
        shift=np.asarray(joint.translation),
        residual=residual,
        rotation_rad=float(np.median(Rotation.from_matrix(rotation_error[known]).magnitude())),
    )


def _shared_points(
    earlier: Window, later: Window, settings: WindowSettings
) -> tuple[Float64[np.ndarray, "p 3"], Float64[np.ndarray, "p 3"], float]:
    """Half of the pixels known in both windows, those of smaller σ, as points in either world; and their median
    depth."""
    stride = max(1, int(np.sqrt(earlier.z.size / (4 * settings.points))))
    sigma = (earlier.relative_sigma + later.relative_sigma)[:, stride // 2 :: stride, stride // 2 :: stride]
    posed = np.isfinite(earlier.world_from_cam[:, 0, 3]) & np.isfinite(later.world_from_cam[:, 0, 3])
    known = np.isfinite(sigma) & posed[:, None, None]
    if not known.any():
        return np.zeros((0, 3)), np.zeros((0, 3)), np.nan
    frame, row, column = np.nonzero(known & (sigma <= np.median(sigma[known])))
    few = slice(None, None, max(1, len(frame) // settings.points))
    frame, row, column = frame[few], stride // 2 + stride * row[few], stride // 2 + stride * column[few]
    here, there = (_points(w, frame, row, column) for w in (earlier, later))
    return here, there, float(np.median(earlier.z[frame, row, column]))


def _points(
    window: Window, frame: Int64[np.ndarray, "p"], row: Int64[np.ndarray, "p"], column: Int64[np.ndarray, "p"]
) -> Float64[np.ndarray, "p 3"]:
    k, pose = window.k_map[frame], window.world_from_cam[frame]
    u, v = (column - k[:, 0, 2]) / k[:, 0, 0], (row - k[:, 1, 2]) / k[:, 1, 1]
    xyz_cam = np.stack([u, v, np.ones_like(u)], axis=1) * window.z[frame, row, column, None]
    return np.asarray(np.einsum("pij,pj->pi", pose[:, :3, :3], xyz_cam) + pose[:, :3, 3])


@dataclass(frozen=True, kw_only=True)
class Joined:
    """All frames in one world and unit. NaN where a frame has no pose."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    k_map: Float64[np.ndarray, "n 3 3"]
    """K of each frame in pixels of the depth maps."""
    joined_residual: Float64[np.ndarray, "n"]
    """Residuals of the alignments between the first frame and this one, added in quadrature; in the common unit."""
    joined_rotation_rad: Float64[np.ndarray, "n"]
    """Likewise the remaining angles of the alignments."""
    rows: Int64[np.ndarray, "k"]
    """Rows of the frames with depth, ascending."""
    z: Float32[np.ndarray, "k h w"]
    relative_sigma: Float32[np.ndarray, "k h w"]
    scales: Float64[np.ndarray, "windows"]
    """Per window: common unit over the window's own unit."""


@dataclass(kw_only=True)
class Chain:
    """Takes windows in order. Stores the poses of all frames, the depth of some, and the end of the last window, so
    memory is constant in the length of the clip."""

    count: int
    """Total number of frames."""
    keep: frozenset[int]
    """Rows of the frames whose depth is stored."""
    settings: WindowSettings
    end_reason: NoEstimate | None = None
    """Why the frames after the last aligned window have no pose; None: all windows are aligned."""
    _tail: Window | None = None
    _posed: list[Window] = field(default_factory=list)
    _kept: dict[int, tuple[Float32[np.ndarray, "h w"], Float32[np.ndarray, "h w"]]] = field(default_factory=dict)
    _joins: list[Similarity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._world_from_cam = np.full((self.count, 4, 4), np.nan)
        self._k_map = np.full((self.count, 3, 3), np.nan)
        self._residual, self._rotation = np.full(self.count, np.nan), np.full(self.count, np.nan)

    def add(self, window: Window | NoEstimate) -> bool:
        """Aligns the next window. False: it has no estimate or cannot be aligned, and the chain ends before it."""
        if isinstance(window, NoEstimate):
            self.end_reason = window
            return False
        if self._tail is not None:
            join = similarity(self._tail, window, self.settings)
            if isinstance(join, NoEstimate):
                self.end_reason = join
                return False
            self._joins.append(join)
            window = join.moved(window)
        new = np.array([row for row in window.rows if np.isnan(self._residual[row])], dtype=np.int64)
        fresh = window.of(new)
        self._world_from_cam[new], self._k_map[new] = fresh.world_from_cam, fresh.k_map
        self._residual[new] = np.linalg.norm([join.residual for join in self._joins])
        self._rotation[new] = np.linalg.norm([join.rotation_rad for join in self._joins])
        for at in np.flatnonzero(np.isin(new, list(self.keep))):
            self._kept[int(new[at])] = fresh.z[at].copy(), fresh.relative_sigma[at].copy()
        self._tail = window.of(window.rows[-self.settings.overlap :])
        return True

    def joined(self, min_share: float) -> Joined | NoEstimate:
        """The aligned windows, or the reason of the end if fewer than `min_share` of the frames are aligned."""
        registered = int(np.isfinite(self._world_from_cam[:, 0, 3]).sum())
        seen = any(np.isfinite(z).any() for z, _ in self._kept.values())
        if not seen or registered < min_share * self.count:
            reason = self.end_reason or NoEstimate(reason="only sky")
            detail = f"{registered} of {self.count} frames have a pose; {reason.detail}".rstrip("; ")
            return replace(reason, detail=detail)
        rows = sorted(self._kept)
        return Joined(
            world_from_cam=self._world_from_cam,
            k_map=self._k_map,
            joined_residual=self._residual,
            joined_rotation_rad=self._rotation,
            rows=np.array(rows, dtype=np.int64),
            z=np.stack([self._kept[row][0] for row in rows]),
            relative_sigma=np.stack([self._kept[row][1] for row in rows]),
            scales=np.array([1.0, *(join.scale for join in self._joins)]),
        )
