"""Objects as the photos of a scene show them, and references by which any other scene finds them again."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy import ndimage

from experts.signals import Objects
from templates.columns import Columns, Texts
from templates.facts import ObjectRefs
from templates.scene.scene import Scene, find_rows

_LEAST_IOU, _SECOND_IOU = 0.5, 0.35
"""Least overlap of the box of a reference with that of the object that it means, and largest with any other."""
LEAST_DEPTH_PX = 4.0
"""Least distance of the pixel that stands for an object from the border of its mask, at full size."""


@dataclass(frozen=True, kw_only=True)
class SeenObjects(Columns):
    """Objects as they are seen: one row for each object in each photo that shows it."""

    frame: Int64[np.ndarray, "n"]
    object: Int64[np.ndarray, "n"]
    """Index in the scene's `Objects`."""
    name: Texts
    """Folded."""
    inside_px: Float64[np.ndarray, "n 2"]
    """The pixel of its mask that is farthest from the mask's border."""
    depth_px: Float64[np.ndarray, "n"]
    """How far; NaN without a mask."""
    box_px: Float64[np.ndarray, "n 2 2"]
    """Left upper and right lower corner: of the mask, else of the projected box."""
    is_cut: Bool[np.ndarray, "n"]
    """Whether it touches the border of the photo."""

    def refs(self) -> ObjectRefs:
        """References to the objects."""
        return ObjectRefs(frame=self.frame, inside_px=self.inside_px, box_px=self.box_px, name=self.name)


def seen_objects(scene: Scene) -> SeenObjects:
    """All objects in all photos with objects; computed once per scene."""
    return scene.once("seen objects", lambda: _seen(scene))


def found_again(scene: Scene, refs: ObjectRefs) -> Int64[np.ndarray, "n"]:
    """The object of the scene that each reference means; -1 where none, or more than one, fits.

    It has the same name and an overlapping box in the same photo; with masks, the pixel of the reference is its own.
    """
    seen, found = seen_objects(scene), np.full(len(refs), -1)
    names = np.array([folded(name) for name in refs.name.tolist()], dtype=np.str_)
    for row, (frame, name) in enumerate(zip(refs.frame.tolist(), names.tolist(), strict=True)):
        here = np.flatnonzero(seen.frame == frame)
        if not len(here):
            continue
        iou = _iou(seen.box_px[here], refs.box_px[row])
        best = int(iou.argmax())
        others = np.delete(iou, best)
        alone = not np.isfinite(seen.depth_px[here[best]]) and (others > _SECOND_IOU).any()
        if iou[best] < _LEAST_IOU or seen.name[here[best]] != name or alone:
            continue
        if (
            np.isfinite(seen.depth_px[here[best]])
            and _object_at(scene, frame, refs.inside_px[row]) != seen.object[here[best]]
        ):
            continue
        found[row] = seen.object[here[best]]
    return found


@cache
def folded(name: str) -> str:
    """The name in lower case, without markup and counters, by the word that stands for its kind ("Couch_2": sofa).

    "" for names in other scripts: prompts are English.
    """
    plain = re.sub(r"[^a-z ]+", " ", re.sub(r"<[^>]*>", " ", name.lower().replace("_", " "))).strip()
    plain = " ".join(plain.split())
    return _kinds().get(plain, plain)


@cache
def _kinds() -> dict[str, str]:
    with (Path(__file__).parent / "object_names.toml").open("rb") as file:
        return {word: kind[0] for kind in tomllib.load(file)["kinds"] for word in kind}


def _seen(scene: Scene) -> SeenObjects:
    objects = scene.objects
    rows: list[tuple[object, ...]] = []
    for row in range(0 if objects is None else len(objects.frames)):
        assert objects is not None
        if (objects.ids[row] >= 0).any():
            rows += _by_mask(scene, objects, row)
        else:
            rows += _as_detected(scene, objects, row) if objects.box_px is not None else _by_box(scene, objects, row)
    frame, number, name, inside, depth, box, cut = zip(*rows, strict=True) if rows else ((),) * 7
    return SeenObjects(
        frame=np.array(frame, dtype=np.int64),
        object=np.array(number, dtype=np.int64),
        name=np.array(name, dtype=np.str_),
        inside_px=np.array(inside, dtype=float).reshape(-1, 2),
        depth_px=np.array(depth, dtype=float),
        box_px=np.array(box, dtype=float).reshape(-1, 2, 2),
        is_cut=np.array(cut, dtype=bool),
    )


