"""What an image shows of objects without masks: by the stated share, or by the depth along rays through their boxes."""

import numpy as np
from jaxtyping import Bool, Float64

from experts.objects.box_corners import box_corners
from experts.signals import CameraPath, Depth, Objects

_GRID = 24
"""Rays per side through the rectangle of a projected box."""
_MOSTLY = 0.6
"""From this visible share on, the rectangle of the whole box counts as visible."""
_MOST_MISSED = 0.3
"""Largest share of the rays through a box that may end before it, for an object that counts as visible, ..."""
_LEAST_MET = 0.2
"""... and least share that must end in it (a chair lets many pass)."""
_LEAST_HIDDEN = 0.98
"""Share of the rays from which an object counts as hidden."""
_LEAST_RAYS = 12
_SIGMAS = 3.0


def shown_boxes(
    objects: Objects, path: CameraPath | None, depth: Depth | None, visible: Float64[np.ndarray, "n k"] | None
) -> tuple[Float64[np.ndarray, "n k 2 2"], Bool[np.ndarray, "n k"]]:
    """Rectangles of what each frame shows of the objects, NaN for nothing; and for which of them that is not known.

    `visible` is the stated share. Of an object that is visible by less than 60 %, the rectangle has that share of the
    area. Where no share is stated, depth along the rays through a box tells.
    """
    found = np.full((*objects.world_from_object.shape[:2], 2, 2), np.nan)
    unclear = np.ones(found.shape[:2], dtype=bool)
    if path is None or objects.size is None:
        return found, unclear
    last = np.array([path.intrinsics.width_px, path.intrinsics.height_px]) - 1.0
    for row, frame in enumerate(objects.frames.tolist()):
        cam_from_world = np.linalg.inv(path.world_from_cam[int(np.searchsorted(path.frames, frame))])
        for k in range(len(objects.labels)):
            cam_from_box = cam_from_world @ objects.world_from_object[row, k]
            corners = box_corners(cam_from_box, objects.size[k])
            xy = path.intrinsics.project(corners)
            rectangle = np.clip([xy.min(axis=0), xy.max(axis=0)], 0, last)
            share = 0.0 if (corners[:, 2] <= 0).all() else np.nan if visible is None else float(visible[row, k])
            if not np.isfinite(xy).all() or not (corners[:, 2] > 0).all():
                unclear[row, k] = share != 0
            elif (rectangle[1] - rectangle[0] < 1).any():
                unclear[row, k] = False
            else:
                share = share if np.isfinite(share) else _share_by_depth(objects, path, depth, row, k, rectangle)
                unclear[row, k] = not np.isfinite(share)
                if share > 0:
                    shrunk = 1.0 if share >= _MOSTLY else np.sqrt(share)
                    found[row, k] = rectangle.mean(axis=0) + shrunk * (rectangle - rectangle.mean(axis=0))
    return found, unclear


def _share_by_depth(
    objects: Objects, path: CameraPath, depth: Depth | None, row: int, k: int, rectangle: Float64[np.ndarray, "2 2"]
) -> float:
    """1 where few rays through a box end before it, and some in it; 0 where almost all end before it; else NaN."""
    frame = int(objects.frames[row])
    if depth is None or frame not in depth.frames or objects.size is None:
        return np.nan
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
        return np.nan
    missed, met = np.mean(seen[known] < enter[known]), np.mean((seen >= enter)[known] & (seen <= leave)[known])
    if missed >= _LEAST_HIDDEN:
        return 0.0
    return 1.0 if missed <= _MOST_MISSED and met >= _LEAST_MET else np.nan


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
