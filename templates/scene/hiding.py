"""Which objects hide parts of others in a photo."""

import numpy as np
from jaxtyping import Bool, Float64, Int32

from experts.objects.box_corners import box_corners
from templates.columns import Texts
from templates.scene.object_boxes import Number, Row, boxes_of
from templates.scene.scene import Scene, find_rows

HIDES, HIDDEN, EACH, NEITHER = "hides", "hidden", "each", "neither"
"""It hides a part of the other one, the other one hides a part of it, both do, or neither does."""
_LEAST_BORDER = 0.02
"""Least length of the line along which an object hides another one, as a share of the photo's diagonal."""
_LEAST_DEPTH_PX = 2.0
"""How far, at 640 px width, the box of what is hidden reaches beyond that line on average: else its own edge may lie
there."""
_NEARER, _NEARER_SIGMAS = 0.04, 4.0
"""By so much the one that hides is nearer there: as a share of the distance, and in σ of both depths."""
_BESIDE_PX = 3.0
"""How far, at 640 px width, an object must be from what the other one may cover for neither to hide the other."""
_SIGMAS = 3.0
"""By so many σ of its place and its sides an object may reach farther than its box."""
_CLEARLY = 6.0
"""Margin in σ of a border that passes these limits, or of objects that are apart in the photo."""
_MOST_AT_ONCE = 0.1
"""Largest length of a line along which one does not hide the other, as a share of the least one."""


def hiding(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Texts, Number]:
    """Whether each object a hides a part of its b, as the photo shows it: one of the four words, "" where that is not
    known; and its margin in σ.

    One hides a part of another one if their masks meet along a line where it is clearly nearer, and the projected box
    of the other one goes on behind it; things that touch are equally near where they do. Neither hides the other if no
    part of the projected box of either, and a little more, lies on the mask of the other.
    """
    found = np.full(len(frame), "", dtype="<U7")
    least = _LEAST_BORDER * scene.diagonal_px
    for row, (photo, one, other) in enumerate(zip(frame.tolist(), a.tolist(), b.tolist(), strict=True)):
        if min(one, other) < 0 or one == other:
            continue
        lengths = scene.once(("hiding", photo), lambda photo=photo: _borders(scene, photo))  # type: ignore[misc]
        ours, theirs = lengths.get((one, other), 0.0), lengths.get((other, one), 0.0)
        hides, hidden = (
            length >= least and _covers(scene, photo, *pair) >= _LEAST_DEPTH_PX * scene.pixel_scale * length
            for length, pair in ((ours, (one, other)), (theirs, (other, one)))
        )
        if hides and hidden:
            found[row] = EACH
        elif (hides or hidden) and min(ours, theirs) <= _MOST_AT_ONCE * least:
            found[row] = HIDES if hides else HIDDEN
        elif max(ours, theirs) == 0 and _apart(scene, photo, one, other) and _apart(scene, photo, other, one):
            found[row] = NEITHER
    return found, np.where(found == "", np.nan, _CLEARLY)


def _borders(scene: Scene, frame: int) -> dict[tuple[int, int], float]:
    """By pair of objects, the length in full-size pixels of the line along which the first hides the second."""
    objects, depth = scene.objects, scene.depth
    if objects is None or depth is None:
        return {}
    row, depth_row = int(find_rows(objects.frames, frame)), int(find_rows(depth.frames, frame))
    if row < 0 or depth_row < 0:
        return {}
    ids = objects.ids[row]
    z, sigma = (_as_large_as(ids, each[depth_row]) for each in (depth.z, depth.relative_sigma))
    pixel = scene.clip.width_px / ids.shape[1]
    found: dict[tuple[int, int], float] = {}
    for one, other in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        for near, far in ((one, other), (other, one)):
            with np.errstate(invalid="ignore", divide="ignore"):
                nearer = np.log(z[far] / z[near])
                clear = nearer > np.maximum(_NEARER, _NEARER_SIGMAS * np.hypot(sigma[near], sigma[far]))
            at = clear & (ids[near] >= 0) & (ids[far] >= 0) & (ids[near] != ids[far])
            pairs, count = np.unique(np.column_stack([ids[near][at], ids[far][at]]), axis=0, return_counts=True)
            for pair, n in zip(map(tuple, pairs.tolist()), count.tolist(), strict=True):
                found[pair] = found.get(pair, 0.0) + n * pixel
    return found


def _as_large_as(ids: Int32[np.ndarray, "h w"], map: np.ndarray) -> Float64[np.ndarray, "h w"]:
    """The nearest pixels of a map of another size."""
    rows, columns = (
        np.minimum(((np.arange(n) + 0.5) * m / n).astype(np.int64), m - 1)
        for n, m in zip(ids.shape, map.shape, strict=True)
    )
    return map[rows[:, None], columns].astype(np.float64)


def _covers(scene: Scene, frame: int, object: int, other: int) -> float:
    """How many full-size pixels of an object lie well within the outline of the box of the other one."""
    ids, inner = _ids(scene, frame), _projected(scene, frame, other, -1)
    pixel = scene.clip.width_px * scene.clip.height_px / ids.size
    return 0.0 if inner is None else float((inner & (ids == object)).sum() * pixel)


def _apart(scene: Scene, frame: int, object: int, other: int) -> bool:
    """Whether the mask of the other object is away from all that the object may cover."""
    ids, outer = _ids(scene, frame), _projected(scene, frame, object, 1)
    return outer is not None and bool((ids == other).any()) and not bool((outer & (ids == other)).any())


def _ids(scene: Scene, frame: int) -> Int32[np.ndarray, "h w"]:
    assert scene.objects is not None
    return np.asarray(scene.objects.ids[int(find_rows(scene.objects.frames, frame))])


def _projected(scene: Scene, frame: int, object: int, by: int) -> Bool[np.ndarray, "h w"] | None:
    """The convex hull of the projected box of an object, a little larger (`by` 1) or smaller (-1); None where it is not
    known, or not all ahead."""
    return scene.once(("projected box", frame, object, by), lambda: _hull(scene, frame, object, by))


def _hull(scene: Scene, frame: int, object: int, by: int) -> Bool[np.ndarray, "h w"] | None:
    import cv2

    objects = scene.objects
    if objects is None or objects.size is None or scene.path is None:
        return None
    row, one = int(find_rows(objects.frames, frame)), np.array([object])
    _, _, size, centre_sigma, side_sigma = boxes_of(scene, np.array([frame]), one)
    size = np.maximum(size[0] + 2 * by * _SIGMAS * np.hypot(centre_sigma[0], side_sigma[0] / 2), 0)
    cam_from_object = np.linalg.inv(scene.world_from_cam(frame)) @ objects.world_from_object[row, object]
    xyz = box_corners(cam_from_object, size)
    if not (np.isfinite(xyz).all() and (xyz[:, 2] > 0).all()):
        return None
    shape = objects.ids.shape[1:]
    scale = np.array(shape[::-1]) / [scene.clip.width_px, scene.clip.height_px]
    xy = (scene.path.intrinsics.project(xyz) + 0.5) * scale - 0.5
    if not np.isfinite(xy).all():
        return None
    far = 10 * max(shape)
    hull = cv2.convexHull(np.clip(np.round(xy), -far, far).astype(np.int32))
    canvas = cv2.fillConvexPoly(np.zeros(shape, dtype=np.uint8), hull, 1)
    reach = 1 + int(np.ceil(_BESIDE_PX * scene.pixel_scale * float(scale.max())))
    change = cv2.dilate if by > 0 else cv2.erode
    return np.asarray(change(canvas, np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8)) > 0)
