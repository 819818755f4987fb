"""What the measured depth of all photos says of places in the world.

A place that some photo looks past is free. A surface that a photo shows without a break hides what is behind it. What
no photo shows stays unknown, so that objects need not all be listed.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64, Int64

from experts.intrinsics import Intrinsics
from templates.scene.elsewhere import movers
from templates.scene.marks import spread_frames
from templates.scene.scene import Scene, find_rows

_PHOTOS = 16
"""Photos whose depth is used."""
_FREE = 0.01
"""By what share of its depth a place must lie before a surface to be free."""
_PASSED, _STEPS, _PARTS, _LARGEST_PART = 0.015, 3, 8, 0.4
"""A line passes a surface if it comes from so far before it to so far behind it, as shares of the depth, in at most so
many steps, and no part of these makes up more than this share of the change: the surface has no break there."""


@dataclass(frozen=True)
class DepthViews:
    """Measured depth of f photos, and where they were taken."""

    frame: Int64[np.ndarray, "f"]
    cam_from_world: Float64[np.ndarray, "f 4 4"]
    z: Float[np.ndarray, "f h w"]
    camera: Intrinsics

    def nearest_first(self, frame: int) -> list[int]:
        """The photos, beginning with those taken at almost the time of another one: they show most of its places."""
        return [int(view) for view in np.argsort(np.abs(self.frame - frame), kind="stable")]

    def before_surface(self, view: int, xyz: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n"]:
        """By what share of their depth places in the world lie before the surface that a photo shows there; NaN where
        the photo does not show them."""
        pose = self.cam_from_world[view]
        cam = (pose[:3, :3] @ xyz.reshape(-1, 3).T + pose[:3, 3:]).T  # each coordinate in a row: faster
        xy = self.camera.project(cam)
        inside = self.camera.contains(xy)
        x, y = np.where(inside, np.rint(xy.T), 0).astype(np.int64)
        found = np.where(inside, self.z[view].take(x + y * self.camera.width_px), np.nan) / cam[:, 2] - 1
        return found.reshape(xyz.shape[:-1])

    def free(self, lines: Float64[np.ndarray, "m s 3"], order: list[int]) -> Bool[np.ndarray, "m"]:
        """Whether photos look past all places of a line."""
        places = lines.reshape(-1, 3)
        left = np.arange(len(places))
        for view in order:
            with np.errstate(invalid="ignore"):
                left = left[~(self.before_surface(view, places[left]) > _FREE)] if len(left) else left
        free = np.ones(len(lines), dtype=bool)
        free[left // lines.shape[1]] = False
        return free

    def blocked(self, lines: Float64[np.ndarray, "m s 3"], order: list[int]) -> Bool[np.ndarray, "m"]:
        """Whether a line passes a surface that a photo shows without a break."""
        left = np.arange(len(lines))
        for view in order:
            before, passes = self.before_surface(view, lines[left]), np.zeros(len(left), dtype=bool)
            with np.errstate(invalid="ignore"):
                nearer, farther = before > _PASSED, before < -_PASSED
            for steps in range(1, _STEPS + 1):
                line, place = np.nonzero(nearer[:, :-steps] & farther[:, steps:] & ~passes[:, None])
                if len(line):
                    a, b = lines[left[line], place], lines[left[line], place + steps]
                    passes[line[self._unbroken(view, a, b)]] = True
            left = left[~passes]
        blocked = np.ones(len(lines), dtype=bool)
        blocked[left] = False
        return blocked

    def _unbroken(
        self, view: int, a: Float64[np.ndarray, "m 3"], b: Float64[np.ndarray, "m 3"]
    ) -> Bool[np.ndarray, "m"]:
        """Whether a photo shows without a break the surface between places before it and behind it."""
        share = np.linspace(0, 1, _PARTS + 1)[:, None]
        passing = self.before_surface(view, a[:, None] + share * (b - a)[:, None])
        with np.errstate(invalid="ignore"):
            largest = np.abs(np.diff(passing, axis=1)).max(axis=1)
            return np.asarray(largest <= _LARGEST_PART * (passing[:, 0] - passing[:, -1]))


def depth_views(scene: Scene) -> DepthViews | None:
    """Depth of photos spread over the clip; None where no depth is measured. Computed once per scene."""
    return scene.once("depth views", lambda: _views(scene))


def _views(scene: Scene) -> DepthViews | None:
    """Depth of photos spread over the clip; unknown where they show what moves."""
    depth, path = scene.measured_depth, scene.path
    if depth is None or path is None or not len(depth.frames):
        return None
    frames = np.array(spread_frames(depth.frames, _PHOTOS), dtype=np.int64)
    poses, z = scene.world_from_cam(frames), depth.z[find_rows(depth.frames, frames)].astype(np.float32)
    objects, moves = scene.objects, movers(scene)
    if objects is not None and moves.any():
        ids = objects.ids[find_rows(objects.frames, frames)]
        if ids.shape != z.shape or not np.isin(frames, objects.frames).all():
            return None
        z = np.where((ids >= 0) & moves[np.maximum(ids, 0)], np.nan, z)
    known = np.isfinite(poses).all(axis=(1, 2))
    camera = path.intrinsics.scaled(z.shape[2], z.shape[1])
    return DepthViews(frames[known], np.linalg.inv(poses[known]), z[known], camera) if known.any() else None
