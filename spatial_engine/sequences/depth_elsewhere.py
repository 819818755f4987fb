"""Distances of single pixels from the depth of other frames, in a world that stands still: where a frame has no depth
of its own, or a hole in it.

The pixel's ray is followed, by the true poses, until it meets the surface that another frame's depth gives. Two frames
must agree on the place, and show there what the pixel shows; or one, and the depth around the pixel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from jaxtyping import Float64

from experts.signals import CameraPath, Depth
from spatial_engine.sequences.matched_pixels import pose
from templates.scene.scene import angle_between_rad
from templates.scene.surface import WINDOW_PX, DenseSurface

_VIEWS = 12
"""The nearest frames ..."""
_MOST_ROTATION_RAD = np.radians(45.0)
"""... that look in a similar direction."""
_STEP_PX = 1.0
"""Between two places on the ray, in full-size pixels of the other frame, ..."""
_LEAST_PLACES, _MOST_PLACES = 50, 2000
"""... with so many of them."""
_BEYOND = 2.0
"""The ray is followed from the nearest depth of the other frame over this factor, to the farthest times it."""
_APART = 0.05
"""Largest relative difference of z by two frames; 3 σ if that is more. Depths around a pixel that differ by more are of
two surfaces."""
_LEAST_AROUND = 0.2
"""Share of the depths around a pixel that must be known."""


@dataclass(frozen=True, kw_only=True)
class DepthElsewhere:
    """The depth of all frames, for pixels of any frame."""

    path: CameraPath
    depth_of: Callable[[int], Depth | None]
    """That of one frame; None where it has none."""

    def at(
        self, frame: int, xy_px: Float64[np.ndarray, "2"], shows: Callable[[int, float], bool]
    ) -> tuple[float, float] | None:
        """z of a pixel and its relative σ, by the nearest two frames of which `shows` says that they show what the
        pixel shows, if its z is as they say; where only one does, by that and the depth around the pixel. None without
        two, or if they contradict each other."""
        both = list(islice((met for view, *met in self.met(frame, xy_px) if shows(view, met[0])), 2))
        if len(both) == 1 and (own := self.around(frame, xy_px)) is not None:
            both.append([*own])
        if len(both) < 2:
            return None
        (one, sigma), (other, other_sigma) = both
        apart = abs(one / other - 1)
        if apart > max(_APART, 3 * np.hypot(sigma, other_sigma)):
            return None
        return one, float(np.hypot(sigma, apart))

    def around(self, frame: int, xy_px: Float64[np.ndarray, "2"]) -> tuple[float, float] | None:
        """Mean z and its relative σ of the depths that the frame itself has around a pixel. None where there are few,
        or where they are of two surfaces."""
        depth, camera = self.depth_of(frame), self.path.intrinsics
        if depth is None:
            return None
        height, width = depth.z.shape[1:]
        x, y = np.rint((xy_px + 0.5) * [width / camera.width_px, height / camera.height_px] - 0.5).astype(int).tolist()
        window = np.s_[0, max(0, y - WINDOW_PX) : y + WINDOW_PX + 1, max(0, x - WINDOW_PX) : x + WINDOW_PX + 1]
        known = np.isfinite(depth.z[window])
        z = depth.z[window][known].astype(float)
        if len(z) < _LEAST_AROUND * (2 * WINDOW_PX + 1) ** 2 or z.max() > (1 + _APART) * z.min():
            return None
        sigma = float(depth.relative_sigma[window][known].mean())
        return float(z.mean()), float(np.hypot(sigma, (z.max() - z.min()) / z.mean() / 6))

    def met(self, frame: int, xy_px: Float64[np.ndarray, "2"]) -> Iterator[tuple[int, float, float]]:
        """Frame, z in the pixel's own camera, and its relative σ: for every other frame whose depth the ray meets."""
        ray = self.path.intrinsics.rays(xy_px)
        for view in self._views(frame):
            depth = self.depth_of(view)
            if depth is not None and np.isfinite(depth.z).any():
                found = self._met(frame, view, depth, ray / ray[2])
                if found is not None:
                    yield (view, *found)

    def _views(self, frame: int) -> list[int]:
        frames, poses = self.path.frames[self.path.registered], self.path.world_from_cam[self.path.registered]
        if frame not in frames:
            return []
        own = pose(self.path, frame)
        turned = angle_between_rad(own[:3, :3], poses[:, :3, :3])
        away = np.linalg.norm(poses[:, :3, 3] - own[:3, 3], axis=1)
        useful = np.flatnonzero((turned <= _MOST_ROTATION_RAD) & (frames != frame))
        return [int(frames[k]) for k in useful[np.argsort(away[useful], kind="stable")][:_VIEWS]]

    def _met(self, frame: int, view: int, depth: Depth, ray: Float64[np.ndarray, "3"]) -> tuple[float, float] | None:
        """z and relative σ of the first place of the ray that passes through the surface of the other frame. None where
        there is none, or the other frame does not show what lies before it."""
        view_from_own = np.linalg.inv(pose(self.path, view)) @ pose(self.path, frame)
        baseline = float(np.linalg.norm(view_from_own[:3, 3]))
        nearest, farthest = float(np.nanmin(depth.z)) / _BEYOND, float(np.nanmax(depth.z)) * _BEYOND
        wanted = self.path.intrinsics.fx_px * baseline / nearest / _STEP_PX
        z = 1 / np.linspace(1 / nearest, 1 / farthest, int(np.clip(wanted, _LEAST_PLACES, _MOST_PLACES)))
        there = z[:, None] * (view_from_own[:3, :3] @ ray) + view_from_own[:3, 3]
        row = np.zeros(len(z), dtype=np.int64)
        seen = DenseSurface(depth=depth).at(self.path.intrinsics, row, self.path.intrinsics.project(there))
        with np.errstate(invalid="ignore", divide="ignore"):
            behind = there[:, 2] / seen.xyz_cam[:, 2] - 1
        passes = np.flatnonzero((behind[:-1] < 0) & (behind[1:] >= 0))
        known = np.flatnonzero(np.isfinite(behind))
        if not len(passes) or behind[known[0]] >= 0:
            return None
        k = int(passes[0])
        jump = float(behind[k + 1] - behind[k])
        part = -behind[k] / jump
        at = float(1 / ((1 - part) / z[k] + part / z[k + 1]))
        relative = (self.path.direction_sigma_rad * baseline / at, seen.range_relative_sigma[k], jump / 3)
        return at, float(np.linalg.norm(relative))
