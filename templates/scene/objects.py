"""Objects as the photos of a scene show them, and references by which any other scene finds them again."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy import ndimage

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
    """Of which objects each photo with objects has a mask; computed once per scene."""
    return scene.once("masks in photos", lambda: _with_masks(scene.objects))


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
        np.flatnonzero(with_mask) if with_mask.any() else _without_masks(scene, objects, row)[0]
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


def _with_masks(objects: Objects | None) -> Bool[np.ndarray, "f k"]:
    if objects is None:
        return np.zeros((0, 0), dtype=bool)
    found = np.zeros((len(objects.frames), len(objects.labels) + 1), dtype=bool)  # the last one: of none, -1
    for row, ids in enumerate(objects.ids.reshape(len(found), -1)):
        found[row, ids[:1]] = True
        found[row, ids[1:][ids[1:] != ids[:-1]]] = True  # where another one begins: much fewer pixels
    return found[:, :-1]


def _seen(scene: Scene) -> SeenObjects:
    objects = scene.objects
    if objects is None or not len(objects.frames):
        return SeenObjects.concatenated([])
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    photos = [_in_photo(scene, objects, row) for row in range(len(objects.frames))]
    number, box, inside, depth, area, cut = map(np.concatenate, zip(*photos, strict=True))
    row = np.repeat(np.arange(len(photos)), [len(one[0]) for one in photos])
    fits = overlap(box, np.clip(projected_boxes(scene, objects, slice(None))[row, number], 0, size - 1))
    with_area = np.bincount(row[np.isfinite(area)], minlength=len(photos)) > 0
    return SeenObjects(
        **vars(_named(objects, objects.frames[row], number)),
        inside_px=inside,
        depth_px=depth,
        box_px=box,
        area_px=area,
        shown=np.where(with_area[row], fits, np.nan),
        is_cut=cut,
    )


def _in_photo(scene: Scene, objects: Objects, row: int) -> tuple[np.ndarray, ...]:
    """Number, box, deepest pixel, its depth, area, and whether the border cuts it, of each object in a photo: by masks
    where the photo has any, else by boxes."""
    if (objects.ids[row] >= 0).any():
        return _masks(objects.ids[row], len(objects.labels), np.array([scene.clip.width_px, scene.clip.height_px]))
    number, box, inside, cut = _without_masks(scene, objects, row)
    unknown = np.full(len(number), np.nan)
    return (
        number,
        box,
        inside,
        unknown,
        unknown if objects.box_px is None else np.prod(box[:, 1] - box[:, 0], axis=1),
        cut,
    )


def _without_masks(scene: Scene, objects: Objects, row: int) -> tuple[np.ndarray, ...]:
    """Number, box, middle, and whether the border cuts it, of each object in a photo: by detected boxes, else by the
    projections of oriented ones."""
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    every = projected_boxes(scene, objects, row) if objects.box_px is None else objects.box_px[row]
    number = np.flatnonzero(np.isfinite(every).all(axis=(1, 2)))
    box, inside = np.clip(every[number], 0, size - 1), every[number].mean(axis=1)
    in_photo = ((inside >= 0) & (inside <= size - 1)).all(axis=1)
    cut = (every[number, 0] <= 0).any(axis=1) | (every[number, 1] >= size - 1).any(axis=1)
    return number[in_photo], box[in_photo], inside[in_photo], cut[in_photo]


def _masks(ids: Int32[np.ndarray, "h w"], count: int, size: np.ndarray) -> tuple[np.ndarray, ...]:
    """Number, box, deepest pixel, its depth, area, and whether the border cuts it, of each object with a mask."""
    import cv2

    scale, found = size / ids.shape[::-1], []
    for k, part in enumerate(ndimage.find_objects(ids + 1, count)):
        if part is None:
            continue
        mask = np.zeros([end.stop - end.start + 2 for end in part], dtype=bool)  # faster than numpy.pad
        mask[1:-1, 1:-1] = ids[part] == k
        distance_px = cv2.distanceTransform(mask.view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1]
        squared = np.rint(distance_px * distance_px)  # exact, in whole pixels
        y, x = np.unravel_index(squared.argmax(), squared.shape)
        first, last = (np.array([getattr(part[axis], end) for axis in (1, 0)]) for end in ("start", "stop"))
        box = np.stack([first * scale - 0.5, last * scale - 0.5])
        inside = (np.array([x, y]) + first + 0.5) * scale - 0.5
        cut = bool((first <= 0).any() or (last >= ids.shape[::-1]).any())
        found.append((k, box, inside, np.sqrt(float(squared[y, x])) * scale.min(), mask.sum() * scale.prod(), cut))
    number, boxes, insides, depths, areas, cuts = zip(*found, strict=True) if found else ((),) * 6
    return (
        np.array(number, dtype=np.int64),
        np.array(boxes, dtype=float).reshape(-1, 2, 2),
        np.array(insides, dtype=float).reshape(-1, 2),
        np.array(depths, dtype=float),
        np.array(areas, dtype=float),
        np.array(cuts, dtype=bool),
    )


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
