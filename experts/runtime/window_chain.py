"""Windows of a clip joined one after another, in the world of the first: constant memory in the length of the clip."""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float32, Float64, Int64

from experts.runtime.windows import Similarity, Window, WindowSettings, similarity
from experts.signals import NoEstimate


@dataclass(frozen=True, kw_only=True)
class Joined:
    """All frames in one world and unit. NaN where a frame has no place."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    k_map: Float64[np.ndarray, "n 3 3"]
    """K of each frame in pixels of the depth maps."""
    joined_residual: Float64[np.ndarray, "n"]
    """Residuals of the joins between the first frame and this one, added in quadrature; in the common unit."""
    joined_turn_rad: Float64[np.ndarray, "n"]
    """Likewise the angles left at the joins."""
    rows: Int64[np.ndarray, "k"]
    """The frames whose depth was kept, ascending."""
    z: Float32[np.ndarray, "k h w"]
    relative_sigma: Float32[np.ndarray, "k h w"]
    scales: Float64[np.ndarray, "windows"]
    """Common unit over the unit of each window."""


@dataclass(kw_only=True)
class Chain:
    """Takes windows in order; keeps cameras of all frames, depth of some, and the last window's end."""

    count: int
    """Frames in all."""
    keep: frozenset[int]
    """Rows of the frames whose depth is kept."""
    settings: WindowSettings
    cut: NoEstimate | None = None
    """Why the frames after the last joined window have no place; None: all joined."""
    _tail: Window | None = None
    _posed: list[Window] = field(default_factory=list)
    _kept: dict[int, tuple[Float32[np.ndarray, "h w"], Float32[np.ndarray, "h w"]]] = field(default_factory=dict)
    _joins: list[Similarity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._world_from_cam = np.full((self.count, 4, 4), np.nan)
        self._k_map = np.full((self.count, 3, 3), np.nan)
        self._residual, self._turn = np.full(self.count, np.nan), np.full(self.count, np.nan)

    def add(self, window: Window | NoEstimate) -> bool:
        """Joins the next window; False: it abstains or does not fit, the chain ends before it."""
        if isinstance(window, NoEstimate):
            self.cut = window
            return False
        if self._tail is not None:
            join = similarity(self._tail, window, self.settings)
            if isinstance(join, NoEstimate):
                self.cut = join
                return False
            self._joins.append(join)
            window = join.moved(window)
        new = np.array([row for row in window.rows if np.isnan(self._residual[row])], dtype=np.int64)
        fresh = window.of(new)
        self._world_from_cam[new], self._k_map[new] = fresh.world_from_cam, fresh.k_map
        self._residual[new] = np.linalg.norm([join.residual for join in self._joins])
        self._turn[new] = np.linalg.norm([join.turned_rad for join in self._joins])
        for at in np.flatnonzero(np.isin(new, list(self.keep))):
            self._kept[int(new[at])] = fresh.z[at].copy(), fresh.relative_sigma[at].copy()
        self._tail = window.of(window.rows[-self.settings.overlap :])
        return True

    def joined(self, least_share: float) -> Joined | NoEstimate:
        """What was joined; the reason of the cut where that is less than `least_share` of the frames."""
        registered = int(np.isfinite(self._world_from_cam[:, 0, 3]).sum())
        seen = any(np.isfinite(z).any() for z, _ in self._kept.values())
        if not seen or registered < least_share * self.count:
            cut = self.cut or NoEstimate(reason="only sky")
            return replace(cut, detail=f"{registered} of {self.count} frames are placed; {cut.detail}".rstrip("; "))
        rows = sorted(self._kept)
        return Joined(
            world_from_cam=self._world_from_cam,
            k_map=self._k_map,
            joined_residual=self._residual,
            joined_turn_rad=self._turn,
            rows=np.array(rows, dtype=np.int64),
            z=np.stack([self._kept[row][0] for row in rows]),
            relative_sigma=np.stack([self._kept[row][1] for row in rows]),
            scales=np.array([1.0, *(join.scale for join in self._joins)]),
        )
