"""What two photos show in common."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from templates.marks import markable
from templates.scene import Scene

_MIN_POINTS = 8
"""With fewer known points a share says nothing."""
_MAX_POINTS = 100
"""More say the same."""


@dataclass(frozen=True, kw_only=True)
class SharedView:
    """Known points of photo A that lie inside photo B too. Things in between are not looked for."""

    share: float
    """Of A's known points."""
    xy_px: Float64[np.ndarray, "k 2"]
    """Their pixels in A, fit to carry a mark."""
    travel: float
    """Distance between both cameras over the median distance from A to A's known points."""


def shared_views(scene: Scene, frame_a: int, frames_b: Sequence[int]) -> dict[int, SharedView]:
    """What photo A shares with others, by frame; empty where too little is known of A."""
    a, *others = scene.world_from_cam([frame_a, *frames_b])
    xy = markable(scene, frame_a)
    xy = xy[:: 1 + len(xy) // _MAX_POINTS]
    if scene.path is None or len(xy) < _MIN_POINTS or not np.isfinite(a).all():
        return {}
    seen, camera = scene.surface(frame_a, xy), scene.path.intrinsics
    views = {}
    for frame, b in zip(frames_b, others, strict=True):
        if not np.isfinite(b).all():
            continue
        b_from_a = np.linalg.solve(b, a)
        shared = camera.contains(camera.project(seen.xyz_cam @ b_from_a[:3, :3].T + b_from_a[:3, 3]))
        travel = float(np.linalg.norm(b_from_a[:3, 3]) / np.median(seen.range))
        views[frame] = SharedView(share=float(shared.mean()), xy_px=xy[shared], travel=travel)
    return views