def _by_mask(scene: Scene, objects: Objects, row: int) -> list[tuple[object, ...]]:
    ids = objects.ids[row]
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    scale = size / ids.shape[::-1]
    found: list[tuple[object, ...]] = []
    for k, part in enumerate(ndimage.find_objects(ids + 1)):
        if part is None or k >= len(objects.labels):
            continue
        mask = np.pad(ids[part] == k, 1)
        depth = ndimage.distance_transform_edt(mask)[1:-1, 1:-1]
        y, x = np.unravel_index(depth.argmax(), depth.shape)
        first = np.array([part[1].start, part[0].start])
        last = np.array([part[1].stop, part[0].stop])
        box = np.stack([first * scale - 0.5, last * scale - 0.5])
        inside = (np.array([x, y]) + first + 0.5) * scale - 0.5
        cut = bool((first <= 0).any() or (last >= ids.shape[::-1]).any())
        deep = float(depth.max() * scale.min())
        found.append((int(objects.frames[row]), k, folded(objects.labels[k]), inside, deep, box, cut))
    return found


def _as_detected(scene: Scene, objects: Objects, row: int) -> list[tuple[object, ...]]:
    assert objects.box_px is not None
    last, found = np.array([scene.clip.width_px, scene.clip.height_px]) - 1, []
    for k in np.flatnonzero(np.isfinite(objects.box_px[row]).all(axis=(1, 2))):
        box, name = objects.box_px[row, k], folded(objects.labels[k])
        cut = bool((box[0] <= 0).any() or (box[1] >= last).any())
        found.append((int(objects.frames[row]), int(k), name, box.mean(axis=0), np.nan, np.clip(box, 0, last), cut))
    return found


def _by_box(scene: Scene, objects: Objects, row: int) -> list[tuple[object, ...]]:
    """Objects without masks: those whose whole box lies ahead of the camera, and whose middle is in the photo."""
    if scene.path is None or objects.size is None:
        return []
    frame = int(objects.frames[row])
    cam_from_world = np.linalg.inv(scene.world_from_cam(frame))
    camera, size = scene.path.intrinsics, np.array([scene.clip.width_px, scene.clip.height_px])
    found: list[tuple[object, ...]] = []
    for k, label in enumerate(objects.labels):
        corners = objects.world_from_object[row, k] @ _corners(objects.size[k]).T
        xy = camera.project((cam_from_world @ corners)[:3].T)
        if not np.isfinite(xy).all():
            continue
        low, high = xy.min(axis=0), xy.max(axis=0)
        middle, cut = (low + high) / 2, bool((low < 0).any() or (high > size - 1).any())
        if camera.contains(middle):
            box = np.stack([np.clip(low, 0, size - 1), np.clip(high, 0, size - 1)])
            found.append((frame, k, folded(label), middle, np.nan, box, cut))
    return found


def _corners(size: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "8 4"]:
    signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, 8).T
    return np.column_stack([signs * size, np.ones(8)])


def _object_at(scene: Scene, frame: int, xy_px: Float64[np.ndarray, "2"]) -> int:
    objects = scene.objects
    assert objects is not None
    ids = objects.ids[int(find_rows(objects.frames, frame))]
    scale = np.array(ids.shape[::-1]) / [scene.clip.width_px, scene.clip.height_px]
    x, y = np.round((xy_px + 0.5) * scale - 0.5).astype(int)
    inside = 0 <= x < ids.shape[1] and 0 <= y < ids.shape[0]
    return int(ids[y, x]) if inside else -1


def _iou(boxes: Float64[np.ndarray, "n 2 2"], other: Float64[np.ndarray, "2 2"]) -> Float64[np.ndarray, "n"]:
    """Overlap of boxes given by two corners."""
    low, high = np.maximum(boxes[:, 0], other[0]), np.minimum(boxes[:, 1], other[1])
    both = np.prod(np.clip(high - low, 0, None), axis=1)
    each = np.prod(boxes[:, 1] - boxes[:, 0], axis=1) + np.prod(other[1] - other[0])
    return both / np.maximum(each - both, 1e-9)


def range_to_boxes(
    scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """Distance from the camera of each photo to the nearest point of an object's box, and its σ; NaN where unknown."""
    objects = scene.objects
    if objects is None or objects.size is None:
        return np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    rows = find_rows(objects.frames, frame)
    known = (rows >= 0) & (object >= 0)
    row, k = np.where(known, rows, 0), np.where(known, object, 0)
    pose, half = objects.world_from_object[row, k], objects.size[k] / 2
    offset = scene.world_from_cam(frame)[:, :3, 3] - pose[:, :3, 3]
    local = np.einsum("nji,nj->ni", pose[:, :3, :3], offset)
    distance = np.linalg.norm(np.maximum(np.abs(local) - half, 0), axis=1)
    centre = np.zeros(len(k)) if objects.centre_sigma is None else objects.centre_sigma[k]
    sides = np.zeros(len(k)) if objects.size_sigma is None else objects.size_sigma[k].max(axis=1)
    return np.where(known, distance, np.nan), np.where(known, np.hypot(centre, sides / 2), np.nan)
