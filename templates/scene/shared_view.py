"""The part of the scene that two photos both show."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.scene.marks import known_pixels
from templates.scene.scene import Scene

_MIN_POINTS = 8
"""Smallest number of points from which a share is computed."""
MIN_SHARE = 0.1
"""Least share of what a photo shows that the photo compared with it shows too: with less, nothing that is seen decides
the answer."""
_GRID = 8
_MAX_POINTS = 100
"""Largest number of points from which a share is computed."""


@dataclass(frozen=True, kw_only=True)
class SharedView:
    """Overlap and baseline of photo B relative to photo A."""

    share: float
    """Share of A's points that lie inside B. Occlusion is not tested."""
    travel: float
    """Distance between the cameras over the median distance from A to A's points."""


def shared_views(scene: Scene, frame_a: int, frames_b: Sequence[int]) -> dict[int, SharedView]:
    """Shared views of photo A with other photos, by frame; without photos of unknown pose."""
    xy = known_pixels(scene, frame_a)
    xy = xy[:: 1 + len(xy) // _MAX_POINTS]
    ranges = scene.surface(frame_a, xy).range
    if np.isfinite(ranges).sum() < _MIN_POINTS:
        return {}
    a, *others = scene.world_from_cam([frame_a, *frames_b])[:, :3, 3]
    travels = [float(np.linalg.norm(b - a) / np.nanmedian(ranges)) for b in others]
    shares = are_in_view(scene, frame_a, xy, frames_b)[:, np.isfinite(ranges)].mean(axis=1).tolist()
    views = zip(frames_b, shares, travels, strict=True)
    return {frame: SharedView(share=share, travel=travel) for frame, share, travel in views if np.isfinite(travel)}


def are_in_view(
    scene: Scene, frame_a: int, xy_px: Float64[np.ndarray, "k 2"], frames_b: Sequence[int]
) -> Bool[np.ndarray, "n k"]:
    """Whether the points at pixels of photo A lie inside other photos; False where unknown."""
    if scene.path is None:
        return np.zeros((len(frames_b), len(xy_px)), dtype=bool)
    a, *others = scene.world_from_cam([frame_a, *frames_b])
    seen, camera = scene.surface(frame_a, xy_px).xyz_cam @ a[:3, :3].T + a[:3, 3], scene.path.intrinsics
    return np.stack([camera.contains(camera.project((seen - b[:3, 3]) @ b[:3, :3])) for b in others])


def shares(scene: Scene, frames: Int64[np.ndarray, "f"]) -> Float64[np.ndarray, "f f"]:
    """Share of what each photo (row) shows that lies inside each other photo (column); 0 where a pose is not known.

    Photos without surface points count as showing a place that is far away: only their rotations matter.
    """
    poses = scene.world_from_cam(frames)
    found = np.zeros((len(frames), len(frames)))
    if scene.path is None or not len(frames):
        return found
    camera, far = scene.path.intrinsics, scene.path.motion != "general"
    pixels = [xy[:: 1 + len(xy) // _MAX_POINTS] for xy in (known_pixels(scene, frame) for frame in frames.tolist())]
    ends = np.cumsum([len(xy) for xy in pixels])
    xyz_cam = scene.surface(
        np.repeat(frames, np.diff(ends, prepend=0)), np.concatenate([np.empty((0, 2)), *pixels])
    ).xyz_cam
    for row, seen in enumerate(np.split(xyz_cam, ends[:-1])):
        seen = seen[np.isfinite(seen).all(axis=1)]
        at_infinity = far or len(seen) < _MIN_POINTS
        if at_infinity:
            seen = camera.rays(_grid(scene))
        world = seen @ poses[row, :3, :3].T + (0.0 if at_infinity else poses[row, :3, 3])
        offsets = world[None] - (0.0 if at_infinity else poses[:, None, :3, 3])
        found[row] = camera.contains(camera.project(offsets @ poses[:, :3, :3])).mean(axis=1)
    return found


def _grid(scene: Scene) -> Float64[np.ndarray, "k 2"]:
    """Pixels all over a photo."""
    x, y = ((np.arange(_GRID) + 0.5) / _GRID * side for side in (scene.clip.width_px, scene.clip.height_px))
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
