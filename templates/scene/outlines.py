"""Outlines of what a photo shows of objects, as polygons."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy import ndimage

from templates.scene.scene import Scene, find_rows

VERTICES = 192
"""Most vertices of an outline, with the rows of NaN between its polygons."""
_INWARDS_PX = 3.0
"""How far outlines lie inside of masks, at 640 px width, and at least a pixel of the mask: the rim may show another
object."""
_EXACT_SIGMA_PX, _SIGMA_PX = 0.5, 1.5
"""σ of the borders of masks at 640 px width: of ground truth, and of networks."""


def outlines(
    scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n k 2"]:
    """What is visible of each object, without its rim, as polygons that end with their first vertex and are separated
    by NaN; all NaN where no mask is known, or it is too narrow. Holes are polygons too."""
    found = np.full((len(frame), VERTICES, 2), np.nan)
    for row, (k, number) in enumerate(zip(frame.tolist(), object.tolist(), strict=True)):
        polygons = scene.once(("outline", k, number), partial(_polygons, scene, k, number))
        found[row, : len(polygons)] = polygons
    return found


def outline_sigma_px(scene: Scene) -> float:
    """σ of the outlines along x and y."""
    return scene.pixel_scale * (_EXACT_SIGMA_PX if scene.exact_objects is not None else _SIGMA_PX)


def _polygons(scene: Scene, frame: int, number: int) -> Float64[np.ndarray, "k 2"]:
    objects = scene.objects
    if objects is None or number < 0 or (row := int(find_rows(objects.frames, frame))) < 0:
        return np.empty((0, 2))
    return outline_of(scene, shrunk(scene, objects.ids[row] == number, _INWARDS_PX))


def shrunk(scene: Scene, mask: Bool[np.ndarray, "h w"], by_px: float) -> Bool[np.ndarray, "h w"]:
    """A mask without a rim of so many pixels of the photo (at 640 px width), and of at least one of its own; the border
    of the photo counts as a rim too. It may be smaller than the photo."""
    lines, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    inner = np.zeros_like(mask)
    if len(lines):
        part = np.s_[lines[0] : lines[-1] + 1, columns[0] : columns[-1] + 1]
        scale = np.array([scene.clip.width_px, scene.clip.height_px]) / mask.shape[::-1]
        depth = ndimage.distance_transform_edt(np.pad(mask[part], 1))[1:-1, 1:-1]
        inner[part] = depth > max(1.0, by_px * scene.pixel_scale / scale.min())
    return inner


def outline_of(scene: Scene, mask: Bool[np.ndarray, "h w"]) -> Float64[np.ndarray, "k 2"]:
    """A mask as polygons, as those of `outlines`."""
    scale = np.array([scene.clip.width_px, scene.clip.height_px]) / mask.shape[::-1]
    return _joined([(xy + 0.5) * scale - 0.5 for xy in _contours(mask)])


def _contours(mask: Bool[np.ndarray, "h w"]) -> Sequence[Float64[np.ndarray, "_ 2"]]:
    """Borders of a mask and of its holes, the longest first, simplified by at most a pixel."""
    import cv2

    found = cv2.findContours(mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)[0]
    simple = [cv2.approxPolyDP(contour, 1.0, True)[:, 0].astype(np.float64) for contour in found]
    return sorted((xy for xy in simple if len(xy) >= 3), key=len, reverse=True)


def _joined(polygons: Sequence[Float64[np.ndarray, "_ 2"]]) -> Float64[np.ndarray, "k 2"]:
    """As many as have room in `VERTICES`."""
    rows = [np.empty((0, 2))]
    for polygon in polygons:
        added = [*([np.full((1, 2), np.nan)] if len(rows) > 1 else []), polygon, polygon[:1]]
        if sum(map(len, [*rows, *added])) <= VERTICES:
            rows += added
    return np.concatenate(rows)
