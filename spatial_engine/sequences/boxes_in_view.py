"""Which objects without masks an image shows: by the stated share, or by the depth along rays through their boxes."""

import numpy as np
from jaxtyping import Bool, Float64

from experts.signals import CameraPath, Depth, Objects

_GRID = 24
"""Rays per side through the rectangle of a projected box."""
_LEAST_VISIBLE = 0.5
"""Least share of an object that must be visible."""
_MOST_HIDDEN = 0.3
"""Largest share of the rays through a box that may end before it, ..."""
_LEAST_MET = 0.2
"""... least share that must end in it (a chair lets many pass), ..."""
_LEAST_RAYS = 12
"""... and least number of rays with depth."""
_SIGMAS = 3.0


def shown_boxes(
    objects: Objects, path: CameraPath | None, depth: Depth | None, visible: Float64[np.ndarray, "n k"] | None
) -> Float64[np.ndarray, "n k 2 2"]:
    """Rectangles of the projected boxes of the objects that each frame shows; NaN for those that something hides, and
    where neither `visible`, the stated share, nor depth tells."""
    found = np.full((*objects.world_from_object.shape[:2], 2, 2), np.nan)
    if path is None or objects.size is None:
        return found
    corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, 8).T
    for row, frame in enumerate(objects.frames.tolist()):
        cam_from_world = np.linalg.inv(path.world_from_cam[int(np.searchsorted(path.frames, frame))])
        for k in range(len(objects.labels)):
            cam_from_box = cam_from_world @ objects.world_from_object[row, k]
            ahead = corners * objects.size[k] @ cam_from_box[:3, :3].T + cam_from_box[:3, 3]
            xy = path.intrinsics.project(ahead)
            if not np.isfinite(xy).all() or not (ahead[:, 2] > 0).all():
                continue
            rectangle = np.stack([xy.min(axis=0), xy.max(axis=0)])
            share = np.nan if visible is None else visible[row, k]
            if not path.intrinsics.contains(rectangle.mean(axis=0)):
                continue
            if share >= _LEAST_VISIBLE if np.isfinite(share) else _by_depth(objects, path, depth, row, k, rectangle):
                found[row, k] = rectangle
    return found


def _by_depth(
    objects: Objects, path: CameraPath, depth: Depth | None, row: int, k: int, rectangle: Float64[np.ndarray, "2 2"]
) -> bool:
    """Whether few rays through a box end before it, and some in it."""
    frame = int(objects.frames[row])
    if depth is None or frame not in depth.frames or objects.size is None:
        return False
    z = depth.z[int(np.searchsorted(depth.frames, frame))]
    scale = np.array([z.shape[1], z.shape[0]]) / [path.intrinsics.width_px, path.intrinsics.height_px]
    low, high = (np.clip((each + 0.5) * scale - 0.5, 0, np.array(z.shape[::-1]) - 1) for each in rectangle)
    x, y = (np.unique(np.rint(np.linspace(a, b, _GRID)).astype(int)) for a, b in zip(low, high, strict=True))
    cells = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    seen = z[cells[:, 1], cells[:, 0]].astype(np.float64)
    sigma = 0.0 if objects.centre_sigma is None else float(objects.centre_sigma[k])
    enter, leave = through_box(
        path, frame, objects.world_from_object[row, k], objects.size[k], (cells + 0.5) / scale - 0.5, _SIGMAS * sigma
    )
    known = np.isfinite(seen) & (enter < leave)
    if known.sum() < _LEAST_RAYS:
        return False
    hidden, met = seen[known] < enter[known], (seen[known] >= enter[known]) & (seen[known] <= leave[known])
    return bool(hidden.mean() <= _MOST_HIDDEN and met.mean() >= _LEAST_MET)


def through_box(
    path: CameraPath,
    frame: int,
    world_from_box: Float64[np.ndarray, "4 4"],
    size: Float64[np.ndarray, "3"],
    xy_px: Float64[np.ndarray, "m 2"],
    margin: float,
) -> tuple[Float64[np.ndarray, "m"], Float64[np.ndarray, "m"]]:
    """Depths (z) at which the rays of pixels enter and leave a box that is larger by `margin` on every side; the first
    is the larger one where a ray misses the box."""
    box_from_cam = np.linalg.inv(world_from_box) @ path.world_from_cam[int(np.searchsorted(path.frames, frame))]
    rays = path.intrinsics.rays(xy_px)
    towards = rays / rays[:, 2:] @ box_from_cam[:3, :3].T
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([(side * (size / 2 + margin) - box_from_cam[:3, 3]) / towards for side in (-1.0, 1.0)])
    return ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)


def inside_box(
    objects: Objects, path: CameraPath, row: int, k: int, xy_px: Float64[np.ndarray, "m 2"], margin: float
) -> Bool[np.ndarray, "m"]:
    """Which pixels show the box of an object, or something before or behind it."""
    assert objects.size is not None
    frame = int(objects.frames[row])
    enter, leave = through_box(path, frame, objects.world_from_object[row, k], objects.size[k], xy_px, margin)
    return (enter < leave) & (leave > 0)
