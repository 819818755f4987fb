"""Objects as the photos of a scene show them, and references by which any other scene finds them again."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.objects.box_corners import box_corners
from experts.objects.object_names import folded
from experts.signals import Objects
from templates.columns import Columns, Texts
from templates.facts import ObjectRefs
from templates.scene.scene import Scene, find_rows

_LEAST_IOU, _SECOND_IOU = 0.5, 0.35
"""Least overlap of the box of a reference with that of the object that it means, and largest with any other."""
_LEAST_DEPTH_PX = 4.0
"""Least distance of the pixel that stands for an object from the border of its mask, at full size."""
_LEAST_SIDE = 0.04
"""Least side of a box that is drawn, as a share of the photo's diagonal."""
UNNAMED = "object"
"""Name of an object whose name is not sure."""
_SURE_NAME = 0.003
"""Largest outlier probability of a name that questions use."""
_LEAST_SHOWN = 0.6
"""Least `shown` of an object that is not hidden by others."""


@dataclass(frozen=True, kw_only=True)
class Masks:
    """Where the masks of objects lie, for each photo and object."""

    low: Int64[np.ndarray, "f k 2"]
    """First column and line of its pixels, ..."""
    high: Int64[np.ndarray, "f k 2"]
    """... and the ones after the last; anything where there is no mask."""
    area: Int64[np.ndarray, "f k"]
    """Number of pixels; 0 without a mask."""

    @classmethod
    def of(cls, objects: Objects) -> "Masks":
        """From the runs of equal pixels in the lines of all photos: they are much fewer than pixels."""
        photos, count, ids = len(objects.frames), len(objects.labels), objects.ids.reshape(-1)
        begins = np.ones(len(ids), dtype=bool)
        begins[1:] = ids[1:] != ids[:-1]
        begins[:: objects.ids.shape[2]] = True
        start = np.flatnonzero(begins)
        length, id = np.diff(start, append=len(ids)), ids[start]
        start, length, id = start[id >= 0], length[id >= 0], id[id >= 0]
        photo, y, x = np.unravel_index(start, objects.ids.shape)
        low, high = np.full((2, photos * count, 2), [[[np.iinfo(np.int64).max]], [[-1]]])
        at = photo * count + id
        np.minimum.at(low[:, 0], at, x)
        np.maximum.at(high[:, 0], at, x + length)
        low[at[::-1], 1], high[at, 1] = y[::-1], y + 1  # lines ascend, and the last one that is assigned stays
        area = np.bincount(at, length, photos * count).astype(np.int64)
        return cls(**{
            name: each.reshape(photos, count, *each.shape[1:])
            for name, each in (("low", low), ("high", high), ("area", area))
        })  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ObjectsInPhotos(Columns):
    """Which objects are seen: one row for each object in each photo that shows it."""

    frame: Int64[np.ndarray, "n"]
    object: Int64[np.ndarray, "n"]
    """Index in the scene's `Objects`."""
    name: Texts
    """Folded."""
    called: Texts
    """The same in questions: "object" where the name is doubtful or not English."""


@dataclass(frozen=True, kw_only=True)
class SeenObjects(ObjectsInPhotos):
    """The same objects, and where each is seen."""

    inside_px: Float64[np.ndarray, "n 2"]
    """The pixel of its mask that is farthest from the mask's border."""
    depth_px: Float64[np.ndarray, "n"]
    """How far; NaN without a mask."""
    box_px: Float64[np.ndarray, "n 2 2"]
    """Left upper and right lower corner: of the mask, else of the projected box."""
    area_px: Float64[np.ndarray, "n"]
    """Area of the mask, else of the detected box; NaN where the object is only known to be in that direction."""
    shown: Float64[np.ndarray, "n"]
    """Overlap of what is visible with the projection of the object's oriented box; NaN where one is unknown."""
    is_cut: Bool[np.ndarray, "n"]
    """Whether it touches the border of the photo."""

    def refs(self) -> ObjectRefs:
        """References to the objects."""
        return ObjectRefs(frame=self.frame, inside_px=self.inside_px, box_px=self.box_px, name=self.called)


def objects_in_photos(scene: Scene) -> ObjectsInPhotos:
    """All objects in all photos with objects, without their places, which take much longer; computed once per scene."""
    return scene.once("objects in photos", lambda: _in_photos(scene))


def masks_in_photos(scene: Scene) -> Bool[np.ndarray, "f k"]:
    """Of which objects each photo with objects has a mask."""
    objects = scene.objects
    return np.zeros((0, 0), dtype=bool) if objects is None else _masks_of(scene, objects).area > 0


def _masks_of(scene: Scene, objects: Objects) -> Masks:
    """Computed once per scene."""
    return scene.once("masks", lambda: Masks.of(objects))


def seen_objects(scene: Scene) -> SeenObjects:
    """All objects in all photos with objects; computed once per scene."""
    return scene.once("seen objects", lambda: _seen(scene))


