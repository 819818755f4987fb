"""The part of the scene that two photos both show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.scene.marks import grid_px, known_pixels
from templates.scene.scene import Scene

_MIN_POINTS = 8
"""Smallest number of points from which a share is computed."""
MIN_SHARE = 0.1
"""Least share of what a photo shows that the photo compared with it shows too: with less, nothing that is seen decides
the answer."""
_GRID = 8
"""Directions per side of a photo that shows a place far away."""
_MAX_POINTS = 100
"""Largest number of points from which a share is computed."""


@dataclass(frozen=True, kw_only=True)
class SharedViews:
    """Overlap and baseline of photo A (row) with photo B (column)."""

    share: Float64[np.ndarray, "f f"]
    """Share of what A shows that lies inside B; 0 where a pose is not known. Occlusion is not tested. A photo without
    surface points counts as showing a place that is far away: only the rotations matter."""
    distance: Float64[np.ndarray, "f"]
    """Median distance from the photo's camera to its surface points, in path units; NaN where not known."""
    travel: Float64[np.ndarray, "f f"]
    """Distance between the cameras over the distance of A; NaN where either is not known."""

    @property
    def mutual(self) -> Bool[np.ndarray, "f f"]:
        """Whether both photos share at least `MIN_SHARE` of what they show."""
        shared = self.share >= MIN_SHARE
        return shared & shared.T


def shared_views(scene: Scene, frames: Sequence[int] | Int64[np.ndarray, "f"]) -> SharedViews:
    """Shared views of all pairs of photos; computed once for each scene and choice of frames."""
    frames = np.asarray(frames, dtype=np.int64)
    return scene.once(("shared views", *frames.tolist()), lambda: _shared_views(scene, frames))


def scene_distance(scene: Scene, frames: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n"]:
    """Median distance of what each photo shows, in path units; NaN where it is not known."""
    if not len(frames):
        return np.empty(0)
    each, row = np.unique(frames, return_inverse=True)
    return np.asarray(_distances(scene, each, _seen(scene, each))[row])


def partners(
    scene: Scene, frames: Int64[np.ndarray, "f"], frame: Int64[np.ndarray, "n"], rng: np.random.Generator
) -> Int64[np.ndarray, "n"]:
    """For each photo, a random one of `frames` that shares part of its view; itself where there is none."""
    if not len(frames):
        return frame
    mutual = shared_views(scene, frames).mutual & ~np.eye(len(frames), dtype=bool)
    row = np.searchsorted(frames, frame)
    keys = np.where(mutual[row], rng.random((len(frame), len(frames))), -1.0)
    keys[np.arange(len(frame)), row] = np.maximum(keys[np.arange(len(frame)), row], -0.5)
    return np.asarray(frames[keys.argmax(axis=1)])


def _distances(
    scene: Scene, frames: Int64[np.ndarray, "f"], seen: Float64[np.ndarray, "f p 3"]
) -> Float64[np.ndarray, "f"]:
    if scene.path is None or scene.path.motion != "general":
        return np.full(len(frames), np.nan)
    distance = np.sort(np.linalg.norm(seen, axis=2), axis=1)  # NaN last
    count = np.isfinite(distance).sum(axis=1)
    low, high = (distance[np.arange(len(frames)), np.maximum(count - k, 0) // 2] for k in (1, 0))
    return np.where(count < _MIN_POINTS, np.nan, (low + high) / 2)


def _shared_views(scene: Scene, frames: Int64[np.ndarray, "f"]) -> SharedViews:
    nothing = np.full((len(frames), len(frames)), np.nan)
    if scene.path is None or not len(frames):
        return SharedViews(share=np.zeros_like(nothing), distance=np.full(len(frames), np.nan), travel=nothing)
    camera, poses = scene.path.intrinsics, scene.world_from_cam(frames)
    rotations, positions = poses[:, :3, :3], poses[:, :3, 3]
    seen = _seen(scene, frames)
    distance = _distances(scene, frames, seen)
    far = np.isnan(distance)
    travel = np.linalg.norm(positions - positions[:, None], axis=2) / distance[:, None]
    shown = np.full((len(frames), max(seen.shape[1], _GRID**2), 3), np.nan)
    shown[:, : seen.shape[1]] = seen
    shown[far] = np.nan
    shown[far, : _GRID**2] = camera.rays(grid_px(scene.clip, _GRID))
    count = np.isfinite(shown[..., 0]).sum(axis=1)
    from_camera = np.where(far[:, None], 0.0, positions)[:, None]
    world = (shown @ rotations.swapaxes(1, 2) + from_camera).reshape(-1, 3).T.copy()  # rows are long: much faster
    of_far = np.repeat(far, shown.shape[1])
    share = np.zeros_like(nothing)
    for column, (rotation, position) in enumerate(zip(rotations, positions, strict=True)):
        xyz_cam = (rotation.T @ (world - np.where(of_far, 0.0, position[:, None]))).T
        share[:, column] = camera.contains(camera.project(xyz_cam)).reshape(len(frames), -1).sum(axis=1)
    return SharedViews(share=share / count[:, None], distance=distance, travel=travel)


def _seen(scene: Scene, frames: Int64[np.ndarray, "f"]) -> Float64[np.ndarray, "f p 3"]:
    """Surface points of each photo in its camera's axes; NaN where a row ends. Pixels are matched only where no photo
    has depth: each takes long, and depth shows enough of them."""
    if scene.matched is not None and any(scene.has_depth(frame) for frame in frames.tolist()):
        scene = replace(scene, matched=None)
    pixels = [xy[:: 1 + len(xy) // _MAX_POINTS] for xy in (known_pixels(scene, frame) for frame in frames.tolist())]
    counts = [len(xy) for xy in pixels]
    xyz_cam = scene.surface(np.repeat(frames, counts), np.concatenate(pixels)).xyz_cam
    found = np.full((len(frames), max([1, *counts]), 3), np.nan)
    for row, part in enumerate(np.split(xyz_cam, np.cumsum(counts)[:-1])):
        part = part[np.isfinite(part).all(axis=1)]
        found[row, : len(part)] = part
    return found


def are_in_view(
    scene: Scene, pairs: Int64[np.ndarray, "k 2"], xy_px: Float64[np.ndarray, "k 2"]
) -> Bool[np.ndarray, "k"]:
    """Whether the point at each pixel of photo A lies inside photo B; False where unknown."""
    if scene.path is None:
        return np.zeros(len(xy_px), dtype=bool)
    a, b = scene.world_from_cam(pairs).swapaxes(0, 1)
    seen = np.einsum("kij,kj->ki", a[:, :3, :3], scene.surface(pairs[:, 0], xy_px).xyz_cam) + a[:, :3, 3]
    camera = scene.path.intrinsics
    return camera.contains(camera.project(np.einsum("kji,kj->ki", b[:, :3, :3], seen - b[:, :3, 3])))
