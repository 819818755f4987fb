"""What two photos show in common."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from templates.scene.marks import known_pixels
from templates.scene.scene import Scene

_MIN_POINTS = 8
"""With fewer known points a share says nothing."""
_MAX_POINTS = 100
"""More say the same."""


@dataclass(frozen=True, kw_only=True)
class SharedView:
    """How photo B hangs together with photo A."""

    share: float
    """Of A's known points: those that lie inside B too. Things in between are not looked for."""
    travel: float
    """Distance between both cameras over the median distance from A to A's known points."""


def shared_views(scene: Scene, frame_a: int, frames_b: Sequence[int]) -> dict[int, SharedView]:
    """What photo A shares with each of other photos, by frame; without those of which too little is known."""
    xy = known_pixels(scene, frame_a)
    xy = xy[:: 1 + len(xy) // _MAX_POINTS]
    ranges = scene.surface(frame_a, xy).range
    if np.isfinite(ranges).sum() < _MIN_POINTS:
        return {}
    a, *others = scene.world_from_cam([frame_a, *frames_b])[:, :3, 3]
    travels = [float(np.linalg.norm(b - a) / np.nanmedian(ranges)) for b in others]
    shares = lies_in(scene, frame_a, xy, frames_b)[:, np.isfinite(ranges)].mean(axis=1).tolist()
    views = zip(frames_b, shares, travels, strict=True)
    return {frame: SharedView(share=share, travel=travel) for frame, share, travel in views if np.isfinite(travel)}


def lies_in(
    scene: Scene, frame_a: int, xy_px: Float64[np.ndarray, "k 2"], frames_b: Sequence[int]
) -> Bool[np.ndarray, "n k"]:
    """Whether what photo A shows at pixels lies inside other photos; False where that is not known."""
    if scene.path is None:
        return np.zeros((len(frames_b), len(xy_px)), dtype=bool)
    a, *others = scene.world_from_cam([frame_a, *frames_b])
    seen, camera = scene.surface(frame_a, xy_px).xyz_cam @ a[:3, :3].T + a[:3, 3], scene.path.intrinsics
    return np.stack([camera.contains(camera.project((seen - b[:3, 3]) @ b[:3, :3])) for b in others])