def boxed(seen: SeenObjects, scene: Scene) -> SeenObjects:
    """Those that a box can mark: whole, neither small nor hidden by others."""
    sides = (seen.box_px[:, 1] - seen.box_px[:, 0]).min(axis=1)
    large = ~(seen.depth_px < _LEAST_DEPTH_PX) & (sides >= _LEAST_SIDE * scene.diagonal_px)
    return seen.take(large & ~seen.is_cut & ~(seen.shown < _LEAST_SHOWN))


def meet(a: Float64[np.ndarray, "2 2"], b: Float64[np.ndarray, "2 2"]) -> bool:
    """Whether two boxes have pixels in common."""
    return bool((np.minimum(a[1], b[1]) > np.maximum(a[0], b[0])).all())


def found_again(scene: Scene, refs: ObjectRefs) -> Int64[np.ndarray, "n"]:
    """The object of the scene that each reference means; -1 where none, or more than one, fits.

    It has the same name (`UNNAMED`: any) and an overlapping box in the same photo; with masks, the pixel of the
    reference is its own.
    """
    seen = seen_objects(scene)
    first, end = (np.searchsorted(seen.frame, refs.frame, side) for side in ("left", "right"))
    row = first[:, None] + np.arange((end - first).max(initial=0))
    if not row.size:
        return np.full(len(refs), -1)
    here = row < end[:, None]
    row = np.where(here, row, 0)
    iou = np.where(here, overlap(refs.box_px[:, None], seen.box_px[row]), -1)
    best = iou.argmax(axis=1)[:, None]
    found, largest = (np.take_along_axis(each, best, axis=1)[:, 0] for each in (row, iou))
    np.put_along_axis(iou, best, -1, axis=1)
    texts, which = np.unique(refs.name, return_inverse=True)
    name = np.array([UNNAMED if text == UNNAMED else folded(text) for text in texts.tolist()], dtype=np.str_)[which]
    own_pixel = _objects_at(scene, refs) == seen.object[found]
    fits = here.any(axis=1) & ~(largest < _LEAST_IOU) & ((name == seen.name[found]) | (name == UNNAMED))
    fits &= np.where(np.isfinite(seen.depth_px[found]), own_pixel, ~(iou > _SECOND_IOU).any(axis=1))
    return np.where(fits, seen.object[found], -1)


def _in_photos(scene: Scene) -> ObjectsInPhotos:
    objects = scene.objects
    if objects is None:
        return ObjectsInPhotos.concatenated([])
    shown = [
        np.flatnonzero(with_mask) if with_mask.any() else _without_masks(scene, objects, row)[1]
        for row, with_mask in enumerate(masks_in_photos(scene))
    ]
    frame = np.repeat(objects.frames, [len(each) for each in shown])
    return _named(objects, frame, np.concatenate([np.empty(0, dtype=np.int64), *shown]))


def _named(objects: Objects, frame: Int64[np.ndarray, "n"], number: Int64[np.ndarray, "n"]) -> ObjectsInPhotos:
    """Objects by their numbers, each in a photo, and their names."""
    names = np.array([folded(label) for label in objects.labels], dtype=np.str_)
    doubtful = names == ""
    if objects.name_outlier_probability is not None:
        doubtful |= objects.name_outlier_probability > _SURE_NAME
    return ObjectsInPhotos(
        frame=frame,
        object=number,
        name=names[number],
        called=np.where(doubtful, UNNAMED, names)[number],
    )


def _seen(scene: Scene) -> SeenObjects:
    objects = scene.objects
    if objects is None or not len(objects.frames):
        return SeenObjects.concatenated([])
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    masks = _masks_of(scene, objects)
    bare = np.flatnonzero(~masks.area.any(axis=1))
    parts = [_with_masks(objects, masks, size), *(_without_masks(scene, objects, row) for row in bare.tolist())]
    row, number, box, inside, depth, area, cut = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(row, kind="stable")
    row, number, box = row[order], number[order], box[order]
    fits = overlap(box, np.clip(projected_boxes(scene, objects, slice(None))[row, number], 0, size - 1))
    with_area = np.isin(row, row[np.isfinite(area[order])])
    return SeenObjects(
        **vars(_named(objects, objects.frames[row], number)),
        inside_px=inside[order],
        depth_px=depth[order],
        box_px=box,
        area_px=area[order],
        shown=np.where(with_area, fits, np.nan),
        is_cut=cut[order],
    )


def _without_masks(scene: Scene, objects: Objects, row: int) -> tuple[np.ndarray, ...]:
    """Row of the photo, number, box, middle, unknown depth, area, and whether the border cuts it, of each object in a
    photo: by detected boxes, else by the projections of oriented ones if there are no masks in any photo."""
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    every = projected_boxes(scene, objects, row) if objects.box_px is None else objects.box_px[row]
    if objects.box_px is None and _masks_of(scene, objects).area.any():  # walls would not hide projected boxes
        every = np.full_like(every, np.nan)
    number = np.flatnonzero(np.isfinite(every).all(axis=(1, 2)))
    middle = every[number].mean(axis=1)
    in_photo = ((middle >= 0) & (middle <= size - 1)).all(axis=1)
    number, middle = number[in_photo], middle[in_photo]
    box, unknown = np.clip(every[number], 0, size - 1), np.full(len(number), np.nan)
    cut = (every[number, 0] <= 0).any(axis=1) | (every[number, 1] >= size - 1).any(axis=1)
    area = unknown if objects.box_px is None else np.prod(box[:, 1] - box[:, 0], axis=1)
    return np.full(len(number), row), number, box, middle, unknown, area, cut


def _with_masks(objects: Objects, masks: Masks, size: Int64[np.ndarray, "2"]) -> tuple[np.ndarray, ...]:
    """Row of the photo, number, box, deepest pixel, its depth, area, and whether the border cuts it, of all masks."""
    import cv2

    row, number = np.nonzero(masks.area)
    scale, (low, high) = size / objects.ids.shape[:0:-1], (each[row, number] for each in (masks.low, masks.high))
    deepest, depth = np.empty((len(row), 2)), np.empty(len(row))
    for k, ((x0, y0), (x1, y1)) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        mask = np.zeros((y1 - y0 + 2, x1 - x0 + 2), dtype=bool)  # faster than numpy.pad
        mask[1:-1, 1:-1] = objects.ids[row[k], y0:y1, x0:x1] == number[k]
        # at most 2 % off, and three times as fast as an exact one
        distance_px = cv2.distanceTransform(mask.view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5)[1:-1, 1:-1]
        y, x = divmod(int(distance_px.argmax()), x1 - x0)
        deepest[k], depth[k] = (x0 + x, y0 + y), distance_px[y, x]
    box, inside = np.stack([low * scale, high * scale], axis=1) - 0.5, (deepest + 0.5) * scale - 0.5
    cut = np.asarray((low <= 0).any(axis=1) | (high >= objects.ids.shape[:0:-1]).any(axis=1))
    return row, number, box, inside, depth * scale.min(), masks.area[row, number] * scale.prod(), cut


def projected_boxes(scene: Scene, objects: Objects, row: int | slice) -> Float64[np.ndarray, "*f k 2 2"]:
    """The upright boxes around the projected oriented ones in a photo, or in several; NaN where one is unknown or not
    all ahead."""
    frames, count = objects.frames[row], len(objects.labels)
    if scene.path is None or objects.size is None or not count:
        return np.full((*frames.shape, count, 2, 2), np.nan)
    cam_from_world = np.linalg.inv(scene.world_from_cam(frames))
    cam_from_object = cam_from_world[..., None, :, :] @ objects.world_from_object[row]
    xyz_cam = box_corners(cam_from_object, np.broadcast_to(objects.size, (*frames.shape, count, 3)))
    xy = scene.path.intrinsics.project(xyz_cam)
    known = np.isfinite(xy).all(axis=(-2, -1)) & (xyz_cam[..., 2] > 0).all(axis=-1)
    return np.where(known[..., None, None], np.stack([xy.min(axis=-2), xy.max(axis=-2)], axis=-2), np.nan)


def _objects_at(scene: Scene, refs: ObjectRefs) -> Int64[np.ndarray, "n"]:
    """The objects whose masks hold the pixels of references; -1 where none does."""
    objects = scene.objects
    assert objects is not None
    row, shape = find_rows(objects.frames, refs.frame), np.array(objects.ids.shape[1:])
    scale = shape[::-1] / [scene.clip.width_px, scene.clip.height_px]
    at = np.round((np.nan_to_num(refs.inside_px, nan=-1.0) + 0.5) * scale - 0.5).astype(np.int64)[:, ::-1]
    inside = ((at >= 0) & (at < shape)).all(axis=1) & (row >= 0)
    y, x = np.where(inside[:, None], at, 0).T
    return np.where(inside, objects.ids[row, y, x], -1).astype(np.int64)


def overlap(boxes: Float64[np.ndarray, "*n 2 2"], others: Float64[np.ndarray, "*m 2 2"]) -> Float64[np.ndarray, "*k"]:
    """Intersection over union of boxes given by two corners, each with its other."""
    low = np.maximum(boxes[..., 0, :], others[..., 0, :])
    high = np.minimum(boxes[..., 1, :], others[..., 1, :])
    both = np.prod(np.clip(high - low, 0, None), axis=-1)
    each = np.prod(boxes[..., 1, :] - boxes[..., 0, :], axis=-1) + np.prod(
        others[..., 1, :] - others[..., 0, :], axis=-1
    )
    return np.asarray(both / np.maximum(each - both, 1e-9))
